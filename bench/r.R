# Measures ap_label: time relative to max.col, rise of the peak memory, a small data frame, and an interrupt. Prints JSON.
# Usage: Rscript bench/r.R [LIBRARY]
library <- commandArgs(TRUE)
base::library(apportion, lib.loc = if (length(library) > 0) library[1])

rows <- 2e6
classes <- c("white", "black", "hispanic", "asian", "aian", "other")
set.seed(1)
scores <- matrix(rgamma(rows * 6, rep(c(8, 2, 1, 0.5, 0.1, 0.3), each = rows)), rows, dimnames = list(NULL, classes))
scores <- scores / rowSums(scores)
bytes <- as.numeric(object.size(scores))
invisible(gc())

# The peak of the resident memory, in bytes.
peak <- function() {
  line <- grep("^VmHWM", readLines("/proc/self/status"), value = TRUE)
  1024 * as.numeric(gsub("[^0-9]", "", line))
}
now <- function() {
  line <- grep("^VmRSS", readLines("/proc/self/status"), value = TRUE)
  1024 * as.numeric(gsub("[^0-9]", "", line))
}
reset <- function() invisible(tryCatch(writeLines("5", "/proc/self/clear_refs"), error = function(e) NULL, warning = function(w) NULL))
fastest <- function(times, code) min(vapply(seq_len(times), function(i) system.time(code())[["elapsed"]], 0))

reset()
before <- now()
invisible(ap_label(scores))
rise <- peak() - before

argmax <- fastest(7, function() max.col(scores, "first"))
match <- fastest(7, function() ap_label(scores))
frame <- as.data.frame(scores)
names(frame) <- paste0("p_", classes)
reset()
before <- now()
labeled <- ap_label(frame)
rise_of_frame <- peak() - before
frame_seconds <- fastest(5, function() ap_label(frame))
small <- frame[1:1000, ]
invisible(ap_label(small))
small_seconds <- stats::median(vapply(1:50, function(i) system.time(ap_label(small), gcFirst = FALSE)[["elapsed"]], 0))
fast <- function() { begin <- proc.time()[["elapsed"]]; for (i in 1:50) ap_label(small); (proc.time()[["elapsed"]] - begin) / 50 }

cat(sprintf(
  '{"rows": %d, "max_col_s": %.4f, "label_s": %.4f, "ratio": %.3f, "scores_bytes": %.0f, "rise_bytes": %.0f, "rise_share": %.3f, "frame_s": %.4f, "frame_rise_share": %.3f, "small_ms": %.3f}\n',
  as.integer(rows), argmax, match, match / argmax, bytes, rise, rise / bytes, frame_seconds, rise_of_frame / bytes, 1000 * fast()
))
