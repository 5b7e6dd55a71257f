#' Correct scores with known truth
#'
#' After calibration, 30% of the people with a score of 30% are of the class. Each row with known truth is corrected by a
#' model that was fitted without its fold, one of five. Rows without truth are corrected by the model of all rows with truth.
#'
#' @inheritParams ap_label
#' @param truth The true classes. Required unless `calibration` is given, when it only measures the result.
#' @param method `"logistic"` is multinomial logistic regression on the logarithms of the scores. `"isotonic"` is isotonic
#'   regression for each class, and needs more rows. Default: `"logistic"`.
#' @param calibration A calibration to use instead of a new one: `attr(x, "calibration")` of another result `x`, or a file that
#'   the command `apportion calibrate --save` wrote.
#' @param by logistic: groups with their own intercepts. Those of small groups shrink to those of all rows.
#' @param count The number of people that each row represents.
#' @return `data` with corrected scores in its score columns; for a matrix, a matrix. The attribute `calibration` is an object
#'   of the class `apportion_calibration`, whose `details` have the quality of the scores before and after.
#' @examples
#' voters <- ap_simulate_voters(2000, seed = 1)
#' corrected <- ap_calibrate(voters, truth = race)
#' attr(corrected, "calibration")
#' more <- ap_simulate_voters(100, seed = 2)
#' more <- ap_calibrate(more, calibration = attr(corrected, "calibration"))
#' @export
ap_calibrate <- function(data, truth = NULL, method = NULL, calibration = NULL, by = NULL, id = NULL, count = NULL,
                         classes = NULL, columns = NULL, truth_map = NULL, truth_ethnicity = NULL, truth_exclude = NULL,
                         only_with_truth = FALSE, skip_missing = FALSE, normalize = FALSE, seed = 0, threads = NULL,
                         progress = NULL) {
  given <- arguments()
  fitted <- NULL
  if (inherits(calibration, "apportion_calibration")) {
    fitted <- calibration$json
  } else if (is.character(calibration) && length(calibration) == 1 && file.exists(calibration)) {
    fitted <- paste(readLines(calibration, encoding = "UTF-8", warn = FALSE), collapse = "\n")
  } else if (!is.null(calibration)) {
    stop_apportion("`calibration` must be a calibration of ap_calibrate() or a file", setting = "calibration")
  }
  if (!is.null(fitted)) {
    class(given$data) <- setdiff(class(given$data), "grouped_df")
    groups <- parse_json(fitted)$groups
    if (is.data.frame(data) && !is.null(groups)) given$named <- intersect(unlist(groups$columns), names(data))
  }
  read <- read_table(given, columns = "named")
  read$values$named <- NULL
  done <- run_job(
    "calibrate", read$source, without_defaults(c(read$values, pick(given, "method"))), decision = fitted,
    threads = given$threads, progress = given$progress
  )
  scores <- if (is.matrix(data)) {
    structure(do.call(cbind, unname(done$rows)), dimnames = dimnames(data))
  } else {
    with_columns(data, done$rows)
  }
  details <- done$result
  attr(scores, "calibration") <- structure(
    class = "apportion_calibration", list(details = details, text = done$text, json = done$json %||% fitted)
  )
  scores
}

#' @export
print.apportion_calibration <- function(x, ...) {
  cat(x$text, "\n", sep = "")
  invisible(x)
}
