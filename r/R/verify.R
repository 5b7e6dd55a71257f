#' Verify labels against their scores
#'
#' Checks the counts and the optimality of labels, by code that shares nothing with the code that made them. Give the same
#' options as for [ap_label()].
#'
#' @inheritParams ap_label
#' @param data A data frame with scores and labels.
#' @param label The column of labels.
#' @param scores A data frame with the scores that the labels were made from, in the same order. Default: `data`.
#' @param decision The decision that made the labels, if any.
#' @param unknown_groups As for [ap_apply()].
#' @return An object of the class `apportion_verification`: a list with `verified`, `difference` (the first difference, or
#'   `NULL`), `checks` and `details`. `as.data.frame()` has a row per check.
#' @examples
#' voters <- ap_label(ap_simulate_voters(1000, seed = 1), id = id)
#' ap_verify(voters, rule = "match", id = id)
#' @export
ap_verify <- function(data, label = "label", scores = NULL, decision = NULL, unknown_groups = "refuse", rule = NULL,
                      by = NULL, reference = NULL, training_shares = NULL, gamma = NULL, penalty = NULL, at = NULL,
                      k = NULL, coverage = NULL, at_least = NULL, at_most = NULL, tolerance = NULL, nested = NULL,
                      from_sample = NULL, classes = NULL, columns = NULL, id = NULL, truth = NULL, truth_map = NULL,
                      truth_ethnicity = NULL, truth_exclude = NULL, only_with_truth = FALSE, skip_missing = FALSE,
                      normalize = FALSE, seed = NULL, threads = NULL, progress = NULL) {
  if (!is.null(decision)) check_decision(decision)
  if (!is.data.frame(data)) stop_apportion("`data` must be a data frame with scores and labels", setting = "data")
  given <- arguments()
  given <- with_grouping(given)
  read <- read_table(given, columns = "label", one = c("id", "truth", "truth_ethnicity", "label"))
  output <- read$source$table
  values <- without_defaults(c(read$values, pick(given, c(RULE, "unknown_groups"))))
  if (!is.null(scores)) {
    other <- given
    other$data <- scores
    other$label <- NULL
    against <- read_table(other)$source$table
  } else {
    against <- output[setdiff(names(output), values[["label"]])]
  }
  reference <- shares_setting("reference", given$reference, read$source)
  values <- c(values, reference$values, list(output = list("data"), against = list("scores")))
  if (is.null(decision) && is.null(values$rule)) values$rule <- "match"
  done <- run_job(
    "verify", list(table = output), values, shares = reference$shares, against = against, decision = decision$json,
    threads = given$threads, progress = given$progress, named = FALSE
  )
  structure(class = "apportion_verification", list(
    verified = done$result$verified, difference = done$result$difference, checks = done$result$checks, text = done$text,
    details = done$result
  ))
}

#' @export
print.apportion_verification <- function(x, ...) {
  if (nzchar(x$text)) cat(x$text, "\n", sep = "")
  if (!is.null(x$difference)) cat("different: ", x$difference, "\n", sep = "")
  invisible(x)
}

#' @export
summary.apportion_verification <- function(object, ...) {
  structure(class = "apportion_summary", list(
    table = as.data.frame(object), one = glance_of(object), title = "Verification of labels"
  ))
}

#' @export
as.data.frame.apportion_verification <- function(x, row.names = NULL, optional = FALSE, ...) {
  skipped <- x$details$not_checked
  field <- function(name) vapply(skipped, function(own) own[[name]], "")
  data.frame(
    check = c(x$checks, x$difference, field("what")),
    status = rep(c("verified", "different", "not checked"), c(length(x$checks), length(x$difference), length(skipped))),
    reason = c(rep(NA_character_, length(x$checks) + length(x$difference)), field("why"))
  )
}
