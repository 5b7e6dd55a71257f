PEOPLE <- c(
  "model", "surname", "first_name", "middle_name", "full_name", "place", "block_group", "tract", "zcta", "county", "state",
  "vintage", "names", "numbers", "classes", "crosswalk", "tolerance", "within", "as_published", "seed", "burn_in", "sweeps",
  "prefix"
)
ROLES <- c(
  "surname", "first_name", "middle_name", "full_name", "place", "block_group", "tract", "zcta", "county", "state"
)
# Arguments that are tables of names or places.
TABLES <- c("surnames", "first_names", "middle_names", "geography", "surname_margin", "place_margin")

#' Compute scores from names and places
#'
#' Computes class probabilities by Bayesian Improved Surname Geocoding (BISG), the same with first names (BIFSG), fully
#' Bayesian (fBISG), for registered voters, or raked to known class shares. The tables of the 2020 Census are built in: no
#' other table, API key or network is needed.
#'
#' The scores describe the population of the tables: by default adults in the 2020 Census. Voters, borrowers and patients
#' usually have other class shares. If you know the shares of the people in the data, use `model = "rake"` with `margin`. If
#' you know the shares among all registered voters of a state, and the data are a part of them, use `model = "voter"` with
#' `margin` and `within`. Without a margin, a warning names the population.
#'
#' `ap_explain()` shows the table rows and numbers behind the scores of one row.
#'
#' @param data A data frame with a row per person.
#' @param model `"bisg"` uses surname and place; `"bifsg"` also the first name; `"fbisg"` allows for errors in the Census
#'   counts; `"voter"` is for registered voters; `"rake"` adjusts the scores to known class shares. Default: `"bifsg"` if there
#'   is a column of first names, otherwise `"bisg"`.
#' @param surname,first_name,middle_name,place,block_group,tract,zcta,county,state Columns of `data`. Default: found by name.
#' @param full_name The column of whole names, instead of surname, first and middle name: `"Last, First M"` or
#'   `"First M Last"`.
#' @param vintage The Census of the built-in tables: `"2020"` has adults by block group, tract, ZIP code area, county and
#'   state; `"2010"` has residents by county and ZIP code area.
#' @param names `"all"` looks up names in the Census list, then in a list of registered voters; `"census"` in the Census list
#'   only.
#' @param surnames,first_names,middle_names,geography Tables to use instead of the defaults: a data frame with a row per name
#'   or place and a column of people per class, the name of a built-in table, or for `geography` a list of these.
#' @param numbers The columns of a table that contain its numbers, if there are several sets, such as `"vap_*"`.
#' @param classes,crosswalk The classes in the order of the scores; new names for classes of the tables, `c(api = "asian")`.
#' @param margin voter, rake: the class shares: a named vector, or a data frame with the columns `class` and `share`.
#' @param surname_margin,place_margin rake: data frames with people by surname and class, and by place and class.
#' @param tolerance rake: the maximum difference from these margins, as a share of all people. Default: 1e-9.
#' @param within Use only the places of one state, such as `"NC"`.
#' @param as_published voter: whether to use the published surname factor, which mixes national class shares with those of
#'   the state.
#' @param seed fbisg: the seed. Default: 0. [set.seed()] has no effect.
#' @param burn_in,sweeps fbisg: the number of sweeps before probabilities are averaged, and the number that is averaged.
#'   Default: 500 and 1000.
#' @param prefix The prefix of the score columns.
#' @param summary Whether to add the attribute `summary`: the numbers of matched names and places, the mean scores, and the
#'   population that the scores describe.
#' @param threads,progress As for [ap_label()].
#' @return `data` with the scores as new columns, the columns that explain them, and the codes of counties as `county_fips`
#'   unless there is such a column. Columns of `data` with these names are replaced.
#' @examples
#' people <- data.frame(
#'   surname = c("Washington", "Garcia", "Olson"), county_fips = c("37183", "37183", "37063")
#' )
#' scores <- suppressWarnings(ap_predict(people))
#' round(scores$p_black, 2)
#' ap_label(scores)
#' ap_explain(people, row = 2)
#' @export
ap_predict <- function(data, model = NULL, surname = NULL, first_name = NULL, middle_name = NULL, full_name = NULL,
                       place = NULL, block_group = NULL, tract = NULL, zcta = NULL, county = NULL, state = NULL,
                       vintage = "2020", names = "all", surnames = NULL, first_names = NULL, middle_names = NULL,
                       geography = NULL, numbers = NULL, classes = NULL, crosswalk = NULL, margin = NULL,
                       surname_margin = NULL, place_margin = NULL, tolerance = NULL, within = NULL, as_published = FALSE,
                       seed = NULL, burn_in = NULL, sweeps = NULL, prefix = "p_", summary = FALSE, threads = NULL,
                       progress = NULL) {
  given <- arguments()
  done <- people_job("predict", given)
  if (is.null(margin) && is.null(surname_margin) && is.null(place_margin)) {
    warn_apportion(sprintf(paste0(
      "the scores describe %s. Voters, borrowers and patients usually have other class shares; if you know theirs, use ",
      "`margin = c(class = share, ...)` with `model = \"voter\"` or `model = \"rake\"`"
    ), done$result$population))
  }
  scores <- with_columns(data, done$rows)
  if (summary) attr(scores, "summary") <- done$result
  scores
}

people_job <- function(job, given, values = list()) {
  if (!is.data.frame(given$data)) {
    stop_apportion("`data` must be a data frame with columns of names and places", setting = "data")
  }
  names <- enc2utf8(names(given$data))
  refuse_repeated(names)
  if (nrow(given$data) == 0) stop_apportion("`data` has no rows", setting = "data")
  roles <- pick(given, ROLES)
  for (role in names(roles)) {
    if (!is.character(roles[[role]]) || length(roles[[role]]) != 1) {
      stop_apportion(sprintf("`%s` must name a column of `data`", role), setting = role)
    }
    refuse_unknown(role, roles[[role]], names)
  }
  usable <- vapply(given$data, function(own) is.atomic(own) && (!is.matrix(own) || ncol(own) == 1), NA)
  columns <- lapply(which(usable), function(index) named_column(given$data[[index]], names[index]))
  table <- stats::setNames(columns, names[usable])
  tables <- list()
  for (name in names(pick(given, TABLES))) {
    own <- people_tables(name, given[[name]])
    values[[name]] <- if (name == "geography") as.list(own$names) else own$names
    tables <- c(tables, own$tables)
  }
  margin <- shares_setting("margin", given$margin)
  values <- c(values, pick(given, PEOPLE), margin$values)
  values$vintage <- as.character(values$vintage)
  run_job(
    job, list(table = table), without_defaults(values), shares = margin$shares, tables = tables,
    threads = given$threads, progress = given$progress
  )
}

# Returns tables of names or places: the names that the setting has for them, and those that are data frames.
people_tables <- function(name, given) {
  given <- if (is.data.frame(given) || !is.list(given)) list(given) else given
  names <- character()
  tables <- list()
  for (own in given) {
    if (is.data.frame(own)) {
      label <- if (length(names) == 0) name else paste(name, length(names) + 1)
      columns <- lapply(seq_along(own), function(index) plain_column(own[[index]], names(own)[index]))
      tables[[label]] <- stats::setNames(columns, names(own))
      names <- c(names, label)
    } else if (is.character(own)) {
      names <- c(names, own)
    } else {
      stop_apportion(sprintf("`%s` must be a data frame or the name of a built-in table", name), setting = name)
    }
  }
  list(names = names, tables = tables)
}

#' @rdname ap_predict
#' @param row The row to explain, counted from 1.
#' @return `ap_explain()` returns an object of the class `apportion_explanation`: a list with the `scores` of the row and
#'   `details`, the numbers behind them.
#' @export
ap_explain <- function(data, row, model = NULL, surname = NULL, first_name = NULL, middle_name = NULL, full_name = NULL,
                       place = NULL, block_group = NULL, tract = NULL, zcta = NULL, county = NULL, state = NULL,
                       vintage = "2020", names = "all", surnames = NULL, first_names = NULL, middle_names = NULL,
                       geography = NULL, numbers = NULL, classes = NULL, crosswalk = NULL, margin = NULL,
                       surname_margin = NULL, place_margin = NULL, tolerance = NULL, within = NULL, as_published = FALSE,
                       seed = NULL, burn_in = NULL, sweeps = NULL, threads = NULL, progress = NULL) {
  given <- arguments()
  done <- people_job("explain", given, list(row = row))
  structure(class = "apportion_explanation", list(
    scores = stats::setNames(done$result$scores, done$result$classes), text = done$text, details = done$result
  ))
}

#' @export
print.apportion_explanation <- function(x, ...) {
  cat(x$text, "\n", sep = "")
  invisible(x)
}

#' @export
as.data.frame.apportion_explanation <- function(x, row.names = NULL, optional = FALSE, ...) {
  data.frame(class = names(x$scores), score = unname(x$scores))
}
