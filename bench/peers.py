"""Compares exact matching with other solvers, in memory. Each runs up to a feasible size, and each result is checked.

    python bench/peers.py SOLVE FOLDER [--full]

SOLVE is our solver (src/bin/solve.rs); the others are in peer.py. Each runs in a separate process with one thread, and CPU
time is measured. FOLDER stores the scores. With --full, solvers also run at sizes that take minutes. The results are
printed and written to bench/results/peers.md.
"""

import datetime
import json
import os
import resource
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np

from files import cpu
from peer import BITS, CLASSES, scaled

HERE = Path(__file__).parent
PRIOR = np.array([0.5, 0.25, 0.125, 0.0625, 0.03125, 0.03125])
VARIANCE = 0.5
CHUNK = 100_000  # rows drawn at a time
MOST = 6_400_000
TRAINING = 10_000
MINUTES = 20  # after which a solver is stopped
QUICK = 5.0  # seconds, below which a solver runs three times

# Name in the table, package, sizes, additional sizes with --full, and bytes of memory needed for a number of rows.
PEERS = {
    "assignment": ("scipy `linear_sum_assignment`", "scipy", [1_000, 3_000], [10_000], lambda rows: 18 * rows**2),
    "highs": ("HiGHS, interior points", "highspy", [10_000, 100_000], [], lambda rows: 10_000 * rows),
    "pot": ("POT `emd`", "POT", [10_000, 100_000], [], lambda rows: 2_000 * rows),
    "or_tools": ("OR-tools min-cost flow", "ortools", [100_000, 1_000_000, MOST], [], lambda rows: 900 * rows),
    "svc": ("scikit-learn LinearSVC, learned", "scikit-learn", [1_000_000, MOST], [], lambda rows: 200 * rows),
    "polars": ("polars, argmax", "polars", [1_000_000, MOST], [], lambda rows: 150 * rows),
    "numpy": ("numpy, argmax", "numpy", [1_000_000, MOST], [], lambda rows: 100 * rows),
}
HEURISTIC, ARGMAX = {"svc"}, {"polars", "numpy"}

TOLERANCE = 1e-7  # stopping tolerance of floating-point solvers, per score


def main():
    solve, folder, full = Path(sys.argv[1]).resolve(), Path(sys.argv[2]), "--full" in sys.argv[3:]
    folder.mkdir(parents=True, exist_ok=True)
    scores = folder / f"normal-{MOST}.f32"
    if not scores.exists():
        make(scores)
    our_side(solve, scores, folder, TRAINING, "match")["labels"].tofile(folder / "training.u8")
    measured = []
    for rows in sorted({rows for _, _, some, more, _ in PEERS.values() for rows in some + more * full}):
        measured += at_size(solve, scores, folder, rows, full)
    text = report(measured)
    print(text)
    (HERE / "results").mkdir(exist_ok=True)
    (HERE / "results" / "peers.md").write_text(text)


def make(path):
    """The paper's normal simulation, from a seed. Fewer rows are the beginning of more."""
    partial = path.with_suffix(".partial")
    with open(partial, "wb") as out:
        for chunk in range(MOST // CHUNK):
            draw = np.random.default_rng([1, chunk])
            truth = draw.choice(CLASSES, CHUNK, p=PRIOR)
            x = draw.normal(0.0, VARIANCE**0.5, (CHUNK, CLASSES))
            x[np.arange(CHUNK), truth] += 1.0
            weights = PRIOR * np.exp(x / VARIANCE)
            (weights / weights.sum(axis=1, keepdims=True)).astype("<f4").tofile(out)
    partial.rename(path)


def at_size(solve, scores, folder, rows, full):
    """Everyone who bears so many rows; ours first, for the others are held against it."""
    q = np.fromfile(scores, "<f4", rows * CLASSES).reshape(rows, CLASSES)
    peers = [peer for peer, (_, _, some, more, _) in PEERS.items() if rows in some + more * full]
    lines, ours = [], {}
    for rule in ["match"] + ["argmax"] * bool(ARGMAX & set(peers)):
        ours[rule] = our_side(solve, scores, folder, rows, rule)
        lines.append({"rows": rows, "name": f"**apportion, {rule}**", "times": 1.0, **ours[rule]})
    for peer in peers:
        name, *_, need = PEERS[peer]
        print(f"{rows:,} rows: {name}", file=sys.stderr, flush=True)
        found = run_peer(peer, scores, folder, rows, need(rows))
        if "seconds" in found:
            held_against = ours["argmax" if peer in ARGMAX else "match"]
            found["times"] = found["seconds"] / held_against["seconds"]
            found["answer"] = check(peer, found, q, held_against)
        lines.append({"rows": rows, "name": name, **found})
    return lines


def our_side(solve, scores, folder, rows, rule):
    rounds = max(9, min(99, 30_000_000 // rows))
    out = folder / f"ours-{rule}.u8"
    found = run([solve, rule, scores, str(rows), str(CLASSES), str(rounds), out])
    found.update(labels=np.fromfile(out, np.uint8), total=found["seconds"])
    if found["primal"] != found["dual"]:
        sys.exit(f"ours, {rows:,} rows: not proved optimal")
    found["answer"] = "optimal, proved" if rule == "match" else ""
    return found


def run_peer(peer, scores, folder, rows, need):
    """Measures another solver: one run, or the median of three if it is fast."""
    if (there := available()) < need:
        return {"answer": f"not run: it needs {need / 2**30:.0f} GiB of memory; {there / 2**30:.0f} GiB are free"}
    out = folder / "labels.u8"
    command = [sys.executable, HERE / "peer.py", peer, scores, str(rows), out]
    command += [folder / "training.u8"] if peer in HEURISTIC else []
    rounds = [run(command, memory=there)]
    if rounds[0].get("seconds", QUICK) < QUICK:
        rounds += [run(command, memory=there) for _ in range(2)]
    if all("seconds" in found for found in rounds):
        found = sorted(rounds, key=lambda found: found["seconds"])[len(rounds) // 2]
        return {**found, "labels": np.fromfile(out, np.uint8)}
    return rounds[0]


def run(command, memory=None):
    """Runs a process with one thread and an optional memory limit, and parses its JSON output."""
    one = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS", "RAYON_NUM_THREADS"]
    limit = (lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory))) if memory else None
    try:
        done = subprocess.run(
            command,
            env=os.environ | dict.fromkeys(one, "1"),
            stdout=subprocess.PIPE,
            timeout=60 * MINUTES,
            preexec_fn=limit,
            check=True,
        )
    except subprocess.TimeoutExpired:
        return {"answer": f"no result in {MINUTES} minutes"}
    except subprocess.CalledProcessError:
        sys.exit(f"{' '.join(map(str, command))}: failed")
    return json.loads(done.stdout)


def available():
    """Returns the available memory in bytes."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def check(peer, found, q, ours):
    """Describes a result relative to ours. Exits if one of the two must be wrong."""
    labels, rows = found["labels"], len(q)
    agree = np.mean(labels == ours["labels"])
    counts = np.bincount(labels, minlength=CLASSES)
    if peer in ARGMAX:
        return "the same labels" if agree == 1.0 else sys.exit(f"{peer}, {rows:,} rows: different labels")
    if peer in HEURISTIC:
        off = np.abs(counts - np.array(ours["counts"])).sum() / rows
        return f"{agree:.2%} of labels agree; counts off by {off:.2%} in total"
    if list(counts) != ours["counts"] or found["targets"] != ours["counts"]:
        sys.exit(f"{peer}, {rows:,} rows: different counts: {list(counts)}, ours {ours['counts']}")
    lacks = ours["primal"] - value(q, labels)
    if not 0 <= lacks <= allowance(rows, found.get("bits")):
        sys.exit(f"{peer}, {rows:,} rows: the sum of scores is {lacks / 2**BITS} below ours")
    return "the same optimum" if lacks == 0 else f"the same optimum up to {lacks / 2**BITS:.1e} of {rows:,}"


def allowance(rows, bits):
    """Returns how far the sum of scores may be below the exact optimum, in units of the grid."""
    if bits is None:  # a solver in floating point
        return rows * TOLERANCE * 2**BITS
    return 0 if bits == BITS else rows * 2 ** (BITS - bits)  # half a unit of the coarser grid, there and back


def value(q, labels):
    """Returns the exact sum of the scores of the labels in units of the grid: 64 bits suffice for eight million rows."""
    return int(scaled(np.take_along_axis(q, labels[:, None], axis=1), BITS).sum())


def report(measured):
    level = next(line["level"] for line in measured if "level" in line)
    packages = ", ".join(sorted(f"{package} {version(package)}" for _, package, *_ in PEERS.values()))
    lines = [
        f"The paper's normal simulation at variance {VARIANCE}: {CLASSES} classes, single precision, in memory.",
        "CPU seconds of one thread, which other load on the machine hardly affects. Our times, and other times below",
        f"{QUICK:.0f} seconds, are medians. \"times ours\" is relative to our match or, for argmax, to our argmax. \"with set-up\"",
        f"includes loading the package and building the problem. {datetime.date.today()}, {cpu()}, {level}.",
        f"{packages}.",
        "",
        "| rows | solver | CPU seconds | times ours | with set-up, s | peak memory, MiB | answer |",
        "|---:|---|---:|---:|---:|---:|---|",
    ]
    for line in measured:
        figures = ["", "", "", ""]
        if "seconds" in line:
            memory = f"{line['peak_kib'] / 1024:,.0f}" if line["peak_kib"] else ""
            figures = [figure(line["seconds"]), figure(line["times"]), figure(line["total"]), memory]
        lines.append(f"| {line['rows']:,} | {line['name']} | {' | '.join(figures)} | {line['answer']} |")
    return "\n".join(lines) + "\n"


def figure(value):
    """Three digits that count."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}" if value >= 1e-3 else f"{value:.6f}"


if __name__ == "__main__":
    main()
