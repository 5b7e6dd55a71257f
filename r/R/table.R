# Input and output tables: data frames and matrices as the library reads them, and labels in the type of the input.

# The largest number of classes.
MAX_CLASSES <- 250L

# Arguments that name columns.
COLUMN_ARGUMENTS <- c(
  "by", "nested", "id", "truth", "truth_ethnicity", "count", "columns", "label", "outcome", "weight", "cells",
  "covariates", "controls", "cluster", "prediction", "surname", "first_name", "middle_name", "full_name", "place",
  "block_group", "tract", "zcta", "county", "state"
)

# Returns the arguments of the calling function. Bare names of columns become text, and expressions are evaluated among the
# columns of the data.
arguments <- function(env = parent.frame(), caller = parent.frame(2)) {
  data <- env$data
  names <- setdiff(names(formals(sys.function(sys.parent()))), "...")
  given <- stats::setNames(vector("list", length(names)), names)
  for (name in names) {
    value <- if (name %in% COLUMN_ARGUMENTS && is.data.frame(data)) {
      column_argument(name, env, data, caller)
    } else {
      get(name, envir = env)
    }
    if (!is.null(value)) given[[name]] <- value
  }
  given
}

column_argument <- function(name, env, data, caller) {
  expression <- do.call(substitute, list(as.name(name), env))
  if (is.symbol(expression)) {
    own <- as.character(expression)
    if (own %in% names(data)) return(own)
    return(get(name, envir = env))
  }
  if (!is.call(expression)) return(get(name, envir = env))
  parts <- as.list(expression)
  if (identical(parts[[1]], as.name("c")) && all(vapply(parts[-1], is.symbol, NA))) {
    own <- vapply(parts[-1], as.character, "")
    if (all(own %in% names(data))) return(unname(own))
  }
  tryCatch(eval(expression, data, caller), error = function(problem) get(name, envir = env))
}

# Normalizes column names as the library does to compare them.
same_name <- function(name) gsub("[. ]", "_", tolower(trimws(name)))

# Returns the input of a job. `named` lists the names of columns that are always read.
as_source <- function(data, columns = NULL, classes = NULL, named = character()) {
  if (inherits(data, "Matrix")) {
    stop_apportion("`data` must be a data frame or a matrix; use as.matrix() for a sparse matrix", setting = "data")
  }
  if (is.data.frame(data)) return(frame_source(data, columns, classes, named))
  if (is.matrix(data)) return(matrix_source(data, columns, classes))
  stop_apportion(
    sprintf("`data` must be a data frame or a matrix with one column per class, not %s", class(data)[1]),
    setting = "data"
  )
}

matrix_source <- function(data, columns, classes) {
  if (!is.null(columns)) {
    stop_apportion("`columns` is for data frames; name the classes of a matrix with `classes`", setting = "columns")
  }
  if (!is.numeric(data) && !is.logical(data)) {
    stop_apportion(sprintf("`data` must contain numbers, not %s", typeof(data)), setting = "data")
  }
  if (nrow(data) == 0 || ncol(data) == 0) {
    stop_apportion(
      sprintf("`data` has %d rows and %d columns; at least one row and one column per class are required", nrow(data), ncol(data)),
      setting = "data"
    )
  }
  if (ncol(data) > MAX_CLASSES) {
    stop_apportion(sprintf("`data` has %d columns, but at most %d classes are supported", ncol(data), MAX_CLASSES), setting = "data")
  }
  if (!is.null(classes) && length(classes) != ncol(data)) {
    stop_apportion(sprintf("`classes` has %d names for %d columns of scores", length(classes), ncol(data)), setting = "classes")
  }
  names <- enc2utf8(colnames(data) %||% as.character(seq_len(ncol(data))))
  refuse_repeated(names)
  if (!is.double(data)) storage.mode(data) <- "double"
  recognized <- is.null(classes) && setequal(score_columns(names), names)
  list(
    kind = "matrix", data = data, rows = nrow(data), columns = character(), table = list(),
    matrix = list(data, names),
    values = if (recognized) list() else list(scores = names, classes = as.character(classes %||% names))
  )
}

frame_source <- function(data, columns, classes, named) {
  names <- enc2utf8(names(data))
  refuse_repeated(names)
  if (nrow(data) == 0) stop_apportion("`data` has no rows", setting = "data")
  source <- list(kind = "frame", data = data, rows = nrow(data), columns = names, table = list(), values = list())
  values <- list()
  if (!is.null(columns)) {
    if (!is.character(columns)) stop_apportion("`columns` must name columns of `data`", setting = "columns")
    for (name in columns[!endsWith(columns, "*")]) refuse_unknown("columns", name, names)
    values$scores <- as.list(columns)
  }
  scores <- score_names(names, columns)
  others <- match(same_name(named), same_name(names), nomatch = 0)
  others <- unique(others[others > 0])
  if (length(scores) == 0) {
    found <- probabilities(data, setdiff(seq_along(names), others))
    if (is.null(found)) {
      # An error about score columns lists all columns.
      source$table <- stats::setNames(rep(list(rep(NA, nrow(data))), length(names)), names)
    } else {
      scores <- found
      values$scores <- as.list(names[found])
    }
  }
  for (index in scores) source$table[[names[index]]] <- plain_column(data[[index]], names[index])
  for (index in setdiff(others, scores)) source$table[[names[index]]] <- named_column(data[[index]], names[index])
  if (!is.null(classes)) values$classes <- as.list(as.character(classes))
  source$values <- values
  source
}

# Returns the indices of the score columns.
score_names <- function(names, columns) {
  if (is.null(columns)) return(which(names %in% score_columns(names)))
  known <- same_name(names)
  index <- lapply(columns, function(column) {
    if (endsWith(column, "*")) which(startsWith(known, same_name(sub("\\*$", "", column)))) else which(known == same_name(column))
  })
  unique(unlist(index))
}

# Returns the indices of all columns of doubles if their rows sum to 1: they are scores, whatever their names.
probabilities <- function(data, candidates) {
  numbers <- Filter(function(index) is.double(data[[index]]) && is.null(oldClass(data[[index]])), candidates)
  if (length(numbers) < 2) return(NULL)
  first <- seq_len(min(nrow(data), 1000L))
  scores <- vapply(numbers, function(index) data[[index]][first], numeric(length(first)))
  sums <- rowSums(matrix(scores, nrow = length(first)))
  sums <- sums[!is.na(sums)]
  if (length(sums) == 0 || min(scores, na.rm = TRUE) < 0 || max(abs(sums - 1)) >= 1e-3) return(NULL)
  numbers
}

# Returns a column as the library reads it. Doubles and integers are not copied.
plain_column <- function(values, name) {
  if (is.data.frame(values) || is.list(values) || (is.matrix(values) && ncol(values) != 1)) {
    stop_apportion(sprintf("column %s of `data` contains lists or several columns; use a vector", quoted(name)), column = name)
  }
  if (inherits(values, "integer64")) return(values)
  if (is.factor(values)) {
    levels(values) <- enc2utf8(levels(values))
    return(values)
  }
  if (inherits(values, "haven_labelled")) values <- as.vector(unclass(values))
  if (is.object(values)) values <- as.character(values)
  if (is.character(values)) return(enc2utf8(values))
  if (is.numeric(values) || is.logical(values)) return(values)
  stop_apportion(sprintf("column %s of `data` is of type %s; use numbers or text", quoted(name), typeof(values)), column = name)
}

# Returns a column that is not a score: doubles without fractions are whole numbers, so that 7 is the ID "7".
named_column <- function(values, name) {
  values <- plain_column(values, name)
  if (is.double(values) && !is.object(values)) attr(values, "apportion_whole") <- TRUE
  values
}

refuse_repeated <- function(names) {
  repeated <- names[duplicated(names)]
  if (length(repeated) > 0) {
    stop_apportion(sprintf("two columns of `data` are named %s; rename one of them", quoted(repeated[1])), column = repeated[1])
  }
}

refuse_unknown <- function(what, name, known) {
  if (same_name(name) %in% same_name(known)) return(invisible())
  shown <- paste(utils::head(known, 40), collapse = ", ")
  if (length(known) > 40) shown <- sprintf("%s and %d more", shown, length(known) - 40L)
  stop_apportion(
    sprintf(
      "`%s` must name columns of `data`: there is no column %s%s; the columns are %s",
      what, quoted(name), did_you_mean(name, known), shown
    ),
    column = name, setting = what
  )
}

# Returns the names of columns among the values of arguments.
names_in <- function(given) {
  unlist(lapply(given, function(value) if (is.character(value)) value else NULL))
}

# Adds the columns that an argument gives, by name or as one value per row, and returns the source and their names.
add_columns <- function(source, what, value, one = FALSE) {
  known <- same_name(source$columns)
  if (is.character(value) && source$kind == "frame" && length(value) > 0 && all(same_name(value) %in% known)) {
    names <- value
  } else if (is.list(value) && length(value) > 0) {
    names <- character()
    for (own in value) {
      added <- add_values(source, what, own)
      source <- added$source
      names <- c(names, added$names)
    }
  } else if (is.character(value) && length(value) != source$rows) {
    if (source$kind == "matrix") {
      stop_apportion(sprintf("`%s` must have one value per row, because the columns of a matrix are scores", what), setting = what)
    }
    for (name in value) refuse_unknown(what, name, source$columns)
  } else {
    added <- add_values(source, what, value)
    source <- added$source
    names <- added$names
  }
  if (one && length(names) != 1) {
    stop_apportion(sprintf("`%s` must be one column, not %d", what, length(names)), setting = what)
  }
  list(source = source, names = names)
}

add_values <- function(source, what, values) {
  if (length(values) != source$rows) {
    stop_apportion(
      sprintf("`%s` must name columns of `data` or have one value per row: it has %d values for %d rows", what, length(values), source$rows),
      setting = what
    )
  }
  taken <- same_name(c(source$columns, names(source$table)))
  name <- what
  number <- 1L
  while (same_name(name) %in% taken) {
    number <- number + 1L
    name <- paste0(what, "_", number)
  }
  source$table[[name]] <- named_column(values, what)
  list(source = source, names = name)
}

# Returns the source and settings of a table of scores.
read_table <- function(given, columns = character(), one = c("id", "truth", "truth_ethnicity", "count")) {
  data <- given$data
  roles <- unique(c("id", "by", "nested", "truth", "truth_ethnicity", "count", columns))
  if (is.null(given$by) && is.null(given$nested) && inherits(data, "grouped_df")) given$by <- group_columns(data)
  named <- names_in(given[intersect(roles, names(given))])
  named <- sub(":category$", "", named)
  if (is.character(given$truth_map)) named <- c(named, "ethnic_code")
  source <- as_source(data, given$columns, given$classes, named)
  values <- c(source$values, pick(given, READING))
  for (what in intersect(roles, names(given))) {
    if (is.null(given[[what]])) next
    if (what == "controls" && is.character(given[[what]]) && length(given[[what]]) != source$rows) {
      for (name in sub(":category$", "", given[[what]])) refuse_unknown(what, name, source$columns)
      values[[what]] <- as.list(given[[what]])
      next
    }
    added <- add_columns(source, what, given[[what]], what %in% one)
    source <- added$source
    values[[what]] <- if (what %in% one) added$names else as.list(added$names)
  }
  list(source = source, values = values)
}

group_columns <- function(data) setdiff(names(attr(data, "groups")), ".rows")

# Returns the data with new columns, in the type of the data. A data.table is copied, so that later changes by reference do
# not change the input.
with_columns <- function(data, columns) {
  if (is.matrix(data)) return(as.data.frame(columns, stringsAsFactors = FALSE, optional = TRUE))
  if (inherits(data, "data.table") && requireNamespace("data.table", quietly = TRUE)) {
    data <- data.table::copy(data)
    for (name in names(columns)) data.table::set(data, j = name, value = columns[[name]])
    return(data[])
  }
  for (name in names(columns)) data[[name]] <- columns[[name]]
  data
}

# Returns columns as a new table in the type of the data.
new_table <- function(data, columns) {
  table <- structure(columns, class = "data.frame", row.names = .set_row_names(length(columns[[1]])))
  if (inherits(data, "data.table") && requireNamespace("data.table", quietly = TRUE)) return(data.table::setDT(table)[])
  if (inherits(data, "tbl_df") && requireNamespace("tibble", quietly = TRUE)) return(tibble::as_tibble(table))
  if (is.data.frame(data)) attr(table, "row.names") <- attr(data, "row.names")
  if (is.matrix(data)) return(do.call(cbind, columns))
  table
}
