"""Compares `--reference em` and `--reference pacc` with plain implementations, on people whose class shares are shifted.

    python prior_shift.py PATH/TO/apportion

The scores are exact for a population with other class shares than the people of the file. `em` must be the limit of the steps
of Saerens, Latinne and Decaestecker (2002), and `pacc` the minimum that SciPy finds. Both must be near the true shares.
"""

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
from scipy.optimize import minimize

CLASSES = ["a", "b", "c", "d"]
TRAINING = numpy.array([0.5, 0.25, 0.15, 0.1])
SHIFTED = numpy.array([0.2, 0.3, 0.15, 0.35])
ROWS, KNOWN, VARIANCE = 5_000, 1_000, 0.5


def simulate(chance):
    truth = chance.choice(len(CLASSES), size=ROWS, p=SHIFTED)
    points = numpy.eye(len(CLASSES))[truth] + chance.normal(0, VARIANCE**0.5, (ROWS, len(CLASSES)))
    weights = TRAINING * numpy.exp(points / VARIANCE)
    return weights / weights.sum(axis=1, keepdims=True), truth


def em(scores):
    """Repeats the two steps until nothing changes."""
    shares = TRAINING
    while True:
        adjusted = scores * shares / TRAINING
        adjusted /= adjusted.sum(axis=1, keepdims=True)
        before, shares = shares, adjusted.mean(axis=0)
        if abs(shares - before).max() < 1e-15:
            return shares


def pacc(scores, truth):
    """Minimizes the squared error over shares; `truth` is known for the first rows."""
    known = scores[: len(truth)]
    matrix = numpy.column_stack([known[truth == own].mean(axis=0) for own in range(len(CLASSES))])
    means = scores.mean(axis=0)
    start = numpy.full(len(CLASSES), 1 / len(CLASSES))
    whole = {"type": "eq", "fun": lambda shares: shares.sum() - 1}
    found = minimize(lambda shares: 1e4 * ((matrix @ shares - means) ** 2).sum(), start, bounds=[(0, 1)] * len(CLASSES),
                     constraints=whole, method="SLSQP", options={"ftol": 1e-16, "maxiter": 1000})
    return found.x


def main():
    program = Path(sys.argv[1]).resolve()
    scores, truth = simulate(numpy.random.default_rng(5))
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        with open(folder / "people.csv", "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["id", "known", *(f"p_{each}" for each in CLASSES)])
            for place, (own, row) in enumerate(zip(truth, scores.tolist())):
                writer.writerow([place, CLASSES[own] if place < KNOWN else "", *row])
        shares = "".join(f"{name},{share}\n" for name, share in zip(CLASSES, TRAINING))
        (folder / "training.csv").write_text(f"class,share\n{shares}")
        for name, expected, options in [
            ("em", em(scores), ["--training-shares", "training.csv"]),
            ("pacc", pacc(scores, truth[:KNOWN]), ["--truth", "known"]),
        ]:
            line = [program, "label", "people.csv", "--id", "id", "--reference", name, *options, "-o", f"{name}.csv"]
            done = subprocess.run([*line, "--json", "-q"], cwd=folder, capture_output=True, text=True)
            assert done.returncode == 0, f"{name}: {done.stderr}"
            found = numpy.array(json.loads(done.stdout)["reference_shares"])
            apart, off = abs(found - expected).max(), abs(found - SHIFTED).max()
            print(f"{name}: the largest difference is {apart:.1e} from the plain implementation and {off:.3f} from the truth")
            if not (apart < 1e-6 and off < 0.06):
                failures.append(f"{name}: {found}, not {expected}")
    sys.exit("\n".join(["failed", *failures]) if failures else None)


if __name__ == "__main__":
    main()
