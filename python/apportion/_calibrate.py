"""Calibration: corrects scores with known truth."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import pyarrow as pa

from ._frames import Files
from ._options import CalibrateOptions, ClassMap, Column, Columns, Encoding, FilePath, Method, Paths, suggests
from ._run import run
from ._tables import outputs, table, written

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from typing_extensions import Unpack


@overload
def calibrate(
    scores: Paths, truth: Column | None = None, *, summary: Literal[False] = False, **options: Unpack[CalibrateOptions]
) -> Path: ...
@overload
def calibrate(
    scores: Paths, truth: Column | None = None, *, summary: Literal[True], **options: Unpack[CalibrateOptions]
) -> tuple[Path, dict[str, Any]]: ...
@overload
def calibrate(
    scores: np.ndarray, truth: Column | None = None, *, summary: Literal[False] = False, **options: Unpack[CalibrateOptions]
) -> np.ndarray: ...
@overload
def calibrate(
    scores: np.ndarray, truth: Column | None = None, *, summary: Literal[True], **options: Unpack[CalibrateOptions]
) -> tuple[np.ndarray, dict[str, Any]]: ...
@overload
def calibrate(
    scores: pl.DataFrame | pl.LazyFrame, truth: Column | None = None, *, summary: Literal[False] = False, **options: Unpack[CalibrateOptions]
) -> pl.DataFrame: ...
@overload
def calibrate(
    scores: pl.DataFrame | pl.LazyFrame, truth: Column | None = None, *, summary: Literal[True], **options: Unpack[CalibrateOptions]
) -> tuple[pl.DataFrame, dict[str, Any]]: ...
@overload
def calibrate(
    scores: pd.DataFrame, truth: Column | None = None, *, summary: Literal[False] = False, **options: Unpack[CalibrateOptions]
) -> pd.DataFrame: ...
@overload
def calibrate(
    scores: pd.DataFrame, truth: Column | None = None, *, summary: Literal[True], **options: Unpack[CalibrateOptions]
) -> tuple[pd.DataFrame, dict[str, Any]]: ...
@overload
def calibrate(
    scores: pa.Table | pa.RecordBatch, truth: Column | None = None, *, summary: Literal[False] = False, **options: Unpack[CalibrateOptions]
) -> pa.Table: ...
@overload
def calibrate(
    scores: pa.Table | pa.RecordBatch, truth: Column | None = None, *, summary: Literal[True], **options: Unpack[CalibrateOptions]
) -> tuple[pa.Table, dict[str, Any]]: ...
@overload
def calibrate(
    scores: Any, truth: Column | None = None, *, summary: Literal[False] = False, **options: Unpack[CalibrateOptions]
) -> Any: ...
@overload
def calibrate(
    scores: Any, truth: Column | None = None, *, summary: Literal[True], **options: Unpack[CalibrateOptions]
) -> tuple[Any, dict[str, Any]]: ...
@suggests
def calibrate(
    scores: Any,
    truth: Column | None = None,
    *,
    method: Method | None = None,
    calibration: Mapping[str, Any] | FilePath | None = None,
    by: Column | None = None,
    id: Column | None = None,
    count: Column | None = None,
    classes: Sequence[Any] | None = None,
    columns: Columns | None = None,
    truth_map: ClassMap | None = None,
    truth_ethnicity: Column | None = None,
    truth_exclude: Columns | None = None,
    only_with_truth: bool = False,
    skip_missing: bool = False,
    normalize: bool = False,
    summary: bool = False,
    save: FilePath | None = None,
    output: FilePath | None = None,
    overwrite: bool = False,
    safe_csv: bool = False,
    provenance: FilePath | None = None,
    no_provenance: bool = False,
    encoding: Encoding = "auto",
    delimiter: str | None = None,
    sheet: str | None = None,
    max_line: str | int | None = None,
    batch_rows: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    memory: str | int | None = None,
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
        method: "logistic" is multinomial logistic regression on the logarithms of the scores. "isotonic" is isotonic
            regression for each class and needs more rows. Default: "logistic".
        calibration: a calibration to use instead of a new one: the file that `apportion calibrate --save` wrote, or
            `calibration` of a summary. Then `truth` only measures the result.
        by: "logistic": groups with their own intercepts, as for `label`. The intercepts of small groups shrink to those of
            all rows. Groups without known truth use those of all rows.
        id, seed: the column that identifies a row, and a seed. They decide the fold of a row.
        summary: whether to also return a dict with the quality of the scores before and after, and the calibration.
        save: a file for the calibration of all rows with known truth, for other rows.
        output: output file, if the scores are in files.
        overwrite: whether to replace files that exist.

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
    values |= {"method": method, "save": save, **outputs(source, given, "scores", "calibrated.parquet")}
    done = run("calibrate", source, values, decision=fitted, threads=threads, progress=progress)
    rows = done.rows()
    corrected: Any = written(given) if isinstance(source, Files) or rows is None else source.own(rows)
    return (corrected, done.result) if summary else corrected
