# An interrupt ends a job within a second, and R goes on.

test_that("a long job is interrupted", {
  skip_on_os("windows")
  skip_on_cran()
  script <- tempfile(fileext = ".R")
  log <- tempfile()
  writeLines(c(
    sprintf(".libPaths(c(%s))", paste(vapply(.libPaths(), deparse, ""), collapse = ", ")),
    "library(apportion)",
    "data <- ap_simulate_voters(300000, seed = 1)",
    "cat('started\\n')",
    "begun <- proc.time()[['elapsed']]",
    "result <- tryCatch(ap_disparity(data, voted, by = county), interrupt = function(e) 'interrupted')",
    "cat('ended', format(as.numeric(Sys.time()), digits = 15), '\\n')",
    "cat(if (is.character(result)) result else 'finished', '\\n')",
    "cat('labels', length(ap_label(as.matrix(data[1:100, grep('^p_', names(data))]))), '\\n')"
  ), script)
  system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", script), stdout = log, stderr = log, wait = FALSE)
  lines <- function() if (file.exists(log)) readLines(log, warn = FALSE) else character()
  wait_for <- function(pattern, seconds) {
    for (i in seq_len(10 * seconds)) {
      if (any(grepl(pattern, lines()))) return(TRUE)
      Sys.sleep(0.1)
    }
    FALSE
  }
  expect_true(wait_for("^started", 120))
  # It is still running after two seconds.
  Sys.sleep(2)
  expect_false(any(grepl("^ended", lines())))
  process <- system2("pgrep", c("-f", basename(script)), stdout = TRUE)
  sent <- as.numeric(Sys.time())
  tools::pskill(as.integer(process), tools::SIGINT)
  expect_true(wait_for("^labels 100", 20))
  ended <- as.numeric(sub("^ended ", "", grep("^ended", lines(), value = TRUE)))
  expect_lt(ended - sent, 1)
  expect_true("interrupted " %in% lines())
})
