#' Write a report
#'
#' Writes a result as a self-contained HTML page that works offline, or as Markdown: counts, bias, groups, maps, calibration
#' and charts. For a data frame of scores, all rules are compared first.
#'
#' @param x A result of [ap_audit()], [ap_compare()], [ap_disparity()] or [ap_frontier()], or a data frame or matrix of scores.
#' @param file The file to write: `.html` or `.md`.
#' @param overwrite Whether to replace an existing file.
#' @param figures A directory for the data (.csv) and the specification of every chart (.json), or `NULL`.
#' @param ... For a data frame or matrix, arguments of [ap_compare()].
#' @return `file`, invisibly.
#' @examples
#' file <- tempfile(fileext = ".html")
#' ap_report(ap_compare(ap_simulate_voters(1000, seed = 1), truth = race), file)
#' file.exists(file)
#' @export
ap_report <- function(x, file, overwrite = FALSE, figures = NULL, ...) {
  UseMethod("ap_report")
}

#' @export
ap_report.default <- function(x, file, overwrite = FALSE, figures = NULL, ...) {
  ap_report(ap_compare(x, ...), file, overwrite, figures)
}

#' @export
ap_report.apportion_view <- function(x, file, overwrite = FALSE, figures = NULL, ...) {
  if (!grepl("\\.(html?|md)$", file, ignore.case = TRUE)) {
    stop_apportion(sprintf("%s: unknown report format; use .html for a page or .md for Markdown", file), setting = "file")
  }
  report <- x$report
  if (!inherits(report, "externalptr") || is_null_pointer(report)) {
    stop_apportion("the report is lost when a result is saved and loaded; compute the result again", setting = "x")
  }
  raise_problem(.Call(C_write_report, report, path.expand(file), isTRUE(overwrite)))
  if (!is.null(figures)) raise_problem(.Call(C_write_figures, report, path.expand(figures), isTRUE(overwrite)))
  invisible(file)
}

is_null_pointer <- function(pointer) grepl("nil|0x0>", format(pointer))
