# Inputs as other packages return them, and results of the same type.

test_that("columns of wru, birdie and others are found", {
  scores <- small_scores()
  six <- function(names) {
    table <- as.data.frame(matrix(c(0.5, 0.2, 0.3, 0.6, 0.1, 0.1, 0.1, 0.05, 0.05, 0.05), 2))[0]
    rows <- rbind(c(0.55, 0.4, 0.02, 0.01, 0.01, 0.01)[seq_along(names)], c(0.6, 0.35, 0.02, 0.01, 0.01, 0.01)[seq_along(names)])
    rows <- rows / rowSums(rows)
    stats::setNames(as.data.frame(rows), names)
  }
  wru <- cbind(data.frame(voterid = c("a", "b"), surname = c("Khanna", "Imai")), six(c("pred.whi", "pred.bla", "pred.his", "pred.asi", "pred.oth")))
  expect_identical(levels(ap_label(wru)$label)[1:2], c("white", "black"))
  birdie <- six(c("pr_white", "pr_black", "pr_hisp", "pr_asian", "pr_aian", "pr_other"))
  expect_identical(levels(ap_label(birdie)$label), c("white", "black", "hisp", "asian", "aian", "other"))
  rethnicity <- six(c("prob_asian", "prob_black", "prob_hispanic", "prob_white"))
  expect_identical(nlevels(ap_label(rethnicity)$label), 4L)
  surgeo <- six(c("white", "black", "api", "native", "multiple", "hispanic"))
  expect_identical(levels(ap_label(surgeo)$label)[1:2], c("white", "black"))
  predictrace <- six(paste0("probability_", c("american_indian", "asian", "black", "hispanic", "white", "2races")))
  expect_identical(nlevels(ap_label(predictrace)$label), 6L)
  # Any names, if the rows sum to 1.
  any <- stats::setNames(as.data.frame(scores), c("one", "two"))
  expect_identical(as.character(ap_label(any)$label), c("two", "one", "one", "one"))
})

test_that("results have the type of the input", {
  data <- voters(1000)
  expected <- ap_label(data, name = NULL)
  expect_identical(class(ap_label(data)), "data.frame")
  expect_identical(ap_label(data)[names(data)], data)
  expect_identical(levels(expected), c("white", "black", "hispanic", "asian", "aian", "other"))
  expect_identical(ap_label(data, name = "race_label")$race_label, expected)
  skip_if_not_installed("tibble")
  labeled <- ap_label(tibble::as_tibble(data))
  expect_s3_class(labeled, "tbl_df")
  expect_identical(labeled$label, expected)
})

test_that("a tibble grouped by county is labeled within counties", {
  skip_if_not_installed("dplyr")
  data <- voters(1000)
  grouped <- dplyr::group_by(data, county)
  labeled <- suppressWarnings(ap_label(grouped))
  expect_s3_class(labeled, "grouped_df")
  expect_identical(dplyr::group_vars(labeled), "county")
  expect_identical(labeled$label, suppressWarnings(ap_label(data, by = county))$label)
  # Rules that label each row by itself do not use groups.
  expect_identical(ap_label(grouped, "argmax")$label, ap_label(data, "argmax")$label)
  # Within verbs of dplyr.
  scores <- dplyr::mutate(data, label = ap_label(dplyr::pick(dplyr::starts_with("p_")), name = NULL)) |> try(silent = TRUE)
  if (!inherits(scores, "try-error")) expect_identical(scores$label, ap_label(data)$label)
})

test_that("a data.table is labeled, also by reference", {
  skip_if_not_installed("data.table")
  data <- data.table::as.data.table(voters(1000))
  expected <- ap_label(voters(1000), name = NULL)
  before <- data.table::copy(data)
  labeled <- ap_label(data)
  expect_s3_class(labeled, "data.table")
  expect_identical(labeled$label, expected)
  # The result can be changed by reference without changing the input.
  expect_silent(data.table::set(labeled, i = 1L, j = "p_white", value = 0))
  expect_equal(data, before)
  # By reference.
  address <- data.table::address(data$p_white)
  data.table::set(data, j = "label", value = ap_label(data, name = NULL))
  expect_identical(data$label, expected)
  expect_identical(data.table::address(data$p_white), address)
})

test_that("matrices are labeled", {
  scores <- small_scores()
  expect_identical(as.character(ap_label(scores)), c("black", "white", "white", "white"))
  expect_identical(levels(ap_label(unname(scores))), c("1", "2"))
  expect_identical(levels(ap_label(unname(scores), classes = c("a", "b"))), c("a", "b"))
  colnames(scores) <- c("p_white", "p_black")
  expect_identical(levels(ap_label(scores)), c("white", "black"))
  whole <- matrix(c(1L, 0L, 0L, 1L), 2)
  expect_identical(as.character(ap_label(whole, classes = c("a", "b"))), c("a", "b"))
  by <- c("x", "x", "y", "y")
  expect_length(suppressWarnings(ap_label(scores, by = by)), 4)
  expect_identical(names(ap_draw(scores, 2)), c("label_1", "label_2"))
  expect_identical(names(ap_allot(scores, count = c(1, 2, 3, 4))), c("n_white", "n_black", "n_uncoded"))
})

test_that("columns are given as text, bare names, expressions or values", {
  data <- voters(1000)
  expected <- suppressWarnings(ap_label(data, by = "county"))
  county <- "not used"
  where <- "county"
  expect_identical(suppressWarnings(ap_label(data, by = county)), expected)
  expect_identical(suppressWarnings(ap_label(data, by = where)), expected)
  expect_identical(suppressWarnings(ap_label(data, by = c(county))), expected)
  expect_identical(suppressWarnings(ap_label(data, by = data$county)), expected)
  expect_identical(suppressWarnings(ap_label(data, by = toupper(county)))$label, expected$label)
  expect_identical(suppressWarnings(data |> ap_label(by = county)), expected)
  wrapper <- function(table, groups) suppressWarnings(ap_label(table, by = groups))
  expect_identical(wrapper(data, "county"), expected)
  two <- ap_disparity(data, voted == 1, no_bootstrap = TRUE)
  one <- ap_disparity(data, voted, no_bootstrap = TRUE)
  expect_equal(as.data.frame(two)$estimate, as.data.frame(one)$estimate)
})

test_that("factors, integers, integer64 and missing values are read", {
  data <- voters(1000)
  expected <- suppressWarnings(ap_label(data, by = county_fips, id = id, truth = race, reference = "truth"))$label
  other <- data
  other$county_fips <- factor(other$county_fips)
  other$race <- factor(other$race)
  other$id <- as.double(other$id)
  expect_identical(suppressWarnings(ap_label(other, by = county_fips, id = id, truth = race, reference = "truth"))$label, expected)
  other$id <- as.character(data$id)
  expect_identical(suppressWarnings(ap_label(other, by = county_fips, id = id, truth = race, reference = "truth"))$label, expected)
  if (requireNamespace("bit64", quietly = TRUE)) {
    other$id <- bit64::as.integer64(data$id)
    expect_identical(suppressWarnings(ap_label(other, by = county_fips, id = id, truth = race, reference = "truth"))$label, expected)
  }
  # Missing labels are unlabeled, and rows without scores can be skipped.
  data$p_white[3] <- NA
  data$p_black[5] <- NaN
  labeled <- ap_label(data, skip_missing = TRUE)
  expect_identical(which(is.na(labeled$label)), c(3L, 5L))
  expect_false(anyNA(ap_label(data[-c(3, 5), ])$label))
  expect_identical(sum(is.na(ap_label(voters(1000), "threshold", at = 0.9)$label)), 1000L - sum(table(ap_label(voters(1000), "threshold", at = 0.9)$label)))
  audit <- ap_audit(ap_label(voters(1000), "threshold", at = 0.9))
  expect_gt(audit$details$uncoded_rows$people %||% 1, 0)
  logical <- voters(1000)
  logical$voted <- logical$voted == 1
  expect_s3_class(ap_disparity(logical, voted, no_bootstrap = TRUE), "apportion_disparity")
})

test_that("set.seed does not matter, and seed does", {
  data <- voters(1000)
  draw <- function(seed) ap_label(data, "thompson", seed = seed)$label
  set.seed(1)
  one <- draw(1)
  state <- .Random.seed
  set.seed(2)
  expect_identical(draw(1), one)
  expect_false(identical(draw(2), one))
  set.seed(1)
  draw(1)
  expect_identical(.Random.seed, state)
})
