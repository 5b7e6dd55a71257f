# Results equal those of the program.

rules <- list(
  match = list(c(), list()),
  argmax = list(c("--rule", "argmax"), list(rule = "argmax")),
  threshold = list(c("--rule", "threshold", "--at", "0.7,black=0.5"), list(rule = "threshold", at = c(0.7, black = 0.5))),
  thompson = list(c("--rule", "thompson", "--seed", "7"), list(rule = "thompson", seed = 7)),
  "top-k" = list(c("--rule", "top-k", "--k", "3"), list(rule = "top-k", k = 3)),
  balance = list(c("--rule", "balance", "--gamma", "0.8"), list(gamma = 0.8)),
  "balance, l2" = list(c("--rule", "balance", "--penalty", "l2"), list(rule = "balance", penalty = "l2")),
  "balance, tolerance" = list(c("--rule", "balance", "--tolerance", "0.01"), list(rule = "balance", tolerance = 0.01)),
  learned = list(c("--rule", "learned"), list(rule = "learned")),
  "by county" = list(c("--by", "county"), list(by = "county")),
  nested = list(c("--nested", "county,tract"), list(nested = c("county", "tract"))),
  truth = list(c("--reference", "truth", "--truth", "race"), list(reference = "truth", truth = "race")),
  uniform = list(c("--reference", "uniform"), list(reference = "uniform")),
  coverage = list(c("--coverage", "0.9"), list(coverage = 0.9)),
  bounds = list(c("--at-least", "black=1200,other=1%"), list(at_least = c(black = 1200, other = 0.01))),
  sample = list(c("--from-sample", "1000"), list(from_sample = 1000))
)

test_that("the simulated voters are the same", {
  file <- voters_file()
  expected <- read_table_of(file)
  own <- ap_simulate_voters(5000, seed = 1)
  expect_identical(names(own), names(expected))
  for (name in names(own)) expect_equal(as.character(own[[name]]), as.character(expected[[name]]), info = name)
})

test_that("labels, counts and certificates of every rule are the same", {
  file <- voters_file()
  data <- ap_simulate_voters(5000, seed = 1)
  for (name in names(rules)) {
    output <- tempfile(fileext = ".csv")
    json <- json_of("label", file, "-o", output, "--id", "id", rules[[name]][[1]])
    solution <- suppressWarnings(do.call(ap_solve, c(list(data, id = "id"), rules[[name]][[2]])))
    labels <- as.character(solution$labels)
    labels[is.na(labels)] <- "Uncoded"
    expect_identical(labels, read_table_of(output)$label, info = name)
    expect_equal(unname(solution$counts), json$counts, info = name)
    expect_equal(unname(solution$targets), json$targets, info = name)
    expect_identical(solution$expected_accuracy, json$expected_accuracy, info = name)
    expect_identical(solution$certificate$primal, json$certificate$primal, info = name)
    expect_identical(solution$certificate$dual, json$certificate$dual, info = name)
    if (name %in% c("match", "by county", "balance")) expect_true(solution$certificate$proved, info = name)
    # The labels are those of ap_label, whichever its input is.
    labeled <- suppressWarnings(do.call(ap_label, c(list(data, id = "id"), rules[[name]][[2]])))
    expect_identical(labeled$label, solution$labels, info = name)
  }
})

test_that("audits, comparisons, frontiers and disparities are the same", {
  file <- voters_file()
  data <- ap_simulate_voters(5000, seed = 1)
  labeled <- tempfile(fileext = ".csv")
  run_program("label", file, "-o", labeled, "--rule", "argmax", "--quiet")
  expected <- json_of("audit", labeled, "--truth", "race", "--by", "county")
  data$label <- ap_label(data, "argmax", name = NULL)
  audit <- ap_audit(data, truth = race, by = county)
  expect_identical(audit$details$counts, expected$counts)
  for (field in c("bias", "bias_people", "accuracy", "accuracy_interval", "calibration_error", "kuiper", "expected_precision", "shares", "posterior_sums")) {
    expect_equal(unlist(audit$details[[field]]), unlist(expected[[field]]), tolerance = 1e-15, info = field)
  }
  table <- as.data.frame(audit, by_group = TRUE)
  expect_equal(table$bias, unlist(lapply(expected$groups, function(group) group$bias$posterior)), tolerance = 1e-15)

  expected <- json_of("compare", file, "--truth", "race")
  comparison <- as.data.frame(ap_compare(read_table_of(file), truth = race))
  expect_identical(comparison$rule, vapply(expected, `[[`, "", "rule"))
  expect_equal(comparison$n_black, as.double(vapply(expected, function(rule) rule$counts[2], 1L)))
  expect_equal(comparison$fidelity, vapply(expected, function(rule) rule$fidelity$posterior, 1), tolerance = 1e-15)

  expected <- json_of("frontier", file, "--points", "20")
  frontier <- as.data.frame(ap_frontier(data, points = 20))
  expect_equal(frontier$accuracy, vapply(expected$points, `[[`, 1, "accuracy"), tolerance = 1e-15)
  expect_equal(frontier$n_asian, as.double(vapply(expected$points, function(point) point$counts[4], 1L)))

  expected <- json_of("disparity", file, "--outcome", "voted", "--against", "white", "--id", "id")
  disparity <- ap_disparity(read_table_of(file), voted, against = "white", id = id)
  own <- as.data.frame(disparity)
  estimates <- unlist(lapply(expected$estimators, function(estimator) {
    lapply(estimator$values[[1]]$classes, function(class) class$estimate %||% NA_real_)
  }))
  expect_equal(own$estimate, estimates, tolerance = 1e-12)
})

test_that("decisions, verification and SQL are the same", {
  file <- voters_file()
  data <- ap_simulate_voters(5000, seed = 1)
  path <- tempfile(fileext = ".json")
  run_program("fit", file, "-o", path, "--by", "county", "--quiet")
  decision <- suppressWarnings(ap_fit(data, by = county))
  saved <- ap_read_decision(path)
  expect_equal(decision$prices, saved$prices, tolerance = 1e-12)
  more <- ap_simulate_voters(5000, seed = 2)
  labels <- suppressWarnings(predict(decision, more, unknown_groups = "overall"))
  expect_identical(suppressWarnings(predict(saved, more, unknown_groups = "overall")), labels)
  other <- tempfile(fileext = ".csv")
  run_program("simulate", "voters", "--rows", "5000", "--seed", "2", "--double", "-o", other, "--quiet")
  output <- tempfile(fileext = ".csv")
  run_program("apply", "--decision", path, other, "-o", output, "--unknown-groups", "overall", "--quiet")
  expect_identical(as.character(labels), read_table_of(output)$label)
  one <- ap_fit(data)
  path <- tempfile(fileext = ".json")
  ap_write_decision(one, path)
  expect_identical(ap_sql(one, "postgresql"), sub("\\s+$", "", paste(run_program("export", path, "--sql", "postgresql", "--quiet"), collapse = "\n")))
  # A file that R wrote is verified by the program.
  data$label <- ap_label(data, id = id, name = NULL)
  written <- tempfile(fileext = ".csv")
  labeled <- tempfile(fileext = ".csv")
  run_program("label", file, "-o", labeled, "--id", "id", "--quiet")
  expect_identical(read_table_of(labeled)$label, as.character(data$label))
})

test_that("scores from names and places are the same", {
  file <- voters_file()
  people <- ap_simulate_voters(500, seed = 3, no_scores = TRUE)
  csv <- tempfile(fileext = ".csv")
  utils::write.csv(people, csv, row.names = FALSE, quote = FALSE)
  for (model in c("bisg", "bifsg")) {
    output <- tempfile(fileext = ".csv")
    run_program("predict", csv, "-o", output, "--model", model, "--quiet")
    expected <- read_table_of(output)
    own <- suppressWarnings(ap_predict(people, model))
    for (name in c("p_white", "p_black", "p_other")) expect_equal(own[[name]], expected[[name]], tolerance = 1e-14)
    expect_identical(as.character(own$surname_match), expected$surname_match)
  }
  shares <- c(white = 0.7, black = 0.2, hispanic = 0.04, asian = 0.03, aian = 0.01, other = 0.02)
  margin <- tempfile(fileext = ".csv")
  utils::write.csv(data.frame(class = names(shares), share = shares), margin, row.names = FALSE, quote = FALSE)
  for (model in c("rake", "voter", "fbisg")) {
    output <- tempfile(fileext = ".csv")
    given <- if (model == "fbisg") c() else c("--margin", margin)
    within <- if (model == "voter") c("--within", "NC") else c()
    run_program("predict", csv, "-o", output, "--model", model, given, within, "--quiet")
    own <- suppressWarnings(ap_predict(
      people, model, margin = if (model == "fbisg") NULL else shares, within = if (model == "voter") "NC"
    ))
    expect_equal(own$p_black, read_table_of(output)$p_black, tolerance = 1e-12, info = model)
  }
})

test_that("100,000 synthetic voters get the same labels", {
  program()
  folder <- Sys.getenv("APPORTION_DATA", "../shared/data")
  file <- file.path(folder, "nc_synth_100k.parquet")
  skip_if_not(file.exists(file), "the synthetic voters are not available")
  # The program converts the file.
  csv <- tempfile(fileext = ".csv")
  run_program("label", file, "-o", csv, "--rule", "argmax", "--quiet")
  data <- read_table_of(csv)
  argmax <- data$label
  data$label <- data$label_score <- NULL
  expect_identical(as.character(ap_label(data, "argmax", name = NULL)), argmax)
  for (by in list(NULL, "county")) {
    output <- tempfile(fileext = ".csv")
    json <- json_of("label", file, "-o", output, "--id", "id", if (!is.null(by)) c("--by", by))
    solution <- suppressWarnings(ap_solve(data, by = by, id = "id"))
    expect_identical(as.character(solution$labels), read_table_of(output)$label)
    expect_equal(unname(solution$counts), json$counts)
    expect_identical(solution$certificate$primal, json$certificate$primal)
    expect_identical(solution$certificate$dual, json$certificate$dual)
  }
  data$label <- ap_label(data, name = NULL)
  labeled <- tempfile(fileext = ".csv")
  run_program("label", file, "-o", labeled, "--quiet")
  expected <- json_of("audit", labeled, "--truth", "race")
  audit <- ap_audit(data, truth = race)
  expect_identical(audit$details$counts, expected$counts)
  expect_equal(audit$details$accuracy, expected$accuracy, tolerance = 1e-15)
  expect_equal(unlist(audit$details$bias), unlist(expected$bias), tolerance = 1e-12)
})
