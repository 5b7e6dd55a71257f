"""Regressions with controls: OLS, Logit, weighted least squares on data in which each person enters once per class, and
Rubin's rules by hand on the draws of `apportion label --rule thompson`."""

import json
import subprocess
import warnings

import numpy
import pandas
import statsmodels.api as sm
from scipy import stats

CLASSES = ["white", "black", "other"]
SCORES = [f"p_{name}" for name in CLASSES]
DRAWS = 20
TOLERANCE = 1e-8


def people(rows=700, seed=5):
    """Returns people with scores, labels, controls, clusters and two outcomes; some controls are missing."""
    chance = numpy.random.default_rng(seed)
    scores = chance.dirichlet([2.0, 1.2, 0.7], rows)
    # Multiples of 2^-30, so that the scores of each row sum to exactly one, also on the program's grid.
    scores = numpy.round(scores * 2.0**30) / 2.0**30
    scores[:, 0] = 1.0 - scores[:, 1] - scores[:, 2]
    frame = pandas.DataFrame(scores, columns=SCORES)
    truth = numpy.array([chance.choice(3, p=row / row.sum()) for row in scores])
    frame["label"] = [CLASSES[place] for place in truth]
    frame["income"] = numpy.round(chance.normal(50_000, 15_000, rows), 2)
    frame["party"] = chance.choice(["blue", "gray", "red"], rows, p=[0.5, 0.2, 0.3])
    frame["county"] = [f"county {place}" for place in chance.integers(0, 35, rows)]
    signal = -0.8 * (truth == 1) + (frame["party"] == "red") + (frame["income"] - 50_000) / 20_000
    frame["voted"] = (chance.random(rows) < 1 / (1 + numpy.exp(-signal))).astype(int)
    frame["price"] = numpy.round(200 + 30 * signal + chance.normal(0, 40, rows), 3)
    frame.loc[chance.random(rows) < 0.03, "income"] = numpy.nan
    return frame


def run(program, folder, *args):
    done = subprocess.run([program, *args, "--quiet"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"apportion {' '.join(map(str, args))}: {done.stderr}"
    return done.stdout


def design(frame, classes):
    """Returns the regressors: intercept, classes except white, income, and parties except the most frequent."""
    parties = [(frame["party"] == name).to_numpy(float) for name in ["gray", "red"]]
    return numpy.column_stack([numpy.ones(len(frame)), classes[:, 1:], frame["income"] / 1000 - 50, *parties])


def fit_known(frame, outcome, model, labels, cluster):
    """Returns coefficients, errors and p-values with known classes."""
    x = design(frame, numpy.eye(3)[labels])
    y, n, k = frame[outcome].to_numpy(), len(frame), x.shape[1]
    groups = pandas.factorize(frame["county"])[0]
    if model == "linear":
        own = sm.OLS(y, x)
        if cluster:
            return own.fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True), 1.0
        return own.fit(cov_type="HC1", use_t=True), 1.0
    own, quiet = sm.Logit(y, x), {"disp": False, "method": "newton", "maxiter": 100, "tol": 1e-13}
    if cluster:
        return own.fit(cov_type="cluster", cov_kwds={"groups": groups}, **quiet), 1.0
    # For Logit, statsmodels leaves out the factor n / (n − k).
    return own.fit(cov_type="HC1", **quiet), numpy.sqrt(n / (n - k))


def fit_weighted(frame, outcome, model, cluster):
    """Returns the fit of data with a copy of each person per class; errors are clustered by person, or by county."""
    n = len(frame)
    copies = frame.loc[frame.index.repeat(3)]
    x = design(copies, numpy.tile(numpy.eye(3), (n, 1)))
    weights, y = frame[SCORES].to_numpy().ravel(), copies[outcome].to_numpy()
    groups = pandas.factorize(copies["county"])[0] if cluster else numpy.repeat(numpy.arange(n), 3)
    kwds = {"groups": groups, "use_correction": False}
    if model == "linear":
        fit = sm.WLS(y, x, weights=weights).fit(cov_type="cluster", cov_kwds=kwds, use_t=True)
    else:
        own = sm.GLM(y, x, family=sm.families.Binomial(), var_weights=weights)
        with warnings.catch_warnings():
            # statsmodels warns that it does not test errors with weights.
            warnings.simplefilter("ignore")
            fit = own.fit(cov_type="cluster", cov_kwds=kwds, tol=1e-14, maxiter=100)
    # The factors for n people rather than 3 n copies.
    k, g = x.shape[1], len(set(groups))
    factor = g / (g - 1) * (n - 1) / (n - k) if cluster else n / (n - k)
    return fit, numpy.sqrt(factor)


class Comparison:
    def __init__(self):
        self.count = 0

    def equal(self, what, found, expected):
        size = max(abs(expected), abs(found), 1e-12)
        assert abs(found - expected) <= TOLERANCE * size, f"{what}: {found} and not {expected}"
        self.count += 1

    def effect(self, what, found, value, error, freedom):
        self.equal(what, found["estimate"], value)
        self.equal(f"{what}: error", found["error"], error)
        p = 2 * stats.t.sf(abs(value / error), freedom)
        assert abs(found["p_value"] - p) <= 1e-6 * p + 1e-14, f"{what}: p-value {found['p_value']} and not {p}"
        half = stats.t.ppf(0.975, freedom) * error
        for end, expected in [("low", value - half), ("high", value + half)]:
            self.equal(f"{what}: {end}", found["interval"][end] - value, expected - value)
        self.count += 1


def average_effect(fit, scale, frame, classes, index):
    """Returns the average marginal effect of a class and its error by the delta method."""
    beta = numpy.asarray(fit.params)
    one, other = numpy.zeros((2, len(frame), 3))
    one[:, index] = 1
    parts = [design(frame, own) for own in (one, other)]
    means = [1 / (1 + numpy.exp(-part @ beta)) for part in parts]
    slopes = [(mean * (1 - mean)) @ part / len(frame) for mean, part in zip(means, parts)]
    slope = slopes[0] - slopes[1]
    variance = slope @ fit.cov_params() @ slope
    return float((means[0] - means[1]).mean()), scale * float(numpy.sqrt(variance))


def compare_case(program, folder, comparison, frame, outcome, model, cluster):
    args = ["--outcome", outcome, "--label", "label", "--controls", "income,party", "--against", "white"]
    args += ["--cluster", "county"] if cluster else []
    response = run(program, folder, "disparity", "people.csv", *args, "--regression", model, "--no-bootstrap", "--json")
    response = json.loads(response)["regressions"]
    used = frame[frame["income"].notna()].reset_index(drop=True)
    assert (response["people"], response["left_out"]) == (len(used), len(frame) - len(used))
    found = {own["name"]: own for own in response["estimators"]}
    n, g = len(used), used["county"].nunique()
    freedom = numpy.inf if model == "logistic" else g - 1 if cluster else n - 6
    labels = used["label"].map(CLASSES.index).to_numpy()
    fits = {"your labels": fit_known(used, outcome, model, labels, cluster)}
    fits["weighted"] = fit_weighted(used, outcome, model, cluster)
    if model == "linear":
        x = design(used, used[SCORES].to_numpy())
        groups = pandas.factorize(used["county"])[0]
        kind = {"cov_type": "cluster", "cov_kwds": {"groups": groups}} if cluster else {"cov_type": "HC1"}
        fits["linear"] = sm.OLS(used[outcome].to_numpy(), x).fit(**kind), 1.0
    for name, (fit, scale) in fits.items():
        what = f"{name}, {outcome}, {model}, cluster {cluster}"
        errors = scale * numpy.asarray(fit.bse)
        if name == "your labels" and model == "linear":
            for index in (1, 2):
                p = found[name]["classes"][index]["gap"]["p_value"]
                assert abs(p - fit.pvalues[index]) <= 1e-6 * p, f"{what}: p-value {p} and not {fit.pvalues[index]}"
        for index in (1, 2):
            own = found[name]["classes"][index]
            coefficient = own["gap"] if model == "linear" else own["log_odds"]
            comparison.effect(f"{what}, {CLASSES[index]}", coefficient, fit.params[index], errors[index], freedom)
            if model == "logistic":
                comparison.equal(f"{what}: odds", own["odds_ratio"]["ratio"], numpy.exp(fit.params[index]))
                value, error = average_effect(fit, scale, used, labels, index)
                comparison.effect(f"{what}: average effect", own["gap"], value, error, freedom)
        for place, divisor in enumerate([1000, 1, 1]):
            effect = found[name]["controls"][place]["effect"]
            index = 3 + place
            comparison.effect(
                f"{what}, control {place}", effect, fit.params[index] / divisor, errors[index] / divisor, freedom
            )
    compare_imputed(comparison, folder, used, outcome, model, cluster, found["imputed"], freedom)


def compare_imputed(comparison, folder, used, outcome, model, cluster, found, complete):
    """Compares with Rubin's rules on the draws, and the degrees of freedom of Barnard and Rubin."""
    drawn = pandas.read_csv(folder / "drawn.csv")
    drawn = drawn[drawn["income"].notna()]
    fits = []
    for draw in range(DRAWS):
        labels = drawn[f"label_{draw + 1}"].map(CLASSES.index).to_numpy()
        fit, scale = fit_known(used, outcome, model, labels, cluster)
        fits.append((numpy.asarray(fit.params), scale * numpy.asarray(fit.bse)))
    values, errors = (numpy.array(own) for own in zip(*fits))
    for index in (1, 2):
        within, between = (errors[:, index] ** 2).mean(), (1 + 1 / DRAWS) * values[:, index].var(ddof=1)
        total = within + between
        share = between / total
        freedom = (DRAWS - 1) / share**2
        if numpy.isfinite(complete):
            observed = (complete + 1) / (complete + 3) * complete * (1 - share)
            freedom = 1 / (1 / freedom + 1 / observed)
        own = found["classes"][index]["gap" if model == "linear" else "log_odds"]
        what = f"imputed, {outcome}, {model}, cluster {cluster}, {CLASSES[index]}"
        comparison.effect(what, own, values[:, index].mean(), numpy.sqrt(total), freedom)


def compare(program, folder):
    comparison, frame = Comparison(), people()
    frame.to_csv(folder / "people.csv", index=False, float_format="%.17g")
    draws = ["--rule", "thompson", "--draws", str(DRAWS), "--seed", "0"]
    frame.drop(columns="label").to_csv(folder / "unlabeled.csv", index=False, float_format="%.17g")
    run(program, folder, "label", "unlabeled.csv", "-o", "drawn.csv", *draws)
    for outcome, model in [("price", "linear"), ("voted", "linear"), ("voted", "logistic")]:
        for cluster in [False, True]:
            compare_case(program, folder, comparison, frame, outcome, model, cluster)
    return comparison.count
