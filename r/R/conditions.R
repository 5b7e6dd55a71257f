# Conditions: errors of the class "apportion_error", and warnings of the class "apportion_warning".

stop_apportion <- function(message, row = NULL, column = NULL, setting = NULL) {
  stop(structure(
    class = c("apportion_error", "error", "condition"),
    list(message = message, call = NULL, row = row, column = column, setting = setting)
  ))
}

warn_apportion <- function(message, class = NULL) {
  warning(structure(
    class = c(class, "apportion_warning", "warning", "condition"),
    list(message = message, call = NULL)
  ))
}

# Raises the interrupt that ended a job, as if it had come now.
interrupt <- function() {
  signalCondition(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
  invokeRestart("abort")
}

# Returns a sentence with the closest name, if one is close.
did_you_mean <- function(name, known) {
  if (length(known) == 0) return("")
  distance <- utils::adist(same_name(name), same_name(known))[1, ]
  near <- which.min(distance)
  if (distance[near] > max(1, nchar(name) %/% 3)) return("")
  sprintf(" (did you mean %s?)", quoted(known[near]))
}

quoted <- function(text) encodeString(text, quote = "\"")

`%||%` <- function(one, other) if (is.null(one)) other else one
