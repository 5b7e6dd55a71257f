"""Labels from probabilities, with the counts kept right: the exact optimum, with its proof.

A model says of each person: 55% white, 40% Black, 5% other. Taking the likeliest class loses most of the 40%. Labels that are
chosen jointly keep the counts right, at the least possible cost in accuracy:

>>> import apportion
>>> voters = apportion.simulate_voters(10_000, seed=1)      # a table with the columns p_white, p_black, …
>>> labels = apportion.label(voters)                         # counts as the scores say
>>> argmax = apportion.label(voters, rule="argmax")
>>> before, after = (apportion.audit(voters, own).bias["black"] for own in (argmax, labels))
>>> bool(before < -0.01), bool(abs(after) < 0.0001)
(True, True)

`label` takes arrays, frames of pandas and polars, tables of pyarrow, relations of DuckDB, and paths of files. `audit` says how
far labels that exist already are off; `compare` sets rules side by side; `disparity` compares an
outcome between classes; `frontier` lists every optimal trade; `fit` gives a
`Decision` that labels further rows, or prints as SQL. For scikit-learn there are `apportion.sklearn.Apportioner` and
`ApportionedClassifier`.

Labels are estimates about groups. Where the scores themselves can be used, use them.
"""

from ._decision import Decision, fit
from ._labels import Solution, allot, draw, label, solve
from ._native import __version__
from ._predict import predict
from ._simulate import simulate_categorical, simulate_normal, simulate_voters, simulate_worst_case
from ._views import Audit, Comparison, Disparity, Frontier, audit, compare, disparity, frontier

__all__ = [
    "Audit",
    "Comparison",
    "Decision",
    "Disparity",
    "Frontier",
    "Solution",
    "__version__",
    "allot",
    "audit",
    "compare",
    "disparity",
    "draw",
    "fit",
    "frontier",
    "label",
    "predict",
    "simulate_categorical",
    "simulate_normal",
    "simulate_voters",
    "simulate_worst_case",
    "solve",
]
