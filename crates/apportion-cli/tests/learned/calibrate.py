"""Compares `apportion calibrate` with scikit-learn and SciPy, on rows whose scores are off in a known way.

    python calibrate.py PATH/TO/apportion

The logistic calibration must be at the minimum that SciPy finds for the documented objective, and close to scikit-learn's
regression without a penalty, which it approaches with many rows. Isotonic curves must be those of IsotonicRegression. The
scores of a row in a file that is fitted and corrected at once must come from a model fitted without its fold.
"""

import csv
import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss

CLASSES = ["a", "b", "c", "d"]
ROWS = 20_000
FLOOR = 1e-6


def simulate(chance, rows):
    """Returns overconfident scores, some of them zero, and the truth."""
    logits = chance.normal(0, 1.5, (rows, len(CLASSES))) + [1.0, 0.0, -0.5, -1.0]
    truth = numpy.array([chance.choice(len(CLASSES), p=each) for each in softmax(logits, axis=1)])
    scores = softmax(1.7 * logits + [0.0, 0.4, 0.0, -0.4], axis=1)
    scores[scores < 1e-4] = 0.0
    return scores / scores.sum(axis=1, keepdims=True), truth


def logistic(scores, truth):
    """Returns the minimum of the documented objective: weights, then intercepts that sum to zero."""
    x, k = numpy.log(numpy.maximum(scores, FLOOR)), len(CLASSES)
    identity, one_hot = numpy.eye(k), numpy.eye(k)[truth]

    def objective(point):
        weights, intercepts = point[:-k].reshape(k, k), point[-k:]
        logs = log_softmax(x @ weights.T + intercepts, axis=1)
        residuals = numpy.exp(logs) - one_hot
        value = 0.5 * ((weights - identity) ** 2).sum() - logs[numpy.arange(len(truth)), truth].sum()
        slope = residuals.T @ x + weights - identity
        return value, numpy.concatenate([slope.ravel(), residuals.sum(axis=0)])

    start = numpy.concatenate([identity.ravel(), numpy.zeros(k)])
    options = {"maxiter": 100_000, "maxfun": 1_000_000, "ftol": 1e-15, "gtol": 1e-7, "maxcor": 50}
    point = minimize(objective, start, jac=True, method="L-BFGS-B", options=options).x
    weights, intercepts = point[:-k].reshape(k, k), point[-k:]
    return weights, intercepts - intercepts.mean()


def isotonic(scores, truth, rows):
    """Returns the calibrated scores of `rows`."""
    values = numpy.empty_like(rows)
    for place in range(len(CLASSES)):
        model = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
        values[:, place] = model.fit(scores[:, place], truth == place).predict(rows[:, place])
    sums = values.sum(axis=1, keepdims=True)
    return numpy.where(sums > 0, values / numpy.where(sums > 0, sums, 1), rows)


def main():
    program = Path(sys.argv[1]).resolve()
    chance = numpy.random.default_rng(7)
    (scores, truth), (others, others_truth) = simulate(chance, ROWS), simulate(chance, 5000)
    failures = []

    def compare(what, found, expected, near):
        apart = abs(numpy.asarray(found) - expected).max()
        print(f"{what}: the largest difference is {apart:.1e}")
        if not apart <= near:
            failures.append(f"{what}: the largest difference is {apart:.1e}, not {near:.0e}")

    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)

        def apportion(*args):
            done = subprocess.run([program, *args], cwd=folder, capture_output=True, text=True)
            assert done.returncode == 0, f"apportion {' '.join(args)}: {done.stderr}"
            return json.loads(done.stdout) if "--json" in args else None

        def read(name):
            with open(folder / name, newline="") as file:
                return numpy.array([[float(row[f"p_{each}"]) for each in CLASSES] for row in csv.DictReader(file)])

        for name, rows, classes in [("fit.csv", scores, truth), ("others.csv", others, others_truth)]:
            with open(folder / name, "w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(["id", "race", *(f"p_{each}" for each in CLASSES)])
                writer.writerows([place, CLASSES[own], *row] for place, (own, row) in enumerate(zip(classes, rows.tolist())))

        for method in ["logistic", "isotonic"]:
            fit = ["--truth", "race", "--id", "id", "--method", method, "--save", f"{method}.json"]
            apportion("calibrate", "fit.csv", *fit, "-o", "fitted.csv", "--force", "-q")
            measured = apportion("calibrate", "others.csv", "--calibration", f"{method}.json", "--truth", "race",
                                 "-o", f"{method}.csv", "--json", "-q")
            found = read(f"{method}.csv")
            compare(f"{method}: log loss", measured["after"]["log_loss"],
                    -numpy.log(numpy.maximum(found[range(len(others)), others_truth], FLOOR)).mean(), 1e-9)
            for place, own in enumerate(measured["after"]["classes"]):
                compare(f"{method}: Brier score of {own['class']}", own["brier"],
                        brier_score_loss(others_truth == place, found[:, place]), 1e-9)
            model = json.loads((folder / f"{method}.json").read_text())["model"]
            fitted = read("fitted.csv")
            if method == "isotonic":
                # Scores are rounded to 2^-40, which matters between points of a curve that are close to each other.
                compare("isotonic: scores of other rows", found, isotonic(scores, truth, others), 1e-6)
                continue
            weights, intercepts = logistic(scores, truth)
            compare("logistic: weights of SciPy", model["weights"], weights, 1e-4)
            compare("logistic: intercepts of SciPy", model["intercepts"], intercepts, 1e-4)
            logs = numpy.log(numpy.maximum(others, FLOOR))
            compare("logistic: scores of other rows", found, softmax(logs @ weights.T + intercepts, axis=1), 1e-5)
            peer = LogisticRegression(C=numpy.inf, tol=1e-10, max_iter=100_000, solver="newton-cholesky")
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # a model that has not converged proves nothing
                peer.fit(numpy.log(numpy.maximum(scores, FLOOR)), truth)
            compare("logistic: scores of scikit-learn without a penalty", found, peer.predict_proba(logs), 5e-3)
            compare("logistic: mean scores and truth", fitted.mean(axis=0),
                    numpy.bincount(truth, minlength=len(CLASSES)) / ROWS, 1e-3)

            # The rows of one fold share a model: without them, it is fitted again by SciPy.
            x, logits = numpy.log(numpy.maximum(scores, FLOOR)), numpy.log(fitted)
            own = logits - logits.mean(axis=1, keepdims=True)
            all_rows = x @ weights.T + intercepts
            offsets = own - (all_rows - all_rows.mean(axis=1, keepdims=True))
            assert abs(offsets).max() > 1e-6, "rows were corrected by the model that was fitted to them"
            fold = [int(each) for each in folds(range(ROWS))]
            for each in range(5):
                inside = numpy.array(fold) == each
                own_weights, own_intercepts = logistic(scores[~inside], truth[~inside])
                expected = softmax(x[inside] @ own_weights.T + own_intercepts, axis=1)
                compare(f"logistic: scores of fold {each}, {inside.sum():,} rows", fitted[inside], expected, 1e-5)
    sys.exit("\n".join(["failed", *failures]) if failures else None)


def folds(ids):
    """Returns the fold of each ID: the hash of crates/apportion/src/seed.rs."""
    most = 2**64 - 1

    def mix(value):
        value = (value + 0x9E3779B97F4A7C15) & most
        value = ((value ^ value >> 30) * 0xBF58476D1CE4E5B9) & most
        value = ((value ^ value >> 27) * 0x94D049BB133111EB) & most
        return value ^ value >> 31

    for each in ids:
        key = 0xCBF29CE484222325
        for byte in str(each).encode():
            key = ((key ^ byte) * 0x100000001B3) & most
        salted = mix((mix(0x6A09E667F3BCC908) + mix(key)) & most) ^ (0x666F6C64 * 0x9E3779B97F4A7C15) & most
        yield mix(salted) * 5 >> 64


if __name__ == "__main__":
    main()
