"""The data of the comparisons with statsmodels, and functions that run the program and compare numbers."""

import json
import subprocess

import numpy
import pandas

CLASSES = ["white", "black", "other"]
SCORES = [f"p_{name}" for name in CLASSES]


def people(rows=600, seed=1):
    """Returns people with scores, labels, survey weights, a rate and a number as outcomes; some weights are 0."""
    chance = numpy.random.default_rng(seed)
    scores = chance.dirichlet([2.0, 1.0, 0.6], rows)
    # Multiples of 2^-30, so that the scores of each row sum to exactly one, also on the program's grid.
    scores = numpy.round(scores * 2.0**30) / 2.0**30
    scores[:, 0] = 1.0 - scores[:, 1] - scores[:, 2]
    frame = pandas.DataFrame(scores, columns=SCORES)
    frame["label"] = [CLASSES[place] for place in scores.argmax(axis=1)]
    frame["voted"] = (chance.random(rows) < 0.3 + 0.4 * scores[:, 0]).astype(int)
    frame["price"] = numpy.round(200 + 100 * scores[:, 1] + chance.normal(0, 40, rows), 2)
    frame["weight"] = numpy.round(chance.gamma(2.0, 0.7, rows) * (1 + frame["voted"]), 3)
    frame.loc[chance.random(rows) < 0.05, "weight"] = 0.0
    return frame


def disparity(program, folder, frame, *args):
    """Returns the response of `apportion disparity` for a table. Numbers keep all digits in the file."""
    frame.to_csv(folder / "people.csv", index=False, float_format="%.17g")
    command = [program, "disparity", "people.csv", *args, "--no-bootstrap", "--small-cells", "show", "--json", "--quiet"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"apportion {' '.join(map(str, command[1:]))}: {done.stderr}"
    return json.loads(done.stdout)


def estimates(response, name):
    """Returns the estimates of an estimator: by class, and the gap of each pair of classes."""
    own = next(own for own in response["estimators"] if own["name"] == name)["values"][0]
    pairs = {(pair["class"], pair["against"]): pair for pair in own["pairs"]}
    return {each["class"]: each for each in own["classes"]}, pairs


class Comparison:
    """Counts the numbers that are equal within a relative difference of 1e-9."""

    def __init__(self):
        self.count = 0

    def equal(self, what, found, expected, scale=None):
        size = max(abs(expected), abs(found)) if scale is None else scale
        assert abs(found - expected) <= 1e-9 * size, f"{what}: {found} and not {expected}"
        self.count += 1
