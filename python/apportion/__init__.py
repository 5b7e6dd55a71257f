"""Labels from class probabilities, with right counts: the exact optimum, with a proof.

A model predicts class probabilities for each person: 55% white, 40% Black, 5% other. If every person gets the most likely
class, the 40% has no effect on the counts. apportion chooses all labels jointly, so that the counts are right: they are the
counts that the scores sum to. Among all labels with these counts, it finds those with the highest expected accuracy:

>>> import apportion
>>> voters = apportion.simulate_voters(10_000, seed=1)      # a table with the columns p_white, p_black, …
>>> labels = apportion.label(voters)                         # the counts that the scores sum to
>>> argmax = apportion.label(voters, rule="argmax")
>>> before, after = (apportion.audit(voters, own).bias["black"] for own in (argmax, labels))
>>> bool(before < -0.01), bool(abs(after) < 0.0001)
(True, True)

`label` accepts arrays, pandas and polars data frames, pyarrow tables, DuckDB relations, and file paths. The other functions:

- `audit` measures the bias of existing labels.
- `compare` compares all rules.
- `disparity` compares an outcome between classes.
- `frontier` lists every optimal tradeoff between accuracy and fidelity.
- `fit` returns a `Decision`, which labels other rows or is exported as SQL.
- `calibrate` corrects scores with known truth.
- `predict` computes scores from names and places.
- `describe` shows what apportion recognizes in a frame or a file.
- `explain` shows the table rows and numbers behind the scores of one row.
- `verify` checks labels in files, and `provenance` shows how they were made.
- `tables` lists, exports, imports and checks the tables behind scores.
- `reproduce` computes the results of the paper.

`apportion.sklearn` provides the scikit-learn estimators `Apportioner` and `ApportionedClassifier`.

Labels are estimates about groups. To count people, you can also sum the scores themselves.
"""

from . import tables
from ._calibrate import calibrate
from ._decision import Decision, fit
from ._describe import Description, describe
from ._files import Verification, provenance, reproduce, verify
from ._labels import Certificate, Solution, allot, draw, label, solve
from ._native import __version__
from ._predict import Explanation, explain, predict
from ._run import DriftWarning
from ._simulate import simulate_categorical, simulate_normal, simulate_voters, simulate_worst_case
from ._views import Audit, Comparison, Disparity, Frontier, audit, compare, disparity, frontier

__all__ = [
    "Audit",
    "Certificate",
    "Comparison",
    "Decision",
    "Description",
    "Disparity",
    "DriftWarning",
    "Explanation",
    "Frontier",
    "Solution",
    "Verification",
    "__version__",
    "allot",
    "audit",
    "calibrate",
    "compare",
    "describe",
    "disparity",
    "draw",
    "explain",
    "fit",
    "frontier",
    "label",
    "predict",
    "provenance",
    "reproduce",
    "simulate_categorical",
    "simulate_normal",
    "simulate_voters",
    "simulate_worst_case",
    "solve",
    "tables",
    "verify",
]
