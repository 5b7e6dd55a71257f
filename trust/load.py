"""Load tests: very many rows, groups, classes and columns, very large counts, very small scores, many processes.

    python trust/load.py PROGRAM FOLDER [--full] [--scale S] [--only NAME]

Prints time, peak memory, exit code and whether `verify` accepts the output, and writes trust/results/load.json. --full adds
all 261,547,234 people of the United States (some 8 GB of disk). --scale 0.01 makes everything smaller, to try this script;
--scale and --only write no results. Files are made once and stay in FOLDER.
"""

import argparse
import datetime
import json
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from support import machine, version, write_results

RESULTS = Path(__file__).parent / "results" / "load.json"
EVERYBODY = 261_547_234
FLOOR = 300  # MiB that a run may use beyond --memory
SOON = 10  # seconds within which input must be refused; checks of the number of rows come after reading


@dataclass
class Case:
    """A file and a command. `refused`: it must be refused quickly. `memory`: the limit in MiB given by --memory."""

    name: str
    make: object
    rows: int
    words: list = field(default_factory=list)
    memory: int | None = None
    processes: int = 1
    refused: bool = False
    ending: str = "parquet"


def cases(scale, full):
    """Returns all cases; `scale` makes them smaller."""
    size = lambda rows: max(int(rows * scale), 100)  # noqa: E731
    million = size(1_000_000)
    found = [
        Case("20 million rows", voters, size(20_000_000)),
        Case("20 million rows, 512 MiB", voters, size(20_000_000), memory=512),
        Case("100,000 groups", groups(size(100_000)), million, ["--by", "unit"]),
        Case("1,000,000 groups of one row", groups(million), million, ["--by", "unit"]),
        Case("250 classes", many_classes(250), million, memory=13_000),
        Case("250 classes, 512 MiB", many_classes(250), million, memory=512, refused=True),
        Case("500 columns", wide(500), size(200_000)),
        Case("counts to 10^12", counts, million, ["--count", "people"]),
        Case("subnormal scores", subnormal, million),
        Case("equal rows", equal, million),
        Case("70,000 classes", too_many_classes, 500, refused=True, ending="csv"),
        Case("eight processes", voters, size(20_000_000), memory=256, processes=8),
    ]
    if full:
        found.append(Case("all of the United States", voters, size(EVERYBODY)))
        found.append(Case("all of the United States, 1 GiB", voters, size(EVERYBODY), memory=1024))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--only")
    options = parser.parse_args()
    program, folder = options.program.resolve(), options.folder
    folder.mkdir(parents=True, exist_ok=True)
    verifies = subprocess.run([program, "verify", "--help"], capture_output=True, check=False).returncode == 0
    chosen = [case for case in cases(options.scale, options.full) if not options.only or options.only in case.name]
    print(f"{'case':<34} {'rows':>12} {'seconds':>8} {'MiB':>7} {'exit':>5}  {'verified':<12} failure")
    found = [show(measure(program, folder, case, verifies)) for case in chosen]
    record = {
        "date": str(datetime.date.today()),
        "program": version(program),
        "machine": machine(),
        "full": options.full,
        "cases": found,
    }
    if options.scale == 1.0 and not options.only:
        write_results(RESULTS, record)
    sys.exit(1 if any(case["failure"] for case in found) else 0)


def measure(program, folder, case, verifies):
    """Runs a case; returns its time and memory, and the problem if there is one."""
    scores = file_of(program, folder, case)
    outs = [folder / f"out-{number}.parquet" for number in range(case.processes)]
    for out in outs:
        out.unlink(missing_ok=True)
    words = case.words + (["--memory", f"{case.memory}M"] if case.memory else [])
    commands = [[program, "label", scores, "-o", out, "-q", *words] for out in outs]
    ran = together(commands)
    seconds, memory = max(seconds for seconds, _, _ in ran), max(memory for _, memory, _ in ran)
    codes = sorted({code for _, _, code in ran})
    verified = "not asked"
    if codes == [0] and verifies:
        checked = together([[program, "verify", outs[0], "--against", scores]])[0]
        verified = "yes" if checked[2] == 0 else "no"
    failure = wrong(case, seconds, memory, codes, verified, outs)
    for out in outs:
        out.unlink(missing_ok=True)
    return {
        "name": case.name,
        "rows": case.rows,
        "seconds": round(seconds, 2),
        "peak_mib": round(memory),
        "memory_mib": case.memory,
        "exit": codes[-1],
        "verified": verified,
        "failure": failure,
    }


def together(commands):
    """Runs commands at once; returns the seconds, the peak memory in MiB and the exit code of each."""
    words = [list(map(str, command)) for command in commands]
    helper = [sys.executable, "-S", Path(__file__).with_name("measure.py"), json.dumps(words)]
    return json.loads(subprocess.run(helper, check=True, stdout=subprocess.PIPE).stdout.splitlines()[-1])


def wrong(case, seconds, memory, codes, verified, outs):
    """Returns the problem of a run, or None."""
    if case.refused:
        if codes not in ([1], [2]):
            return f"must be refused with 1 or 2, and ended with {codes}"
        return None if seconds <= SOON else f"refused only after {seconds:.0f} seconds"
    if codes != [0]:
        return f"exit {codes}"
    if verified == "no":
        return "verify refuses the output"
    if any(pyarrow.parquet.read_metadata(out).num_rows != case.rows for out in outs):
        return "rows are missing in the output"
    if case.memory and memory > case.memory + FLOOR:
        return f"{memory:.0f} MiB at --memory {case.memory}M"
    return None


def show(found):
    failure = found["failure"] or ""
    numbers = f"{found['rows']:>12,} {found['seconds']:>8.2f} {found['peak_mib']:>7,} {found['exit']:>5}"
    print(f"{found['name']:<34} {numbers}  {found['verified']:<12} {failure}", flush=True)
    return found


def file_of(program, folder, case):
    """Returns the file of a case, and makes it if it does not exist."""
    name = case.make.__name__.replace("_", "-")
    path = folder / f"{name}-{case.rows}.{case.ending}"
    if not path.exists():
        unfinished = path.with_name(f"unfinished-{path.name}")
        case.make(program, unfinished, case.rows)
        unfinished.rename(path)
    return path


def voters(program, path, rows):
    """Makes voters as bench/files.py does."""
    words = ["simulate", "voters", "--rows", str(rows), "--merge", "aian=other", "-o", path, "--force", "-q"]
    subprocess.run([program, *words], check=True)


def write(path, rows, batch_of, at_once=50_000):
    """Writes rows in batches: `batch_of(rng, first, count)` returns the columns of a batch."""
    rng, writer = np.random.default_rng(5), None
    for first in range(0, rows, at_once):
        table = pa.table(batch_of(rng, first, min(at_once, rows - first)))
        writer = writer or pyarrow.parquet.ParquetWriter(path, table.schema, compression="zstd")
        writer.write_table(table)
    writer.close()


def scores(rng, count, classes, kind=np.float32):
    """Returns columns of random scores; most of a row's weight is on a few classes."""
    weights = rng.random((count, classes), dtype=np.float32) ** 4
    shares = (weights / weights.sum(axis=1, keepdims=True)).astype(kind)
    return {f"p_c{place}": shares[:, place] for place in range(classes)}


def groups(number):
    def make(program, path, rows):
        write(path, rows, lambda rng, first, count: {"unit": units(first, count)} | scores(rng, count, 5))

    def units(first, count):
        return pa.array([f"unit {row % number}" for row in range(first, first + count)])

    make.__name__ = f"groups-{number}"
    return make


def many_classes(classes):
    def make(program, path, rows):
        write(path, rows, lambda rng, first, count: scores(rng, count, classes), 10_000)

    make.__name__ = f"classes-{classes}"
    return make


def wide(columns):
    def make(program, path, rows):
        def batch(rng, first, count):
            others = {f"column {place}": rng.integers(0, 1000, count) for place in range(columns - 6)}
            return others | scores(rng, count, 6)

        write(path, rows, batch, 10_000)

    make.__name__ = f"wide-{columns}"
    return make


def counts(program, path, rows):
    """Cells of one person to 10^12 people; the total stays below the limit of people per file."""

    def batch(rng, first, count):
        people = np.floor(10 ** rng.uniform(0, 4, count)).astype(np.int64)
        people[0] = 10**12 if first == 0 else people[0]
        return {"people": people} | scores(rng, count, 5, np.float64)

    write(path, rows, batch)


def subnormal(program, path, rows):
    """Scores down to the smallest positive double."""

    def batch(rng, first, count):
        small = np.ldexp(1.0, rng.integers(-1074, -1000, (count, 2)))
        half = rng.random(count)
        return {"p_a": half, "p_b": 1 - half, "p_c": small[:, 0], "p_d": small[:, 1]}

    write(path, rows, batch)


def equal(program, path, rows):
    """All rows are equal: every label is a tie."""
    write(path, rows, lambda rng, first, count: {f"p_{name}": np.full(count, 0.2) for name in "abcde"})


def too_many_classes(program, path, rows):
    classes = 70_000
    header = ",".join(f"p_c{place}" for place in range(classes))
    row = ",".join(["1", *["0"] * (classes - 1)])
    path.write_text("\n".join([header, *[row] * rows]) + "\n")


if __name__ == "__main__":
    main()
