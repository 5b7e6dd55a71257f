# The scores are used where they lie, and R's memory is not changed.

test_that("scores are not copied or changed", {
  rows <- 200000
  scores <- matrix(stats::runif(rows * 4), rows)
  scores <- scores / rowSums(scores)
  before <- scores + 0
  skip_if_not(capabilities("profmem"))
  traced <- tempfile()
  Rprofmem(traced, threshold = 0.9 * 8 * rows)
  labels <- ap_label(scores)
  frame <- as.data.frame(matrix(0, 1, 1))[0]
  Rprofmem(NULL)
  expect_identical(scores, before)
  # No vector of R as large as a column of scores was made.
  expect_identical(readLines(traced), character())
  frame <- stats::setNames(as.data.frame(scores), c("p_a", "p_b", "p_c", "p_d"))
  Rprofmem(traced, threshold = 0.9 * 8 * rows)
  labeled <- ap_label(frame)
  Rprofmem(NULL)
  expect_identical(readLines(traced), character())
  expect_identical(as.integer(labeled$label), as.integer(labels))
})

test_that("results survive garbage collection", {
  gctorture2(1, wait = 200)
  on.exit(gctorture2(0))
  scores <- data.frame(p_a = c(0.6, 0.7, 0.9, 0.8), p_b = c(0.4, 0.3, 0.1, 0.2), g = c("x", "x", "y", "y"))
  solution <- ap_solve(scores, by = "g")
  gctorture2(0)
  expect_identical(levels(solution$labels), c("a", "b"))
  expect_identical(sum(solution$counts), 4L)
})
