#' Simulate people with exact scores
#'
#' `ap_simulate_voters()` simulates a voter file of North Carolina: names and places from Census tables, party, turnout, the
#' true class `race`, and scores from surname and county. Party and turnout are made up. `ap_simulate_normal()` and
#' `ap_simulate_categorical()` are the simulations of the paper: points with normal noise around the true class, and people
#' with one known category.
#'
#' @param rows The number of people.
#' @param seed The seed. [set.seed()] has no effect.
#' @param single Whether scores are rounded to single precision.
#' @param prior_shift The shift of the class shares behind the scores, from voters (0) to all residents (1).
#' @param sharpen The power that scores are raised to; above 1, scores are overconfident.
#' @param noise Noise in the tables that people are drawn from, relative to the tables of the scores.
#' @param merge Classes to merge: `c(aian = "other")` leaves five classes.
#' @param no_scores Whether to leave out the scores.
#' @return A data frame.
#' @examples
#' head(ap_simulate_voters(100, seed = 1))
#' names(ap_simulate_normal(10))
#' @export
ap_simulate_voters <- function(rows = 100000, prior_shift = 0, sharpen = 1, noise = 0, merge = NULL, seed = 0,
                               single = FALSE, no_scores = FALSE) {
  simulated(
    "voters", rows, seed, single, prior_shift = prior_shift, sharpen = sharpen, noise = noise, merge = merge,
    no_scores = no_scores
  )
}

#' @rdname ap_simulate_voters
#' @param variance The variance of the noise of each coordinate. The smaller it is, the more certain the scores.
#' @param prior The class shares. Default: those of the paper.
#' @export
ap_simulate_normal <- function(rows = 5000, variance = 0.5, prior = NULL, seed = 0, single = FALSE) {
  simulated("normal", rows, seed, single, variance = variance, prior = prior)
}

#' @rdname ap_simulate_voters
#' @param signal The probability that the category reveals the true class.
#' @export
ap_simulate_categorical <- function(rows = 5000, signal = 0.5, prior = NULL, seed = 0, single = FALSE) {
  simulated("categorical", rows, seed, single, signal = signal, prior = prior)
}

simulated <- function(kind, rows, seed, single, ...) {
  done <- run_job(paste0("simulate_", kind), values = list(rows = rows, seed = seed, double = !single, ...))
  blocks <- done$rows
  if (is.null(names(blocks))) {
    columns <- lapply(seq_along(blocks[[1]]), function(index) unlist_column(lapply(blocks, `[[`, index)))
    names(columns) <- names(blocks[[1]])
  } else {
    columns <- blocks
  }
  new_table(NULL, columns)
}

# Joins parts of a column. Parts of factors have the same levels.
unlist_column <- function(parts) {
  if (!is.factor(parts[[1]])) return(unlist(parts))
  structure(unlist(lapply(parts, as.integer)), levels = levels(parts[[1]]), class = "factor")
}
