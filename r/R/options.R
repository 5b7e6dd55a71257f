# Settings of jobs that are passed on unchanged.

READING <- c("truth_map", "truth_exclude", "only_with_truth", "skip_missing", "normalize", "seed")
RULE <- c(
  "rule", "gamma", "penalty", "at", "k", "coverage", "at_least", "at_most", "tolerance", "from_sample", "learner",
  "train_rows", "draws"
)
OUTCOME <- c("outcome_value", "inference", "against", "favorable", "baseline", "pooling", "no_bootstrap", "small_cells")
REPORT <- c("geometry", "geometry_key", "focus", "title")
# Defaults, which are not passed on: rules without a reference accept only the default.
DEFAULTS <- list(
  seed = 0, reference = "posterior", unknown_groups = "refuse", inference = "population", pooling = "auto",
  small_cells = "hide", regression = "linear", vintage = "2020", names = "all", prefix = "p_"
)

# Returns the arguments of these names that are not NULL.
pick <- function(given, names) Filter(Negate(is.null), given[intersect(names, names(given))])

# Leaves out settings that have their default.
without_defaults <- function(values) {
  is_default <- vapply(names(values), function(name) {
    !is.null(DEFAULTS[[name]]) && isTRUE(all.equal(DEFAULTS[[name]], values[[name]], check.attributes = FALSE)) &&
      length(values[[name]]) == 1
  }, NA)
  values[!is_default]
}

# Returns the settings of a reference or margin: its name, or shares as a table.
shares_setting <- function(name, given, source = NULL) {
  if (is.null(given)) return(list())
  if (is.character(given) && length(given) == 1 && is.null(names(given))) {
    return(list(values = stats::setNames(list(given), name)))
  }
  list(shares = shares_table(name, given, source))
}

# Returns shares as columns: class and share, and group if they differ between groups. Counts become shares.
shares_table <- function(name, given, source = NULL) {
  if (inherits(given, "table")) given <- unclass(given)
  if (is.data.frame(given)) {
    if (all(c("class", "share") %in% tolower(names(given)))) {
      return(stats::setNames(lapply(seq_along(given), function(index) plain_column(given[[index]], names(given)[index])), names(given)))
    }
    groups <- rownames(given)
    given <- as.matrix(given[vapply(given, is.numeric, NA)])
    rownames(given) <- groups
  }
  if (is.matrix(given) && is.numeric(given) && !is.null(rownames(given)) && !is.null(colnames(given))) {
    given <- given / rowSums(given)
    return(list(
      group = rep(rownames(given), times = ncol(given)), class = rep(colnames(given), each = nrow(given)),
      share = as.vector(given)
    ))
  }
  if (is.list(given) && length(given) > 0 && !is.null(names(given)) && all(lengths(given) > 1)) {
    own <- lapply(given, as_shares)
    return(list(
      group = rep(names(given), lengths(own)), class = unlist(lapply(own, names), use.names = FALSE),
      share = unlist(own, use.names = FALSE)
    ))
  }
  given <- unlist(given)
  if (!is.numeric(given)) {
    choices <- if (name == "reference") "\"posterior\", \"truth\", \"uniform\", \"em\", \"pacc\", " else ""
    stop_apportion(
      sprintf("`%s` must be %sa named vector of shares, or a data frame with the columns class and share", name, choices),
      setting = name
    )
  }
  if (is.null(names(given)) && identical(source$kind, "matrix") && length(given) == ncol(source$data)) {
    names(given) <- unlist(source$values$classes) %||% colnames(source$data)
  }
  if (is.null(names(given))) {
    stop_apportion(sprintf("`%s` must name the class of each share, as in c(white = 0.6, black = 0.4)", name), setting = name)
  }
  given <- as_shares(given)
  list(class = names(given), share = unname(given))
}

# Divides whole numbers by their sum, if it is more than 1: they are counts.
as_shares <- function(given) {
  given <- stats::setNames(as.double(unlist(given)), names(unlist(given)))
  total <- sum(given)
  if (!anyNA(given) && all(given == trunc(given)) && total > 1) given / total else given
}

# Settings of a report.
report_settings <- function(given) {
  own <- pick(given, REPORT)
  if (!is.null(own$geometry)) own$geometry <- path.expand(own$geometry)
  own
}
