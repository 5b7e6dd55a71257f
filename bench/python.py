"""`make bench-python`: compares labeling an array with numpy's argmax, and measures whether scores are copied.

Rounds are interleaved and medians are compared, because machines are shared and noisy. Each kind of table has a separate
process, whose peak memory is compared before and after labeling.
"""

import json
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROWS, CLASSES, ROUNDS = 6_400_000, 6, 9
RESULTS = Path(__file__).parent / "results" / "python.md"


def scores(rows: int = ROWS):
    """Returns random scores in which most rows have a likely class, as in a voter file."""
    import numpy as np

    rng = np.random.default_rng(0)
    return rng.dirichlet([6, 2, 1, 0.6, 0.2, 0.4], rows).astype(np.float32)


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def speed() -> dict[str, float]:
    import numpy as np

    import apportion

    table = scores()
    rounds: dict[str, list[float]] = {}
    works = {
        "np.argmax": lambda: np.argmax(table, axis=1),
        "argmax": lambda: apportion.label(table, rule="argmax"),
        "match": lambda: apportion.label(table, rule="match"),
        "match, one thread": lambda: apportion.label(table, rule="match", threads=1),
        "balance γ 0.9": lambda: apportion.label(table, rule="balance", gamma=0.9),
    }
    for _ in range(ROUNDS):
        for name, work in works.items():
            begun = time.perf_counter()
            work()
            rounds.setdefault(name, []).append(time.perf_counter() - begun)
    return {name: statistics.median(times) for name, times in rounds.items()}


def memory(kind: str) -> float:
    """By how much the peak rises while a table is labeled, in parts of its scores' size."""
    import numpy as np
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    import apportion

    table = scores()
    size = table.nbytes
    if kind != "numpy":
        columns = {f"p_{place}": np.ascontiguousarray(table[:, place]) for place in range(CLASSES)}
        make = {"pyarrow": pa.table, "polars": pl.DataFrame, "pandas": pd.DataFrame}
        table = make[kind](columns)
        if kind == "polars" and table.estimated_size() != size:
            raise ValueError("polars has other columns than those it was given")
        del columns
    apportion.label(scores(1000))
    before = peak()
    # What was freed before may be used again without the peak's rising: it is filled first.
    ballast = [np.ones(max(0, before - current()) // 8)]
    base = max(peak(), before)
    apportion.label(table)
    del ballast
    return (peak() - base) / size


def current() -> int:
    fields = Path("/proc/self/statm").read_text().split()
    return int(fields[1]) * resource.getpagesize()


def main() -> None:
    if len(sys.argv) > 1:
        print(json.dumps(speed() if sys.argv[1] == "speed" else memory(sys.argv[1])))
        return
    run = lambda what: json.loads(
        subprocess.run([sys.executable, __file__, what], check=True, capture_output=True, text=True).stdout
    )  # noqa: E731
    times = run("speed")
    base = times["np.argmax"]
    lines = [
        f"{ROWS:,} rows, {CLASSES} classes, float32; medians of {ROUNDS} interleaved rounds.",
        "",
        "| | seconds | × np.argmax(q, axis=1) |",
        "|---|---:|---:|",
        *(f"| {name} | {own:.4f} | {own / base:.2f} |" for name, own in times.items()),
        "",
        "| table | increase in peak memory during labeling, relative to the size of the scores |",
        "|---|---:|",
        *(f"| {kind} | {run(kind):.2f} |" for kind in ("numpy", "pyarrow", "polars", "pandas")),
    ]
    text = "\n".join(lines) + "\n"
    RESULTS.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
