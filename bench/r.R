# `make bench-r`: compares ap_label on a matrix with max.col, and measures whether scores are copied. Prints one line of JSON.
# Rounds are interleaved and medians are compared, because machines are shared and noisy.
# Usage: Rscript bench/r.R LIBRARY
library(apportion, lib.loc = commandArgs(TRUE)[1])

rows <- 2000000
classes <- c("white", "black", "hispanic", "asian", "aian", "other")
set.seed(1)
scores <- matrix(rgamma(rows * 6, rep(c(8, 2, 1, 0.5, 0.1, 0.3), each = rows)), rows, dimnames = list(NULL, classes))
scores <- scores / rowSums(scores)
frame <- stats::setNames(as.data.frame(scores), paste0("p_", classes))
small <- frame[1:1000, ]
bytes <- 8 * length(scores)
invisible(gc())

# A line of the memory of this process, in bytes: VmRSS now, VmHWM at its peak.
memory <- function(kind) 1024 * as.numeric(gsub("[^0-9]", "", grep(kind, readLines("/proc/self/status"), value = TRUE)))

# The rise of the peak memory, relative to the size of the scores.
rise <- function(work) {
  writeLines("5", "/proc/self/clear_refs") # resets the peak
  before <- memory("VmRSS")
  work()
  (memory("VmHWM") - before) / bytes
}

seconds <- function(work) {
  start <- Sys.time()
  work()
  as.numeric(Sys.time() - start, units = "secs")
}

rises <- c(matrix = rise(function() ap_label(scores)), frame = rise(function() ap_label(frame)))
works <- list(
  max_col = function() max.col(scores, "first"), match = function() ap_label(scores),
  argmax = function() ap_label(scores, "argmax"), one_thread = function() ap_label(scores, threads = 1),
  frame = function() ap_label(frame), small = function() ap_label(small)
)
rounds <- t(replicate(21, vapply(works, seconds, 0)))
middle <- apply(rounds, 2, stats::median)
fastest <- apply(rounds, 2, min)
cat(sprintf(
  paste0(
    '{"rows": %d, "max_col_ms": %.1f, "match_ms": %.1f, "argmax_ms": %.1f, "one_thread_ms": %.1f, "frame_ms": %.1f, ',
    '"match_ratio": %.2f, "match_ratio_of_fastest": %.2f, "small_ms": %.2f, "matrix_rise": %.3f, "frame_rise": %.3f}\n'
  ),
  as.integer(rows), 1000 * middle["max_col"], 1000 * middle["match"], 1000 * middle["argmax"], 1000 * middle["one_thread"],
  1000 * middle["frame"], middle["match"] / middle["max_col"], fastest["match"] / fastest["max_col"], 1000 * middle["small"],
  rises["matrix"], rises["frame"]
))
