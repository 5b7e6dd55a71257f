"""Outputs in files: whether they are right (`verify`), how they were made (`provenance`), and the paper's results."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import _native
from ._decision import Decision
from ._frames import Files, as_input
from ._options import (
    Bounds,
    ClassMap,
    Columns,
    Encoding,
    FilePath,
    Learner,
    Paths,
    Penalty,
    Rule,
    Thresholds,
    UnknownGroups,
    suggests,
)
from ._results import Result, Row
from ._run import run
from ._tables import FILES, rest, rule as settings_of_rule


class Verification(Result):
    """The checks of an output. It is true if all checks that could be made passed.

    `details` is the complete result: the JSON of the command `verify`, whose keys docs/json.md describes. `to_arrow()` has a row
    per check: check, status ("verified", "different" or "not checked") and reason.

    >>> import apportion, pathlib, tempfile
    >>> import pyarrow.parquet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     scores, labels = pathlib.Path(folder) / "scores.parquet", pathlib.Path(folder) / "labels.parquet"
    ...     pyarrow.parquet.write_table(apportion.simulate_voters(1000, seed=1), scores)
    ...     verification = apportion.verify(apportion.label(scores, id="id", output=labels), scores)
    >>> bool(verification), verification.difference, verification[0]["status"]
    (True, None, 'verified')
    """

    _key = "check"

    def __init__(self, done: _native.Done) -> None:
        self.details: dict[str, Any] = done.result
        different = [] if self.verified else [f"different: {self.difference}"]
        self._text = "\n".join([*([done.text] if done.text else []), *different])

    @property
    def verified(self) -> bool:
        """Whether all checks that could be made passed."""
        return bool(self.details["verified"])

    @property
    def difference(self) -> str | None:
        """The first difference; None if all checks passed."""
        difference: str | None = self.details["difference"]
        return difference

    def __bool__(self) -> bool:
        return self.verified

    def _rows(self) -> list[Row]:
        own = self.details
        rows: list[Row] = [{"check": check, "status": "verified", "reason": None} for check in own["checks"]]
        if own["difference"] is not None:
            rows.append({"check": own["difference"], "status": "different", "reason": None})
        unchecked = own["not_checked"]
        return rows + [{"check": one["what"], "status": "not checked", "reason": one["why"]} for one in unchecked]


@suggests
def verify(
    output: Paths,
    against: Paths,
    *,
    decision: Decision | FilePath | None = None,
    provenance: FilePath | None = None,
    label: str | None = None,
    unknown_groups: UnknownGroups = "refuse",
    rule: Rule | None = None,
    by: Columns | None = None,
    reference: Any = None,
    training_shares: Any = None,
    gamma: float | None = None,
    penalty: Penalty | None = None,
    at: Thresholds | None = None,
    k: int | None = None,
    coverage: float | None = None,
    at_least: Bounds | None = None,
    at_most: Bounds | None = None,
    tolerance: float | None = None,
    nested: Columns | None = None,
    from_sample: int | None = None,
    learner: Learner | None = None,
    train_rows: int | None = None,
    draws: int | None = None,
    classes: Sequence[Any] | None = None,
    columns: Columns | None = None,
    id: str | None = None,
    count: str | None = None,
    truth: str | None = None,
    truth_map: ClassMap | None = None,
    truth_ethnicity: str | None = None,
    truth_exclude: Columns | None = None,
    only_with_truth: bool = False,
    skip_missing: bool = False,
    normalize: bool = False,
    encoding: Encoding = "auto",
    delimiter: str | None = None,
    sheet: str | None = None,
    max_line: str | int | None = None,
    batch_rows: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    memory: str | int | None = None,
    progress: bool | None = None,
) -> Verification:
    """Checks labels in a file against the scores that they were made from: rows, counts and optimality.

    The checks do not use the code that made the labels. Parquet and Arrow outputs contain how they were made; for others, give
    `provenance`, or the same options as for `label`.

    >>> import apportion, os, tempfile, pyarrow.parquet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     scores = os.path.join(folder, "scores.parquet")
    ...     pyarrow.parquet.write_table(apportion.simulate_voters(1000, seed=1), scores)
    ...     labels = apportion.label(scores, output=os.path.join(folder, "labels.parquet"), id="id")
    ...     verification = apportion.verify(labels, scores)
    ...     verification.verified, len(verification) > 3, apportion.provenance(labels)["options"]["id"]
    (True, True, 'id')

    Args:
        output: the file or folder that `label` or `Decision.apply` wrote.
        against: the scores: files, folders or globs.
        decision: the decision with the prices of the labels: a `Decision` or its file. Default: that in the provenance.
        provenance: the provenance of an output that does not contain it.
        label: the label column. Default: that in the provenance, or "label".
        unknown_groups: as for `Decision.apply`.
        by, reference, draws, count, id, truth: as for `label`, `draw` and `allot`, if they differ from the provenance. Columns
            are given by name.

    The other options are those of `label`.

    Returns:
        A `Verification`. A difference is a result, not an error.
    """
    given = dict(locals())
    names = ("by", "nested", "classes", "id", "count", "truth", "label", "memory", "provenance", "unknown_groups", "seed")
    reading = ("truth_map", "truth_ethnicity", "truth_exclude", "only_with_truth", "skip_missing", "normalize")
    values = {**rest(given, (*names, *reading, *FILES)), **settings_of_rule(given), "scores": columns}
    values |= {"output": _paths(output), "against": _paths(against)}
    is_decision = isinstance(decision, Decision)
    if not is_decision:
        values["decision"] = decision
    text = decision.to_json() if isinstance(decision, Decision) else None
    shares = {"reference": reference, "training_shares": training_shares}
    return Verification(run("verify", None, values, decision=text, threads=threads, progress=progress, **shares))


@suggests
def provenance(path: FilePath) -> dict[str, Any]:
    """Returns how an output was made: version, options, inputs with their SHA-256, counts and certificate.

    >>> import apportion
    >>> apportion.provenance("missing.parquet")
    Traceback (most recent call last):
    FileNotFoundError: missing.parquet: no such file; check the path

    Args:
        path: a Parquet or Arrow file, a decision, or a JSON file of provenance.

    Returns:
        The provenance, whose keys docs/json.md describes.
    """
    found: dict[str, Any] = run("provenance", None, {"inputs": _paths(path)[0]}).result
    return found


@suggests
def reproduce(
    output: FilePath,
    *,
    datasets: int = 100,
    rows: int = 5000,
    voters: int = 100_000,
    public: FilePath | None = None,
    seed: int = 0,
    overwrite: bool = False,
) -> Path:
    """Computes the simulations, figures and tables of the paper, and writes a page and the numbers to a folder.

    >>> import apportion, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = apportion.reproduce(os.path.join(folder, "paper"), datasets=1)
    Traceback (most recent call last):
    ValueError: datasets: it must be 2 or more

    Args:
        output: the folder.
        datasets: number of datasets to average over.
        rows: number of people in each dataset.
        voters: number of simulated voters for the tables.
        public: the public file of Greengard and Gelman, in place of simulated voters in their tables and figures.
        seed: seed.
        overwrite: whether to replace files in the folder.

    Returns:
        The folder. Steps go to the logger `apportion`.
    """
    values = {"output": os.fspath(output), "datasets": datasets, "rows": rows, "voters": voters, "public": public}
    return Path(run("reproduce", None, values | {"seed": seed, "force": overwrite}).result["written"])


def _paths(paths: Paths) -> list[str]:
    """Returns paths as text; they must exist."""
    source = as_input(paths)
    if not isinstance(source, Files):
        raise TypeError(f"the outputs and scores to check must be files, not {type(paths).__name__}")
    return source.names
