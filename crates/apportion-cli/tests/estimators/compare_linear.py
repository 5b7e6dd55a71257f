"""The linear estimator: weighted least squares of the outcome on the scores, with HC1 errors."""

import numpy
import statsmodels.api as sm

from common import CLASSES, SCORES, Comparison, disparity, estimates, people


def compare(program, folder):
    comparison, frame = Comparison(), people()
    size = len(CLASSES)
    for outcome in ["voted", "price"]:
        for weight in [None, "weight"]:
            args = ["--outcome", outcome] + (["--weight", weight] if weight else [])
            found, pairs = estimates(disparity(program, folder, frame, *args), "linear")
            # statsmodels counts people with weight 0 in n.
            sample = frame[frame[weight] > 0] if weight else frame
            weights = sample[weight] if weight else numpy.ones(len(sample))
            fit = sm.WLS(sample[outcome].to_numpy(), sample[SCORES].to_numpy(), weights=weights).fit(cov_type="HC1")
            for index, name in enumerate(CLASSES):
                what = f"linear, {outcome}, {weight}, {name}"
                comparison.equal(what, found[name]["estimate"], fit.params[index])
                comparison.equal(f"{what}: error", found[name]["error"], fit.bse[index])
                low, high = fit.conf_int()[index]
                comparison.equal(f"{what}: low", found[name]["interval"]["low"], low, abs(high))
                comparison.equal(f"{what}: high", found[name]["interval"]["high"], high, abs(high))
            for (one, other), pair in pairs.items():
                contrast = numpy.eye(size)[CLASSES.index(one)] - numpy.eye(size)[CLASSES.index(other)]
                test = fit.t_test(contrast)
                what = f"linear, {outcome}, {weight}, {one} − {other}"
                comparison.equal(what, pair["difference"], float(test.effect.item()), abs(fit.params[0]))
                comparison.equal(f"{what}: error", pair["error"], float(test.sd.item()))
    return comparison.count
