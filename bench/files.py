"""Measures labeling from file to file: time of match relative to argmax, argmax relative to polars, and peak memory.

    python bench/files.py APPORTION FOLDER [ROWS]

Rounds are interleaved, so that other load on the machine slows all commands equally; ratios of medians are compared. The
results are printed and written to bench/results/files-ROWS.md.
"""

import datetime
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

POLARS = """
import sys
import polars as pl
columns = ["p_white", "p_black", "p_hispanic", "p_asian", "p_other"]
table = pl.scan_parquet(sys.argv[1])
best = pl.max_horizontal(columns)
names = pl.coalesce(*[pl.when(pl.col(c) == best).then(pl.lit(c[2:])) for c in columns])
table.with_columns(names.alias("label"), best.alias("label_score")).sink_parquet(sys.argv[2])
"""

POLARS_WORK = "polars: scan, argmax, sink"
MANY = 50_000_000  # with this many rows, each command runs once


def run(command):
    """Seconds and the largest memory, in MiB, of a command that must succeed."""
    begin = time.perf_counter()
    child = subprocess.Popen(command)
    _, status, used = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(map(str, command))}: failed")
    return time.perf_counter() - begin, used.ru_maxrss / 1024


def main():
    program, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    rows = int(sys.argv[3]) if len(sys.argv) > 3 else 4_200_000
    folder.mkdir(parents=True, exist_ok=True)
    voters, out = folder / f"voters-{rows}.parquet", folder / "out.parquet"
    if not voters.exists():
        run([program, "simulate", "voters", "--rows", str(rows), "--merge", "aian=other", "-o", voters, "-q"])
    label = [program, "label", voters, "-o", out, "--force", "-q", "--threads", "2", "--rule"]
    works = {
        "argmax": label + ["argmax"],
        "match": label + ["match"],
        "match by county": label + ["match", "--by", "county"],
        POLARS_WORK: [sys.executable, "-c", POLARS, voters, out],
    }
    os.environ["POLARS_MAX_THREADS"] = "2"
    rounds = 5 if rows < MANY else 1
    if rows >= MANY:
        del works[POLARS_WORK]  # its memory grows with the rows
    measured = {name: [] for name in works}
    for _ in range(rounds):
        for name, command in works.items():
            out.unlink(missing_ok=True)
            measured[name].append(run(command))
    seconds = {name: statistics.median(s for s, _ in found) for name, found in measured.items()}
    memory = {name: max(m for _, m in found) for name, found in measured.items()}
    lines = [
        f"{rows:,} rows × 5 classes, Parquet to Parquet, two threads; medians; interleaved rounds: {rounds}.",
        f"{datetime.date.today()}, {cpu()}, {level(program)}, {platform.system()}.",
        "",
        "| work | seconds | over argmax | peak memory, MiB |",
        "|---|---|---|---|",
    ]
    for name in works:
        lines.append(f"| {name} | {seconds[name]:.2f} | {seconds[name] / seconds['argmax']:.2f} | {memory[name]:.0f} |")
    if POLARS_WORK in works:
        lines += ["", f"argmax over polars: {seconds['argmax'] / seconds[POLARS_WORK]:.2f}"]
    text = "\n".join(lines) + "\n"
    print(text)
    results = Path(__file__).parent / "results"
    results.mkdir(exist_ok=True)
    (results / f"files-{rows}.md").write_text(text)


def level(program):
    """The instructions that the program uses here."""
    said = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout
    return said.split("SIMD: ")[1].strip()


def cpu():
    """The processor, as the system calls it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


if __name__ == "__main__":
    main()
