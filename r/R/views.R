#' Measure the bias of existing labels
#'
#' @inheritParams ap_label
#' @param data A data frame or matrix of scores, with the labels as a column or in `label`.
#' @param label The labels: a column, or one value per row.
#' @param by Groups. The bias of each group is also computed. Default: the groups of a grouped data frame.
#' @param label_map How label values map to classes, as `truth_map`.
#' @param uncoded The values of unlabeled rows, and how to treat these rows: `"Uncoded=drop"` or `"Uncoded=argmax"`. Default:
#'   `"Uncoded=keep"`. Missing labels are unlabeled.
#' @param decision The decision that gave the labels, if any. A warning of the class `apportion_drift` says if the counts
#'   differ from the targets of the fit by more than chance explains.
#' @param reference Known class shares to compare the labels with: `"uniform"`, a named vector, or a data frame.
#' @param bootstrap The number of bootstrap replicates for 95% intervals of shares, bias, accuracy and fidelity, such as 200.
#' @param outcome,outcome_value,weight,inference,cells,against,favorable,baseline,pooling,covariates,no_bootstrap,small_cells
#'   An outcome to compare between classes in the report: as for [ap_disparity()].
#' @param count The number of people that each row represents.
#' @param focus The class to compare with all other classes combined in the report. Default: the largest.
#' @param geometry,geometry_key A file with outlines of the groups for a map in the report, and its property with their names.
#' @param title The title of the report.
#' @return An object of the class `apportion_audit`. `print()` shows the audit as text; `as.data.frame()` has a row per class,
#'   and with `by_group = TRUE` a row per group and class; `details` is the complete result. Shares, biases and rates are
#'   fractions. [ap_report()] writes a report. The columns of the data frame are:
#'   \describe{
#'     \item{labels, scores_sum, truth}{The number of labels, the sum of the scores, and the number of people of this class.}
#'     \item{share, share_by_scores, share_in_truth}{The share of the labels, the mean score, and the share in the truth.}
#'     \item{bias}{`share` minus `share_by_scores`: positive if the labels overcount the class.}
#'     \item{error_vs_truth, bias_to_truth}{Labels minus the true number, and the same for shares, among people with truth.}
#'     \item{miscalibration, discretization}{The parts of the bias against the truth that are due to the scores and to the
#'       labels, as fractions of the true share.}
#'     \item{expected_precision, precision, recall}{The mean score of the labels, and the shares that are correct.}
#'     \item{calibration_error, kuiper, correlation}{Measures of the scores against the truth.}
#'   }
#' @examples
#' voters <- ap_simulate_voters(2000, seed = 1)
#' voters <- ap_label(voters, "argmax")
#' ap_audit(voters, truth = race)
#' as.data.frame(ap_audit(voters, truth = race))[c("class", "labels", "truth", "bias")]
#' @export
ap_audit <- function(data, label = "label", truth = NULL, by = NULL, label_map = NULL, uncoded = NULL, decision = NULL,
                     reference = NULL, bootstrap = NULL, outcome = NULL, outcome_value = NULL, weight = NULL,
                     inference = "population", cells = NULL, against = NULL, favorable = NULL, baseline = NULL,
                     pooling = "auto", covariates = NULL, no_bootstrap = FALSE, small_cells = "hide", count = NULL,
                     classes = NULL, columns = NULL, id = NULL, truth_map = NULL, truth_ethnicity = NULL,
                     truth_exclude = NULL, only_with_truth = FALSE, skip_missing = FALSE, normalize = FALSE,
                     focus = NULL, geometry = NULL, geometry_key = NULL, title = NULL, seed = 0, threads = NULL,
                     progress = NULL) {
  if (!is.null(decision)) check_decision(decision)
  given <- arguments()
  view("audit", given, c("label_map", "uncoded", "bootstrap"), decision = decision$json)
}

#' Compare rules
#'
#' Compares argmax, threshold, match, balance, Thompson sampling and other rules, and optionally existing labels.
#'
#' @inheritParams ap_audit
#' @param label Existing labels to compare with the rules.
#' @param batch Also solve match and balance in random batches of this size, to show the loss.
#' @return An object of the class `apportion_comparison`. `as.data.frame()` has a row per rule: `rule`, `accuracy` (the share
#'   of labels that equal the truth), `expected_accuracy` (the mean score of the labels), `fidelity` and `fidelity_to_truth`
#'   (minus the sum of the absolute differences of the shares; 0 is best), `labeled`, and `n_CLASS`.
#' @examples
#' comparison <- ap_compare(ap_simulate_voters(1000, seed = 1), truth = race)
#' as.data.frame(comparison)[c("rule", "accuracy", "fidelity")]
#' @export
ap_compare <- function(data, truth = NULL, by = NULL, label = NULL, label_map = NULL, uncoded = NULL, batch = NULL,
                       outcome = NULL, outcome_value = NULL, weight = NULL, inference = "population", cells = NULL,
                       against = NULL, favorable = NULL, baseline = NULL, pooling = "auto", covariates = NULL,
                       no_bootstrap = FALSE, small_cells = "hide", count = NULL, classes = NULL, columns = NULL,
                       id = NULL, truth_map = NULL, truth_ethnicity = NULL, truth_exclude = NULL,
                       only_with_truth = FALSE, skip_missing = FALSE, normalize = FALSE, focus = NULL, geometry = NULL,
                       geometry_key = NULL, title = NULL, seed = 0, threads = NULL, progress = NULL) {
  given <- arguments()
  view("compare", given, c("label_map", "uncoded", "batch"))
}

#' Compare an outcome between classes
#'
#' Estimates an outcome by class, and its differences between classes, with every estimator: labels of several rules,
#' weighted, imputed, linear, BIRDiE, and bounds. Each has its own assumptions and an interval.
#'
#' @inheritParams ap_audit
#' @param outcome The outcome: numbers, logical values, or a few values.
#' @param outcome_value The value of the outcome that counts as 1; all others count as 0.
#' @param weight Survey weights: numbers from 0. Rows without a weight are left out.
#' @param inference What the intervals of the weighted estimator are about: the means in the `"population"` that the people
#'   were drawn from, or the means of the people in the `"file"`, for whom only the classes are uncertain.
#' @param cells Columns that define cells of similar people, for bounds that need only calibration within cells.
#' @param against The class to compare the others with. Default: the largest.
#' @param prediction A prediction or decision of 0 and 1: also compares its rates of true and false positives, given the
#'   outcome, in `details$error_rates`.
#' @param favorable The favorable value of the outcome, such as `"approved"`: it counts as 1, and rates are also compared by
#'   their ratio (adverse impact).
#' @param baseline The class whose rate others are divided by. Default: the highest rate of a class with at least 30 expected
#'   people.
#' @param pooling How BIRDiE combines the groups of `by`: `"auto"`, `"none"` or `"partial"`.
#' @param covariates Columns on which the outcome may also depend in BIRDiE, such as an age group.
#' @param no_bootstrap Whether to skip the bootstrap: BIRDiE then has no standard errors and no intervals.
#' @param small_cells `"hide"` or `"show"` estimates with an effective sample size below 5.
#' @param label Existing labels to compare with those of the rules. Several columns are possible.
#' @param controls Columns to hold constant in regressions of the outcome on class: numbers, or up to 100 categories
#'   (`"county:category"` if the categories are numbers).
#' @param cluster The column of clusters of people whose outcomes are related, for the standard errors of the regressions.
#' @param regression `"linear"` or `"logistic"`: the model of the outcome given class and controls.
#' @param write_scores Whether to return the data with scores updated by the outcome (BIRDiE), in `updated_scores`.
#' @return An object of the class `apportion_disparity`. `as.data.frame()` has a row per estimator, value and class:
#'   `estimator`, `method`, `value`, `class`, `estimate`, `error` (standard error), `low` and `high` (95% interval),
#'   `effective_n`, `against`, the same for the difference from `against` (`gap`, ...), `hidden`, and with `favorable` the
#'   `ratio`. `regressions` is a data frame, or `NULL` without `controls`. Shares are fractions.
#' @examples
#' people <- ap_simulate_voters(2000, seed = 1)
#' disparity <- ap_disparity(people, outcome = voted, against = "white")
#' subset(as.data.frame(disparity), estimator == "weighted", c("class", "estimate", "low", "high"))
#' @export
ap_disparity <- function(data, outcome, outcome_value = NULL, weight = NULL, inference = "population", cells = NULL,
                         against = NULL, prediction = NULL, favorable = NULL, baseline = NULL, pooling = "auto",
                         covariates = NULL, no_bootstrap = FALSE, small_cells = "hide", truth = NULL, by = NULL,
                         label = NULL, label_map = NULL, uncoded = NULL, controls = NULL, cluster = NULL,
                         regression = "linear", write_scores = FALSE, count = NULL, classes = NULL, columns = NULL,
                         id = NULL, truth_map = NULL, truth_ethnicity = NULL, truth_exclude = NULL,
                         only_with_truth = FALSE, skip_missing = FALSE, normalize = FALSE, focus = NULL, geometry = NULL,
                         geometry_key = NULL, title = NULL, seed = 0, threads = NULL, progress = NULL) {
  given <- arguments()
  if (isTRUE(given$write_scores)) given$write_scores <- "TRUE" else given$write_scores <- NULL
  view("disparity", given, c("label_map", "uncoded", "regression", "write_scores"))
}

#' Every optimal tradeoff between accuracy and fidelity
#'
#' Computes the labels of the rule `"balance"` for all values of `gamma`, exactly.
#'
#' @inheritParams ap_label
#' @param points The approximate number of evenly spaced points. Default: all points.
#' @param count The number of people that each row represents.
#' @return An object of the class `apportion_frontier`. `as.data.frame()` has a row per point: `from_gamma` and `to_gamma` (the
#'   values of gamma that give these labels), `accuracy` (expected), `fidelity` (minus the sum of the absolute differences
#'   between the shares of the labels and the reference; 0 is best), and `n_CLASS`.
#' @examples
#' frontier <- ap_frontier(ap_simulate_voters(1000, seed = 1), points = 10)
#' as.data.frame(frontier)
#' @export
ap_frontier <- function(data, by = NULL, reference = "posterior", training_shares = NULL, points = NULL, truth = NULL,
                        count = NULL, classes = NULL, columns = NULL, id = NULL, truth_map = NULL,
                        truth_ethnicity = NULL, truth_exclude = NULL, only_with_truth = FALSE, skip_missing = FALSE,
                        normalize = FALSE, seed = 0, threads = NULL, progress = NULL) {
  given <- arguments()
  view("frontier", given, "points")
}

# Runs a job whose result is a table with charts.
view <- function(job, given, settings, decision = NULL) {
  columns <- c("label", "outcome", "weight", "cells", "covariates", "controls", "cluster", "prediction")
  one <- c("id", "truth", "truth_ethnicity", "count", "outcome", "weight", "cluster", "prediction", if (job != "disparity") "label")
  read <- read_table(given, columns, one)
  reference <- shares_setting("reference", given$reference, read$source)
  training <- shares_setting("training_shares", given$training_shares, read$source)
  values <- c(
    read$values, pick(given, c(settings, if (job != "frontier") OUTCOME)), report_settings(given), reference$values,
    training$values
  )
  if (length(values[["label"]]) == 1) values$label <- unlist(values[["label"]])
  done <- run_job(
    job, read$source, without_defaults(values), shares = reference$shares, training = training$shares, decision = decision,
    threads = given$threads, progress = given$progress
  )
  class <- c(audit = "audit", compare = "comparison", disparity = "disparity", frontier = "frontier")[[job]]
  result <- list(details = done$result, text = done$text, report = done$report)
  if (job == "disparity") {
    result["regressions"] <- list(regressions_of(done$result$regressions))
    if (length(done$rows) > 0) {
      result$updated_scores <- if (is.matrix(given$data)) {
        structure(do.call(cbind, unname(done$rows)), dimnames = dimnames(given$data))
      } else {
        with_columns(given$data, done$rows)
      }
    }
  }
  structure(class = c(paste0("apportion_", class), "apportion_view"), result)
}

#' @export
print.apportion_view <- function(x, ...) {
  cat(x$text, "\n", sep = "")
  invisible(x)
}

#' @export
summary.apportion_view <- function(object, ...) {
  title <- c(audit = "Audit of labels", comparison = "Comparison of rules", disparity = "Outcome by class",
    frontier = "Frontier of accuracy and fidelity")
  own <- sub("^apportion_", "", class(object)[1])
  structure(class = "apportion_summary", list(
    table = as.data.frame(object), one = glance_of(object), title = title[[own]]
  ))
}

#' @export
print.apportion_summary <- function(x, ...) {
  cat(x$title, "\n\n", sep = "")
  print(x$one, row.names = FALSE, digits = 4)
  if (!is.null(x$table)) {
    cat("\n")
    shown <- utils::head(x$table, 50)
    print(shown, row.names = FALSE, digits = 4)
    if (nrow(x$table) > 50) cat("... and ", counted(nrow(x$table) - 50L), " more rows\n", sep = "")
  }
  invisible(x)
}

# Returns a field of each part of a list, with NA for NULL.
field <- function(parts, ...) {
  path <- c(...)
  values <- lapply(parts, function(part) {
    for (name in path) part <- part[[name]]
    if (is.null(part)) NA else part
  })
  if (length(values) == 0) logical() else unlist(values)
}

# Returns part `index` of a list or vector of values by class; NA if there is none.
at_class <- function(values, index) {
  value <- if (is.null(values)) NULL else values[[index]]
  if (is.null(value)) NA else value
}

#' @export
as.data.frame.apportion_audit <- function(x, row.names = NULL, optional = FALSE, by_group = FALSE, ...) {
  content <- x$details
  if (!by_group) return(class_rows(content, content$classes))
  tables <- lapply(content$groups, function(group) {
    cbind(data.frame(group = rep(group$group, length(content$classes))), class_rows(group, content$classes))
  })
  if (length(tables) == 0) return(cbind(data.frame(group = character()), class_rows(content, content$classes)[0, ]))
  do.call(rbind, tables)
}

class_rows <- function(content, classes) {
  index <- seq_along(classes)
  numbers <- function(values) vapply(index, function(class) as.double(at_class(values, class)), 0)
  parts <- function(values, name) vapply(index, function(class) {
    own <- if (is.null(values)) NULL else values[[class]]
    as.double((if (is.list(own)) own[[name]]) %||% NA)
  }, 0)
  share <- numbers(content$shares)
  bias <- numbers(content$bias$posterior)
  truth <- numbers(content$truth_counts)
  known <- content$with_truth
  data.frame(
    class = classes, labels = numbers(content$counts), scores_sum = numbers(content$posterior_sums), truth = truth,
    share = share, share_by_scores = share - bias,
    share_in_truth = if (is.null(known) || known == 0) NA_real_ else truth / known,
    bias = bias, error_vs_truth = numbers(content$bias_people$truth), bias_to_truth = numbers(content$bias$truth),
    miscalibration = parts(content$split, "miscalibration") / 100,
    discretization = parts(content$split, "discretization") / 100,
    expected_precision = numbers(content$expected_precision), precision = parts(content$rates, "precision"),
    recall = parts(content$rates, "recall"), calibration_error = numbers(content$calibration_error),
    kuiper = numbers(content$kuiper), correlation = numbers(content$correlation)
  )
}

#' @export
as.data.frame.apportion_comparison <- function(x, row.names = NULL, optional = FALSE, ...) {
  rules <- x$details
  table <- data.frame(
    rule = field(rules, "rule"), accuracy = as.double(field(rules, "accuracy")),
    expected_accuracy = as.double(field(rules, "expected_accuracy")),
    fidelity = as.double(field(rules, "fidelity", "posterior")),
    fidelity_to_truth = as.double(field(rules, "fidelity", "truth")), labeled = as.double(field(rules, "labeled"))
  )
  cbind(table, counts_of(rules, rules[[1]]$classes))
}

counts_of <- function(parts, classes) {
  counts <- do.call(rbind, lapply(parts, function(part) as.double(unlist(part$counts))))
  stats::setNames(as.data.frame(counts), paste0("n_", classes))
}

#' @export
as.data.frame.apportion_frontier <- function(x, row.names = NULL, optional = FALSE, ...) {
  points <- x$details$points
  table <- data.frame(
    from_gamma = as.double(field(points, "from_gamma")), to_gamma = as.double(field(points, "to_gamma")),
    accuracy = as.double(field(points, "accuracy")), fidelity = as.double(field(points, "fidelity"))
  )
  cbind(table, counts_of(points, x$details$classes))
}

#' @export
as.data.frame.apportion_disparity <- function(x, row.names = NULL, optional = FALSE, ...) {
  tables <- list()
  for (estimator in x$details$estimators) {
    for (value in estimator$values) {
      own <- value$classes
      number <- function(...) as.double(field(own, ...))
      tables[[length(tables) + 1]] <- data.frame(
        estimator = estimator$name, method = estimator$method,
        value = if (is.null(value$value)) NA_character_ else as.character(value$value),
        class = field(own, "class"), estimate = number("estimate"), error = number("error"),
        low = number("interval", "low"), high = number("interval", "high"), effective_n = number("effective_n"),
        against = x$details$against, gap = number("gap", "difference"), gap_error = number("gap", "error"),
        gap_low = number("gap", "interval", "low"), gap_high = number("gap", "interval", "high"),
        hidden = as.logical(field(own, "hidden")), baseline = as.character(field(own, "ratio", "baseline")),
        ratio = number("ratio", "ratio"), ratio_low = number("ratio", "interval", "low"),
        ratio_high = number("ratio", "interval", "high")
      )
    }
  }
  do.call(rbind, tables)
}

# Returns regressions as a data frame: a row per estimator and class, then per estimator and control.
regressions_of <- function(regressions) {
  if (is.null(regressions)) return(NULL)
  rows <- function(own, effects, term, more) {
    if (length(effects) == 0) return(NULL)
    effect <- if (identical(term, "class")) "gap" else "effect"
    number <- function(...) as.double(field(effects, ...))
    data.frame(
      estimator = own$name, method = own$method, people = own$people, term = field(effects, term),
      category = as.character(field(effects, "category")), against = as.character(field(effects, "against")),
      estimate = number(effect, "estimate"), error = number(effect, "error"), low = number(effect, "interval", "low"),
      high = number(effect, "interval", "high"), p_value = number(effect, "p_value"),
      odds_ratio = number("odds_ratio", "ratio"), hidden = as.logical(field(effects, "hidden"))
    )
  }
  tables <- lapply(regressions$estimators, function(own) {
    rbind(rows(own, own$classes, "class"), rows(own, own$controls, "column"))
  })
  do.call(rbind, tables)
}
