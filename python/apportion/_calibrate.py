"""Calibration: corrects scores with known truth."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from ._frames import Files
from ._labels import Column
from ._run import run
from ._tables import Encoding, table


def calibrate(
    scores: Any,
    truth: Column | None = None,
    *,
    method: Literal["logistic", "isotonic"] | None = None,
    calibration: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    by: Column | None = None,
    id: Column | None = None,
    count: Column | None = None,
    classes: Sequence[Any] | None = None,
    columns: Sequence[str] | None = None,
    truth_map: Any = None,
    truth_ethnicity: Column | None = None,
    truth_exclude: Sequence[str] | None = None,
    skip_missing: bool = False,
    normalize: bool = False,
    seed: int | None = None,
    summary: bool = False,
    output: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    encoding: Encoding | None = None,
    delimiter: str | None = None,
    sheet: str | None = None,
    threads: int | None = None,
    progress: bool | None = None,
) -> Any:
    """Corrects scores with known truth: among people with a score of 30%, 30% are then of the class.

    >>> import apportion
    >>> voters = apportion.simulate_voters(5_000, seed=1)
    >>> scores, result = apportion.calibrate(voters, truth="race", summary=True)
    >>> scores.column_names[:2], result["folds"], result["after"]["log_loss"] < 0.7
    (['p_white', 'p_black'], 5, True)
    >>> more = apportion.simulate_voters(5_000, seed=2)
    >>> corrected = apportion.calibrate(more, calibration=result["calibration"])

    Each row with known truth is corrected by a model that was fitted without its fold, one of five. Rows without truth are
    corrected by the model of all rows with truth.

    Args:
        scores: a frame, an array or the path of a file, together with `output`.
        truth: the true classes: the name of a column, or one value per row. Missing values are unknown. Required unless
            `calibration` is given.
        method: "logistic" (the default) is multinomial logistic regression on the logarithms of the scores. "isotonic" is
            isotonic regression for each class and needs more rows.
        calibration: a calibration to use instead of a new one: the file that `apportion calibrate --save` wrote, or
            `calibration` of a summary. Then `truth` only measures the result.
        by: "logistic": groups with their own intercepts, as for `label`. The intercepts of small groups shrink to those of
            all rows. Groups without known truth use those of all rows.
        id, seed: the column that identifies a row, and a seed. They decide the fold of a row.
        summary: whether to also return a dict with the quality of the scores before and after, and the calibration.
        output, overwrite: output file, and whether to replace it, if the scores are in files.

    The other options are those of `label`.

    Returns:
        A frame of the same type as the input, with a row for each person and only the score columns; for an array, an array.
        If the scores are in files, the path of `output`, which has all columns. With `summary`, a tuple of this and the
        summary.
    """
    given = dict(locals())
    fitted: str | None = None
    if isinstance(calibration, Mapping):
        fitted = json.dumps(calibration)
    elif calibration is not None:
        fitted = Path(os.fspath(calibration)).read_text(encoding="utf-8")
    # The groups of a saved calibration are columns of the table.
    groups = json.loads(fitted).get("groups") if fitted else None
    source, values = table({**given, "named": [groups["columns"]] if groups else []})
    values["method"] = method
    if isinstance(source, Files):
        if output is None:
            raise ValueError("output: scores in files require an output file; use output='calibrated.parquet'")
        values |= {"output": os.fspath(output), "force": overwrite}
    elif output is not None:
        raise ValueError("output: it is only for scores in files; scores in memory are returned")
    done = run("calibrate", source, values, decision=fitted, threads=threads, progress=progress)
    rows = done.rows()
    if rows is None:
        corrected: Any = Path(os.fspath(output or ""))
    else:
        corrected = source.own(rows)
    return (corrected, done.result) if summary else corrected
