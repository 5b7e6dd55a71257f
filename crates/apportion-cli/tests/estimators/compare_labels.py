"""Means by label: weighted means with robust (HC0) errors, Wilson intervals of rates, and Newcombe intervals of gaps."""

import numpy
import statsmodels.api as sm
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from common import CLASSES, Comparison, disparity, estimates, people


def compare(program, folder):
    comparison, frame = Comparison(), people()
    for outcome in ["voted", "price"]:
        for weight in [None, "weight"]:
            args = ["--outcome", outcome, "--label", "label"] + (["--weight", weight] if weight else [])
            response = disparity(program, folder, frame, *args)
            found, pairs = estimates(response, "your labels")
            assert (response["weight"] is None) == (weight is None)
            if weight:
                comparison.equal("sum of weights", response["weight"]["sum"], frame[weight].sum())
            dummies = numpy.array([[float(label == name) for name in CLASSES] for label in frame["label"]])
            weights = frame[weight] if weight else numpy.ones(len(frame))
            fit = sm.WLS(frame[outcome].to_numpy(), dummies, weights=weights).fit(cov_type="HC0")
            # The sample size with the same error. Without weights, it is the number of people.
            sizes = {}
            for index, name in enumerate(CLASSES):
                what = f"labels, {outcome}, {weight}, {name}"
                rate, error = fit.params[index], fit.bse[index]
                comparison.equal(what, found[name]["estimate"], rate)
                comparison.equal(f"{what}: error", found[name]["error"], error)
                if outcome == "voted":
                    sizes[name] = rate * (1 - rate) / error**2
                    low, high = proportion_confint(rate * sizes[name], sizes[name], method="wilson")
                    comparison.equal(f"{what}: low", found[name]["interval"]["low"], low)
                    comparison.equal(f"{what}: high", found[name]["interval"]["high"], high)
                    if weight is None:
                        people_with_label = (frame["label"] == name).sum()
                        comparison.equal(f"{what}: n", sizes[name], people_with_label)
            for (one, other), pair in pairs.items():
                what = f"labels, {outcome}, {weight}, {one} − {other}"
                rates = [fit.params[CLASSES.index(name)] for name in (one, other)]
                comparison.equal(what, pair["difference"], rates[0] - rates[1], abs(rates[0]))
                if outcome == "voted":
                    counts = [rate * sizes[name] for rate, name in zip(rates, (one, other), strict=True)]
                    low, high = confint_proportions_2indep(
                        counts[0], sizes[one], counts[1], sizes[other], method="newcomb", compare="diff"
                    )
                    comparison.equal(f"{what}: low", pair["interval"]["low"], low, 1.0)
                    comparison.equal(f"{what}: high", pair["interval"]["high"], high, 1.0)
    return comparison.count
