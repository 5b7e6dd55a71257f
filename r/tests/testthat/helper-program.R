# The command line program, whose results those of the package must equal. Tests that need it are skipped without it.
program <- function() {
  path <- Sys.getenv("APPORTION")
  skip_if(!nzchar(path) || !file.exists(path), "the environment variable APPORTION does not name the program")
  path
}

# Runs a command of the program, and returns the lines of its standard output.
run_program <- function(...) {
  arguments <- vapply(c(...), shQuote, "")
  output <- suppressWarnings(system2(program(), arguments, stdout = TRUE, stderr = TRUE))
  status <- attr(output, "status")
  if (!is.null(status)) stop("the program failed: ", paste(output, collapse = "\n"))
  output
}

# Runs a command with --json, and returns the result.
json_of <- function(...) {
  skip_if_not_installed("jsonlite")
  file <- tempfile()
  arguments <- vapply(c(..., "--json", "--quiet"), shQuote, "")
  status <- system2(program(), arguments, stdout = file, stderr = FALSE)
  if (status != 0) stop("the program failed with status ", status)
  jsonlite::fromJSON(file, simplifyVector = TRUE, simplifyDataFrame = FALSE, simplifyMatrix = FALSE)
}

# Returns a table as the program and R read it.
read_table_of <- function(file) {
  utils::read.csv(file, colClasses = c(county_fips = "character"), na.strings = character(), check.names = FALSE)
}

# 5,000 simulated voters, as a file and as a data frame.
voters_file <- local({
  file <- NULL
  function() {
    if (is.null(file) || !file.exists(file)) {
      file <<- file.path(tempdir(), "voters.csv")
      run_program("simulate", "voters", "--rows", "5000", "--seed", "1", "--double", "-o", file, "--force", "--quiet")
    }
    file
  }
})

voters <- function(rows = 2000, seed = 1) ap_simulate_voters(rows, seed = seed)

small_scores <- function() {
  matrix(c(0.6, 0.7, 0.9, 0.8, 0.4, 0.3, 0.1, 0.2), ncol = 2, dimnames = list(NULL, c("white", "black")))
}
