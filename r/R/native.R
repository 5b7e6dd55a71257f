# Runs jobs of the library.

# Runs a job with settings by ID; `NULL` and `FALSE` are left out. Its warnings become warnings; its notes are messages if
# the option `apportion.verbose` is true.
run_job <- function(job, source = NULL, values = list(), shares = NULL, training = NULL, against = NULL, tables = NULL,
                    decision = NULL, groups = FALSE, threads = NULL, progress = NULL, named = TRUE) {
  values <- Filter(function(value) !is.null(value) && !isFALSE(value), values)
  values <- lapply(values, function(value) if (is.factor(value)) as.character(value) else value)
  for (name in names(values)) {
    if (anyNA(unlist(values[[name]]))) stop_apportion(sprintf("`%s` must not be NA", name), setting = name)
  }
  if (!is.null(source) && named) values$inputs <- "data"
  input <- list(
    table = source$table, matrix = source$matrix, shares = shares, training = training, against = against, tables = tables,
    decision = decision, groups = groups
  )
  bar <- progress_bar(progress)
  done <- tryCatch(
    .Call(C_run, job, values, input, check_threads(threads), bar$update),
    finally = bar$close()
  )
  raise_problem(done)
  for (text in done$notes) if (isTRUE(getOption("apportion.verbose"))) message(text)
  if (!is.null(done$drift)) warn_apportion(done$drift, "apportion_drift")
  for (text in done$warnings) warn_apportion(text)
  done
}

# Raises the error of a call, or its interrupt.
raise_problem <- function(done) {
  if (!is.null(done$error)) {
    stop_apportion(done$error$message, done$error$row, done$error$column, done$error$setting)
  }
  if (isTRUE(done$interrupted)) interrupt()
}

check_threads <- function(threads) {
  if (is.null(threads)) return(NULL)
  if (!is.numeric(threads) || length(threads) != 1 || is.na(threads) || threads < 1 || threads > 1024 ||
    threads != trunc(threads)) {
    stop_apportion("`threads` must be a whole number from 1 to 1024, or NULL for all processors", setting = "threads")
  }
  as.integer(threads)
}

# Returns functions that update and close a progress bar. It is shown after a second, in interactive sessions with cli.
progress_bar <- function(progress) {
  wanted <- progress %||% interactive()
  if (!isTRUE(wanted) || !requireNamespace("cli", quietly = TRUE)) return(list(update = NULL, close = function() NULL))
  begun <- Sys.time()
  bar <- NULL
  env <- environment()
  list(
    update = function(what, part) {
      if (is.null(bar)) {
        if (difftime(Sys.time(), begun, units = "secs") < 1) return(NULL)
        bar <<- cli::cli_progress_bar(
          format = "{cli::pb_extra$what} {cli::pb_bar} {cli::pb_percent} {cli::pb_elapsed}",
          total = 1, extra = list(what = what), .auto_close = FALSE, .envir = env
        )
      }
      cli::cli_progress_update(set = if (is.nan(part)) NULL else min(part, 1), extra = list(what = what), id = bar, .envir = env)
      NULL
    },
    close = function() if (!is.null(bar)) cli::cli_progress_done(id = bar, .envir = env)
  )
}

# Returns the score columns among some names, if they are recognized.
score_columns <- function(names) .Call(C_score_columns, enc2utf8(names))

write_text <- function(path, text, overwrite) {
  raise_problem(.Call(C_write_text, path.expand(path), enc2utf8(text), isTRUE(overwrite)))
  invisible(path)
}
