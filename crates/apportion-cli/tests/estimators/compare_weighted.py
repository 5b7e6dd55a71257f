"""The weighted estimator: weighted least squares on data in which each person enters once per class, with weight w q, and
errors clustered by person."""

import numpy
import statsmodels.api as sm

from common import CLASSES, SCORES, Comparison, disparity, estimates, people


def compare(program, folder):
    comparison, frame = Comparison(), people()
    size = len(CLASSES)
    for outcome in ["voted", "price"]:
        for weight in [None, "weight"]:
            args = ["--outcome", outcome] + (["--weight", weight] if weight else [])
            found, pairs = estimates(disparity(program, folder, frame, *args), "weighted")
            weights = frame[SCORES].to_numpy() * (frame[weight].to_numpy()[:, None] if weight else 1.0)
            dummies = numpy.tile(numpy.eye(size), (len(frame), 1))
            person = numpy.repeat(numpy.arange(len(frame)), size)
            model = sm.WLS(numpy.repeat(frame[outcome].to_numpy(), size), dummies, weights=weights.ravel())
            options = {"groups": person, "use_correction": False, "df_correction": False}
            fit = model.fit(cov_type="cluster", cov_kwds=options)
            for index, name in enumerate(CLASSES):
                what = f"weighted, {outcome}, {weight}, {name}"
                comparison.equal(what, found[name]["estimate"], fit.params[index])
                comparison.equal(f"{what}: error", found[name]["error"], fit.bse[index])
                total = weights[:, index].sum()
                comparison.equal(f"{what}: n", found[name]["effective_n"], total**2 / (weights[:, index] ** 2).sum())
            for (one, other), pair in pairs.items():
                contrast = numpy.eye(size)[CLASSES.index(one)] - numpy.eye(size)[CLASSES.index(other)]
                test = fit.t_test(contrast)
                what = f"weighted, {outcome}, {weight}, {one} − {other}"
                comparison.equal(what, pair["difference"], float(test.effect.item()), abs(fit.params[0]))
                comparison.equal(f"{what}: error", pair["error"], float(test.sd.item()))
    return comparison.count
