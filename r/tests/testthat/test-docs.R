# The first example of the guide prints what the guide shows.

test_that("the example of the guide is up to date", {
  page <- Sys.getenv("APPORTION_GUIDE")
  skip_if(!nzchar(page) || !file.exists(page), "the guide is not available")
  lines <- readLines(page)
  block <- function(kind) {
    begin <- grep(paste0("^```", kind, "$"), lines)[1]
    end <- begin + grep("^```$", lines[-seq_len(begin)])[1]
    lines[(begin + 1):(end - 1)]
  }
  code <- parse(text = block("r"))
  printed <- utils::capture.output(for (one in code[-1]) {
    shown <- withVisible(eval(one))
    if (shown$visible) print(shown$value)
  })
  expect_identical(trimws(printed, "right"), trimws(block("text"), "right"))
})
