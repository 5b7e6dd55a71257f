# The pronoun of ggplot2 for columns.
.data <- NULL

# Plots, by ggplot2 if it is installed, otherwise by base graphics. With ggplot2, the plot is returned.

#' @export
plot.apportion_solution <- function(x, ...) {
  table <- as.data.frame(x)
  bars(table$class, table$labels, "people", sprintf("Labels by %s", x$details$rule), ...)
}

#' @export
plot.apportion_audit <- function(x, ...) {
  table <- as.data.frame(x)
  bars(table$class, 100 * table$bias, "labels minus scores (percentage points)", "Bias of the labels", ...)
}

#' @export
plot.apportion_comparison <- function(x, ...) {
  table <- as.data.frame(x)
  accuracy <- if (anyNA(table$accuracy)) table$expected_accuracy else table$accuracy
  points_by(table$fidelity, accuracy, table$rule, "fidelity (0 is best)", "accuracy", "Accuracy and fidelity of rules", ...)
}

#' @export
plot.apportion_frontier <- function(x, ...) {
  table <- as.data.frame(x)
  title <- "Every optimal tradeoff"
  if (!has_ggplot()) {
    graphics::plot(table$fidelity, table$accuracy, type = "l", xlab = "fidelity (0 is best)", ylab = "expected accuracy", main = title, ...)
    return(invisible(x))
  }
  ggplot2::ggplot(table, ggplot2::aes(x = .data$fidelity, y = .data$accuracy)) +
    ggplot2::geom_line() + ggplot2::labs(x = "fidelity (0 is best)", y = "expected accuracy", title = title)
}

#' @export
plot.apportion_disparity <- function(x, ...) {
  table <- as.data.frame(x)
  table <- table[!is.na(table$estimate) & !table$hidden, ]
  values <- unique(table$value)
  if (length(values) > 1) table <- table[table$value %in% values[length(values)], ]
  title <- "Outcome by class"
  if (!has_ggplot()) {
    classes <- unique(table$class)
    at <- match(table$class, classes) + (match(table$estimator, unique(table$estimator)) - 1) / (2 * length(unique(table$estimator)))
    graphics::plot(
      at, table$estimate, xaxt = "n", xlab = "", ylab = "estimate", main = title,
      ylim = range(table$estimate, table$low, table$high, na.rm = TRUE), pch = match(table$estimator, unique(table$estimator)), ...
    )
    known <- !is.na(table$low)
    graphics::segments(at[known], table$low[known], at[known], table$high[known])
    graphics::axis(1, seq_along(classes) + 0.25, classes)
    graphics::legend("topright", legend = unique(table$estimator), pch = seq_along(unique(table$estimator)), cex = 0.7)
    return(invisible(x))
  }
  table$class <- factor(table$class, unique(table$class))
  table$estimator <- factor(table$estimator, unique(table$estimator))
  ggplot2::ggplot(table, ggplot2::aes(
    x = .data$class, y = .data$estimate, ymin = .data$low, ymax = .data$high,
    color = .data$estimator
  )) +
    ggplot2::geom_pointrange(position = ggplot2::position_dodge(width = 0.6), na.rm = TRUE) +
    ggplot2::labs(x = NULL, y = "estimate with 95% interval", color = NULL, title = title)
}

bars <- function(classes, values, label, title, ...) {
  if (!has_ggplot()) {
    graphics::barplot(stats::setNames(values, classes), ylab = label, main = title, ...)
    return(invisible())
  }
  table <- data.frame(class = factor(classes, classes), value = values)
  ggplot2::ggplot(table, ggplot2::aes(x = .data$class, y = .data$value)) + ggplot2::geom_col() +
    ggplot2::labs(x = NULL, y = label, title = title)
}

points_by <- function(x, y, names, xlab, ylab, title, ...) {
  if (!has_ggplot()) {
    graphics::plot(x, y, xlab = xlab, ylab = ylab, main = title, ...)
    graphics::text(x, y, names, pos = 3, cex = 0.7, xpd = TRUE)
    return(invisible())
  }
  table <- data.frame(x = x, y = y, name = names)
  ggplot2::ggplot(table, ggplot2::aes(x = .data$x, y = .data$y, label = .data$name)) +
    ggplot2::geom_point() + ggplot2::geom_text(vjust = -0.7, size = 3) + ggplot2::labs(x = xlab, y = ylab, title = title)
}

has_ggplot <- function() {
  !isTRUE(getOption("apportion.base_graphics")) && requireNamespace("ggplot2", quietly = TRUE)
}
