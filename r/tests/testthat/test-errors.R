error_of <- function(code) tryCatch({ code; NULL }, apportion_error = identity)

test_that("errors name the row, the column and the argument", {
  data <- voters(100)
  data$p_white[7] <- -3
  error <- error_of(ap_label(data))
  expect_s3_class(error, c("apportion_error", "error", "condition"), exact = TRUE)
  expect_identical(c(error$row, error$column), c("7", "p_white"))
  expect_match(conditionMessage(error), "^data: row 7, column \"p_white\": the score of \"white\" is -3")
  data$p_white[7] <- NA
  error <- error_of(ap_label(data))
  expect_identical(error$setting, "skip_missing")
  expect_match(conditionMessage(error), "with `skip_missing = TRUE`", fixed = TRUE)
  data$p_white[7] <- 0.1
  error <- error_of(ap_label(data))
  expect_identical(error$row, 7)
  expect_match(conditionMessage(error), "use `normalize = TRUE`", fixed = TRUE)
})

test_that("invalid arguments are refused in the words of R", {
  data <- voters(100)
  error <- error_of(ap_label(data, by = "countyy"))
  expect_match(conditionMessage(error), "`by` must name columns of `data`: there is no column \"countyy\" (did you mean \"county\"?)", fixed = TRUE)
  expect_identical(error$setting, "by")
  expect_match(conditionMessage(error_of(ap_label(data[c("surname", "county")]))), "with `ap_predict()` first", fixed = TRUE)
  expect_match(conditionMessage(error_of(ap_label(data, rule = "matc"))), "did you mean \"match\"", fixed = TRUE)
  expect_match(conditionMessage(error_of(ap_label(data, rule = "match", gamma = 0.5))), "`gamma` requires `rule = \"balance\"`", fixed = TRUE)
  expect_match(conditionMessage(error_of(ap_label(data, skip_missing = "yes"))), "TRUE or FALSE", fixed = TRUE)
  expect_match(conditionMessage(error_of(ap_label(data, threads = 0))), "`threads` must be")
  expect_match(conditionMessage(error_of(ap_label(data, at_least = c(black = NA)))), "at_least")
  expect_match(conditionMessage(error_of(ap_label(data, reference = c(0.5, 0.5)))), "must name the class")
  expect_match(conditionMessage(error_of(ap_label(data, by = 1:3))), "one value per row")
  expect_match(conditionMessage(error_of(ap_label(1:3))), "must be a data frame or a matrix")
  expect_match(conditionMessage(error_of(ap_label(matrix("a")))), "must contain numbers")
  expect_match(conditionMessage(error_of(ap_label(small_scores(), columns = "white"))), "for data frames")
  expect_match(conditionMessage(error_of(ap_apply(data, list()))), "must be a decision")
  expect_match(conditionMessage(error_of(ap_label(data, at = NA))), "`at` must not be NA", fixed = TRUE)
})

test_that("tables that cannot be read are refused", {
  data <- voters(100)
  expect_match(conditionMessage(error_of(ap_label(data[0, ]))), "has no rows")
  expect_match(conditionMessage(error_of(ap_label(matrix(numeric(), 0, 2)))), "at least one row")
  repeated <- cbind(data, p_white = 0.5)
  error <- error_of(ap_label(repeated))
  expect_match(conditionMessage(error), "two columns of `data` are named \"p_white\"", fixed = TRUE)
  expect_identical(error$column, "p_white")
  nested <- data
  nested$county <- as.list(nested$county)
  expect_match(conditionMessage(error_of(ap_label(nested, by = "county"))), "contains lists")
  expect_match(conditionMessage(error_of(ap_label(data.frame(x = 1:3, y = c("a", "b", "c"))))), "no score columns were recognized among x, y", fixed = TRUE)
  expect_match(conditionMessage(error_of(ap_predict(data.frame(surname = character())))), "has no rows")
})

test_that("a file that is not a decision is refused by its name", {
  file <- tempfile(fileext = ".json")
  for (content in c("{\"version\": 2, \"cla", "{\"a\": 1}", "[1, 2]", "")) {
    writeLines(content, file)
    error <- error_of(ap_read_decision(file))
    expect_match(conditionMessage(error), paste0(file, ": not a valid decision"), fixed = TRUE)
    expect_identical(error$setting, "file")
  }
})

test_that("warnings have a class", {
  expect_warning(ap_label(voters(1000), by = county), class = "apportion_warning")
  expect_warning(ap_predict(data.frame(surname = "Smith", state = "NC")), "the scores describe adults", class = "apportion_warning")
  decision <- ap_fit(voters(3000))
  other <- voters(3000, seed = 2)
  other <- other[other$county == "Robeson" | other$p_black > 0.4, ]
  expect_warning(predict(decision, other), class = "apportion_drift")
})

test_that("panics are errors, in every thread", {
  for (thread in c("main", "worker", "pool")) {
    problem <- .Call(apportion:::C_test_panic, thread)$error$message
    expect_match(problem, "please report this bug .*a test", info = thread)
  }
  # R goes on.
  expect_length(ap_label(small_scores()), 4)
})
