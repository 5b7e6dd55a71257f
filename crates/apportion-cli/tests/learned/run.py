"""Compares `--rule learned` with scikit-learn, trained on the same batch and labels, by the share of rows that agree.

    python run.py PATH/TO/apportion

The scores are those of the paper's simulation with six classes at variance 0.5. The batch is labeled by `apportion label`
(match), scikit-learn's models are trained on these labels, and both label new rows. The linear models have a unique
optimum, so their weights must also be equal; forests differ by seed.
"""

import csv
import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

PRIOR = numpy.array([1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 32])
CLASSES = [f"c{place}" for place in range(len(PRIOR))]
VARIANCE = 0.5
BATCH, ROWS = 10_000, 100_000
# scikit-learn's learners must also reach their optimum; their defaults stop earlier.
PEERS = {
    "svm": (LinearSVC(C=100, tol=1e-10, max_iter=1_000_000), 0.995, 1e-4),
    "logistic": (LogisticRegression(C=100, tol=1e-10, max_iter=1_000_000, solver="newton-cholesky"), 0.995, 1e-4),
    "forest": (RandomForestClassifier(random_state=1, n_jobs=-1), 0.98, None),
}


def simulate(chance, rows):
    truth = chance.choice(len(PRIOR), size=rows, p=PRIOR)
    points = numpy.eye(len(PRIOR))[truth] + chance.normal(0, VARIANCE**0.5, (rows, len(PRIOR)))
    weights = PRIOR * numpy.exp(points / VARIANCE)
    return weights / weights.sum(axis=1, keepdims=True)


def main():
    program = Path(sys.argv[1]).resolve()
    chance = numpy.random.default_rng(1)
    batch, rows = simulate(chance, BATCH), simulate(chance, ROWS)
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)

        def apportion(*args):
            done = subprocess.run([program, *args, "-q"], cwd=folder, capture_output=True, text=True)
            assert done.returncode == 0, f"apportion {' '.join(args)}: {done.stderr}"

        def labels(name):
            with open(folder / name, newline="") as file:
                return numpy.array([CLASSES.index(row["label"]) for row in csv.DictReader(file)])

        for name, scores in [("batch.csv", batch), ("rows.csv", rows)]:
            with open(folder / name, "w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(["id", *(f"p_{each}" for each in CLASSES)])
                writer.writerows([place, *row] for place, row in enumerate(scores.tolist()))
        apportion("label", "batch.csv", "--id", "id", "-o", "matched.csv")
        apportion("label", "rows.csv", "--id", "id", "-o", "exact.csv")
        lesson, exact = labels("matched.csv"), labels("exact.csv")
        for learner, (peer, least, near) in PEERS.items():
            fit = ["--rule", "learned", "--learner", learner, "--train-rows", str(BATCH)]
            apportion("fit", "batch.csv", "--id", "id", *fit, "-o", f"{learner}.json")
            apportion("apply", "rows.csv", "--id", "id", "--decision", f"{learner}.json", "-o", f"{learner}.csv")
            ours = labels(f"{learner}.csv")
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # a model that has not converged proves nothing
                theirs = peer.fit(batch, lesson).predict(rows)
            same, ours_exact, theirs_exact = (ours == theirs).mean(), (ours == exact).mean(), (theirs == exact).mean()
            print(f"{learner}: {same:.3%} of {ROWS:,} labels as scikit-learn's; as match has them: {ours_exact:.2%}, "
                  f"scikit-learn's {theirs_exact:.2%}")
            if same < least:
                failed = True
                print(f"FAILED: {learner}: {same:.3%} of the labels are the same, not {least:.1%}")
            if near is None:
                continue
            planes = json.loads((folder / f"{learner}.json").read_text())["rule"]["learned"]["planes"]
            found = numpy.array([[*plane["weights"], plane["intercept"]] for plane in planes])
            expected = numpy.column_stack([peer.coef_, peer.intercept_])
            if learner == "logistic":  # adding a constant to all intercepts changes nothing
                found[:, -1] -= found[:, -1].mean()
                expected[:, -1] -= expected[:, -1].mean()
            apart = abs(found - expected).max() / abs(expected).max()
            print(f"{learner}: weights differ by {apart:.1e} of the largest")
            if apart > near:
                failed = True
                print(f"FAILED: {learner}: the weights differ:\n{found}\n{expected}")
    sys.exit("failed" if failed else None)


if __name__ == "__main__":
    main()
