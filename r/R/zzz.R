#' apportion: labels with the right counts from class probabilities
#'
#' A model gives a person class probabilities, called scores: 55% white, 40% Black, 5% other. If every person gets the most
#' likely class, the 40% has no effect on the counts. [ap_label()] chooses all labels together, so that the counts are those
#' that the scores sum to, and among all labels with these counts it finds those with the highest expected accuracy.
#'
#' - [ap_predict()] computes scores from names and places, and [ap_calibrate()] corrects scores with known truth.
#' - [ap_label()], [ap_solve()], [ap_draw()] and [ap_allot()] label rows.
#' - [ap_fit()] returns a decision, which labels other rows or is written as SQL.
#' - [ap_audit()] measures the bias of labels; [ap_compare()] compares rules; [ap_frontier()] lists every optimal tradeoff.
#' - [ap_disparity()] compares an outcome between classes.
#' - [ap_verify()] checks labels, and [ap_report()] writes a report.
#'
#' Labels are estimates about groups. Do not use them for decisions about individuals. To count people, you can also sum the
#' scores themselves.
#'
#' With `options(apportion.verbose = TRUE)`, notes are shown as messages, such as which score columns were found. With
#' `options(apportion.base_graphics = TRUE)`, plots do not use ggplot2.
#'
#' @keywords internal
#' @useDynLib apportion, .registration = TRUE, .fixes = "C_"
"_PACKAGE"

.onLoad <- function(libname, pkgname) {
  views <- c("audit", "comparison", "disparity", "frontier", "solution", "decision", "verification")
  for (class in paste0("apportion_", views)) {
    register_method("generics", "tidy", class, tidy_result)
    register_method("generics", "glance", class, glance_result)
  }
  register_method("generics", "augment", "apportion_solution", augment_solution)
  register_method("generics", "augment", "apportion_decision", augment_decision)
}

# Registers a method of a generic of a package, now or when the package is loaded.
register_method <- function(package, generic, class, method) {
  force(list(package, generic, class, method))
  register <- function(...) registerS3method(generic, class, method, envir = asNamespace(package))
  if (isNamespaceLoaded(package)) register()
  setHook(packageEvent(package, "onLoad"), register)
}

.onUnload <- function(libpath) library.dynam.unload("apportion", libpath)
