#' Fit a rule, and label other rows with it
#'
#' `ap_fit()` returns a decision: one price per class (and group), which is added to the scores. `predict()` and `ap_apply()`
#' label other rows with the same prices, and `ap_sql()` writes the decision as SQL. A warning of the class
#' `apportion_drift` says if the counts of other rows differ from the targets of the fit by more than chance explains.
#' `ap_write_decision()` and `ap_read_decision()` save and load a decision, in the format that the command
#' `apportion apply` reads.
#'
#' @inheritParams ap_label
#' @param count The number of people that each row represents.
#' @return `ap_fit()` and `ap_read_decision()` return an object of the class `apportion_decision`: a list with `rule`,
#'   `classes`, `reference`, `by`, `prices` and `json`, the decision as text.
#' @examples
#' voters <- ap_simulate_voters(2000, seed = 1)
#' decision <- ap_fit(voters)
#' decision
#' more <- ap_simulate_voters(2000, seed = 2)
#' table(predict(decision, more))
#' more <- ap_apply(more, decision)
#' cat(ap_sql(decision, "sqlite"))
#' @export
ap_fit <- function(data, rule = NULL, by = NULL, reference = "posterior", count = NULL, training_shares = NULL,
                   gamma = NULL, penalty = NULL, at = NULL, k = NULL, coverage = NULL, at_least = NULL, at_most = NULL,
                   tolerance = NULL, nested = NULL, from_sample = NULL, learner = NULL, train_rows = NULL,
                   classes = NULL, columns = NULL, id = NULL, truth = NULL, truth_map = NULL, truth_ethnicity = NULL,
                   truth_exclude = NULL, only_with_truth = FALSE, skip_missing = FALSE, normalize = FALSE, seed = 0,
                   threads = NULL, progress = NULL) {
  given <- arguments()
  given <- with_grouping(given)
  read <- read_table(given)
  reference <- shares_setting("reference", given$reference, read$source)
  training <- shares_setting("training_shares", given$training_shares, read$source)
  values <- c(read$values, pick(given, RULE), reference$values, training$values)
  done <- run_job(
    "fit", read$source, without_defaults(values), shares = reference$shares, training = training$shares,
    threads = given$threads, progress = given$progress
  )
  decision_of(done$result, done$json)
}

decision_of <- function(content, json) {
  info <- content$fit_info
  kind <- if (is.character(content$rule)) content$rule else names(content$rule)[1]
  structure(class = "apportion_decision", list(
    rule = info$rule %||% kind, classes = unlist(content$classes), reference = info$reference,
    by = unlist(info$groups), columns = unlist(info$scores), people = info$people,
    prices = prices_of(content), content = content, json = json
  ))
}

check_decision <- function(decision) {
  if (!inherits(decision, "apportion_decision")) {
    stop_apportion("`decision` must be a decision, as ap_fit() or ap_read_decision() returns it", setting = "decision")
  }
}

#' @rdname ap_fit
#' @param decision,object A decision.
#' @param unknown_groups What to do with rows whose group is not in the decision: `"refuse"` them with an error, label them
#'   at the `"overall"` prices for all rows of the fit, or leave them `"unlabeled"`.
#' @return `ap_apply()` returns `data` with the labels as a new column; with `stats = TRUE`, an object of the class
#'   `apportion_solution` with the counts and the drift of these rows.
#' @param stats Whether to also return counts, expected accuracy and drift.
#' @export
ap_apply <- function(data, decision, by = NULL, name = "label", stats = FALSE, unknown_groups = "refuse", id = NULL,
                     truth = NULL, truth_map = NULL, truth_ethnicity = NULL, truth_exclude = NULL,
                     only_with_truth = FALSE, classes = NULL, columns = NULL, skip_missing = FALSE, normalize = FALSE,
                     threads = NULL, progress = NULL) {
  check_decision(decision)
  given <- arguments()
  done <- apply_job(given, decision)
  if (stats) return(solution(data, done, name))
  labels <- done$labels[[1]]
  if (is.null(name) || is.matrix(data)) return(labels)
  with_columns(data, stats::setNames(list(labels), name))
}

apply_job <- function(given, decision) {
  # The groups of a grouped data frame are not those of the decision, which names its own.
  class(given$data) <- setdiff(class(given$data), "grouped_df")
  if (is.matrix(given$data)) {
    given$classes <- given$classes %||% if (is.null(colnames(given$data))) decision$classes
    if (length(decision$by) > 0 && is.null(given$by)) {
      stop_apportion("the decision was fitted by groups: give the group of each row with `by`", setting = "by")
    }
  } else {
    known <- function(columns) length(columns) > 0 && all(same_name(columns) %in% same_name(names(given$data)))
    if (is.null(given$by) && known(decision$by)) given$named <- decision$by
    if (is.null(given$columns) && known(decision$columns)) {
      # Columns whose names are those of scores keep the classes of their names.
      recognized <- length(score_columns(names(given$data))) > 0
      if (recognized) given$named <- c(given$named, decision$columns) else given$columns <- decision$columns
    }
  }
  read <- read_table(given, columns = "named")
  values <- read$values
  values$named <- NULL
  values <- c(values, pick(given, "unknown_groups"))
  run_job(
    "apply", read$source, without_defaults(values), decision = decision$json, threads = given$threads,
    progress = given$progress
  )
}

#' @rdname ap_fit
#' @param newdata The rows to label, as `data`.
#' @param ... For `predict()`, arguments of `ap_apply()`; otherwise not used.
#' @return `predict()` returns the labels as a factor.
#' @importFrom stats predict
#' @export
predict.apportion_decision <- function(object, newdata, ...) {
  ap_apply(newdata, object, ..., name = NULL)
}

#' @rdname ap_fit
#' @param dialect `"duckdb"`, `"postgresql"`, `"sqlite"`, `"bigquery"`, `"snowflake"` or `"spark"`.
#' @param table The table of a complete `SELECT` statement.
#' @param percent Whether the scores are percentages.
#' @param single Whether the score columns are single precision.
#' @return `ap_sql()` returns SQL as text: an expression that labels rows, or with `table` a complete statement.
#' @export
ap_sql <- function(decision, dialect = "duckdb", columns = NULL, by = NULL, name = NULL, table = NULL, id = NULL,
                   percent = FALSE, single = FALSE) {
  check_decision(decision)
  values <- list(
    sql = dialect, scores = as_list(columns), by = as_list(by), label_name = name, table = table, id = id,
    percent = percent, single = single
  )
  sub("\\s+$", "", run_job("export", values = values, decision = decision$json)$result$sql)
}

as_list <- function(values) if (is.null(values)) NULL else as.list(values)

#' @rdname ap_fit
#' @param file A file, with the extension .json.
#' @param overwrite Whether to replace an existing file.
#' @export
ap_write_decision <- function(decision, file, overwrite = FALSE) {
  check_decision(decision)
  write_text(file, paste0(sub("\\s+$", "", decision$json), "\n"), overwrite)
}

#' @rdname ap_fit
#' @export
ap_read_decision <- function(file) {
  if (!file.exists(file)) stop_apportion(sprintf("%s: no such file; check the path", file), setting = "file")
  json <- paste(readLines(file, encoding = "UTF-8", warn = FALSE), collapse = "\n")
  invalid <- function(problem) {
    stop_apportion(sprintf("%s: not a valid decision (%s); make one with ap_fit() or `apportion fit`", file, problem), setting = "file")
  }
  content <- tryCatch(parse_json(json), apportion_error = function(error) invalid(conditionMessage(error)))
  if (!is.list(content) || is.null(content$rule) || is.null(content$classes)) invalid("it has no rule or no classes")
  decision_of(content, json)
}

# Returns the content of JSON as lists and vectors.
parse_json <- function(json) {
  content <- .Call(C_parse_json, json)
  raise_problem(content)
  content$content
}

#' @export
print.apportion_decision <- function(x, ...) {
  cat("Decision: rule ", x$rule, sep = "")
  if (!is.null(x$reference)) cat(", reference ", x$reference, sep = "")
  if (!is.null(x$people)) cat(", fitted to ", counted(x$people), " people", sep = "")
  cat("\nclasses: ", paste(x$classes, collapse = ", "), "\n", sep = "")
  if (length(x$by) > 0) {
    cat("by ", paste(x$by, collapse = ", "), ": ", counted(length(unique(x$prices$group))), " groups\n", sep = "")
  } else if (!is.null(x$prices)) {
    print(x$prices[c("class", "price")], row.names = FALSE, digits = 6)
  }
  invisible(x)
}

#' @export
summary.apportion_decision <- function(object, ...) {
  structure(class = "apportion_summary", list(
    table = object$prices, one = glance_of(object), title = sprintf("Decision of %s", object$rule)
  ))
}

#' @export
as.data.frame.apportion_decision <- function(x, row.names = NULL, optional = FALSE, ...) {
  x$prices %||% data.frame(group = character(), class = character(), price = double())
}
