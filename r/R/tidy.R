# Methods of the generics of broom, which are registered when the package generics is loaded.

tidy_result <- function(x, ...) as_tibble(as.data.frame(x, ...))

glance_result <- function(x, ...) as_tibble(glance_of(x))

augment_solution <- function(x, data = NULL, ...) {
  data <- data %||% x$data
  if (is.factor(data)) return(as_tibble(data.frame(.label = data)))
  data[[".label"]] <- x$labels
  as_tibble(data)
}

augment_decision <- function(x, newdata, data = newdata, ...) {
  data[[".label"]] <- stats::predict(x, data, ...)
  as_tibble(data)
}

as_tibble <- function(table) {
  if (requireNamespace("tibble", quietly = TRUE)) tibble::as_tibble(table) else table
}

# Returns one row about a result.
glance_of <- function(x) UseMethod("glance_of")

#' @export
glance_of.apportion_solution <- function(x) {
  details <- x$details
  data.frame(
    rule = details$rule, rows = details$rows, labeled = details$labeled,
    expected_accuracy = x$expected_accuracy %||% NA_real_, accuracy = x$accuracy %||% NA_real_,
    proved = x$certificate$proved %||% NA
  )
}

#' @export
glance_of.apportion_decision <- function(x) {
  data.frame(
    rule = x$rule, reference = x$reference %||% NA_character_, people = x$people %||% NA_integer_,
    classes = length(x$classes), groups = length(unique(stats::na.omit(x$prices$group)))
  )
}

#' @export
glance_of.apportion_audit <- function(x) {
  own <- x$details
  data.frame(
    people = own$people %||% NA_integer_, labeled = own$labeled %||% NA_integer_, accuracy = own$accuracy %||% NA_real_,
    expected_accuracy = own$expected_accuracy %||% NA_real_, fidelity = own$fidelity$posterior %||% NA_real_,
    argmax_agreement = own$argmax_agreement %||% NA_real_, with_truth = own$with_truth %||% NA_integer_
  )
}

#' @export
glance_of.apportion_comparison <- function(x) {
  data.frame(rules = length(x$details), classes = length(x$details[[1]]$classes), labeled = x$details[[1]]$labeled)
}

#' @export
glance_of.apportion_disparity <- function(x) {
  own <- x$details
  data.frame(outcome = own$outcome %||% NA_character_, against = own$against, estimators = length(own$estimators))
}

#' @export
glance_of.apportion_frontier <- function(x) {
  points <- as.data.frame(x)
  data.frame(points = nrow(points), highest_accuracy = max(points$accuracy), accuracy_of_match = points$accuracy[nrow(points)])
}

#' @export
glance_of.apportion_verification <- function(x) {
  data.frame(verified = x$verified, checks = length(x$checks), not_checked = length(x$details$not_checked))
}
