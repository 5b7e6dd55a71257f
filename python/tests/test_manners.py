"""Errors are of the right type and in the words of Python, and warnings tell what may be misleading."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest

import apportion

SCORES = [[0.6, 0.4], [0.7, 0.3], [0.9, 0.1], [0.8, 0.2]]
FRAME = pd.DataFrame(SCORES, columns=["p_a", "p_b"])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    FRAME.assign(label="a", voted=[0, 1, 0, 1]).to_csv(tmp_path / "scores.csv", index=False)
    return tmp_path / "scores.csv"


def test_files_that_exist_or_are_missing_are_os_errors(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "exists.csv"
    other.write_text("")
    own = {"name": "own"}
    for call in (
        lambda output: apportion.label(path, output=output, **own),
        lambda output: apportion.fit(path, output=output),
        lambda output: apportion.fit(path).apply(path, output=output, **own),
        lambda output: apportion.frontier(path, output=output),
        lambda output: apportion.draw(path, 2, output=output, **own),
        lambda output: apportion.fit(path).to_sql(output=output),
    ):
        with pytest.raises(FileExistsError, match="already exists; choose another name, or replace it with overwrite=True"):
            call(other)
        with pytest.raises(FileNotFoundError, match="the folder does not exist; create it first"):
            call(tmp_path / "missing" / "out.csv")
    audit = apportion.audit(path)
    with pytest.raises(FileExistsError):
        audit.report(audit.report(tmp_path / "audit.html"))
    with pytest.raises(FileExistsError, match="the folder is not empty.*overwrite=True"):
        audit.figures(tmp_path)
    for call in (lambda: apportion.label("none.csv", output="x.csv"), lambda: apportion.audit("none.csv"),
                 lambda: apportion.provenance("none.json"), lambda: apportion.tables.check("none.csv")):  # fmt: skip
        with pytest.raises(FileNotFoundError, match="no such file"):
            call()


def test_the_number_of_threads_is_limited() -> None:
    assert apportion.label(SCORES, threads=1024).tolist() == [1, 0, 0, 0]
    for threads in (-1, 0, 1025, 2.5, True, "2"):
        with pytest.raises(ValueError, match=r"threads: it must be a whole number from 1 to 1024, not .*; use None for all"):
            apportion.label(SCORES, threads=threads)  # type: ignore[call-overload]


def test_misleading_tables_are_warned_of() -> None:
    with pytest.warns(UserWarning, match="1 row has no value in the columns of by, and forms a group of its own"):
        apportion.label(SCORES, by=["x", None, "y", "y"])
    missing = pd.concat([FRAME] * 5).assign(county=["x"] * 10 + ["y"] * 5 + [None, ""] * 2 + [None])
    with pytest.warns(UserWarning, match="5 rows have no value in the columns of by"):
        apportion.audit(missing, ["a", "b"] * 10, by="county")
    with pytest.warns(UserWarning, match="2 tied rows have the same ID as other rows"):
        apportion.label([[0.5, 0.5]] * 4, id=["a", "a", "b", "b"])
    thirds = [1 / 3] * 3
    two = {f"{prefix}_{name}": thirds for prefix in ("p", "bisg") for name in ("white", "black", "other")}
    with pytest.warns(UserWarning, match=r"p_white, p_black, p_other are used, and bisg_\* are not"):
        apportion.label(pa.table(two))
    apportion.label(pa.table(two), columns="bisg_*")  # chosen, so there is no warning


def test_gamma_without_a_rule_means_balance(path: Path, tmp_path: Path) -> None:
    scores = np.random.default_rng(0).dirichlet([5, 2, 1], 500)
    told = apportion.solve(scores, rule="balance", gamma=0.6)
    assert apportion.solve(scores, gamma=0.6) == told and told.details["rule"] == "balance"
    assert apportion.fit(scores, gamma=0.6) == apportion.fit(scores, "balance", gamma=0.6)
    output = apportion.label(path, output=tmp_path / "labels.parquet", name="own", gamma=0.6)
    recorded = apportion.provenance(output)["options"]
    assert (recorded["rule"], recorded["gamma"], recorded["penalty"]) == ("balance", 0.6, "l1")
    assert apportion.verify(output, path)
    assert apportion.solve(scores, "learned", gamma=0.6).details["rule"] == "learned"
    for rule in ("match", "argmax", "threshold"):
        with pytest.raises(ValueError, match="^gamma requires rule balance or rule learned$"):
            apportion.label(scores, rule, gamma=0.6)


def test_bounds_are_numbers_of_any_type() -> None:
    scores = np.tile([[0.8, 0.2]], (3000, 1))
    for bounds in ({1: 0.3}, {"1": np.float32(0.3)}, pd.Series({"1": 0.3}), {"1": "30%"}, {1: 900}):
        assert apportion.solve(scores, at_least=bounds).counts[1] == 900  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: apportion.label(SCORES, seed=-1), ValueError, "seed: it must be 0 or more"),
        (lambda: apportion.label(SCORES, seed="x"), TypeError, "seed: it must be a whole number"),
        (lambda: apportion.label(SCORES, only_label=True), ValueError, "only_label: it is only for scores in files"),
        (lambda: apportion.draw(SCORES, 2, output="x.csv"), ValueError, "output: it is only for scores in files"),
        (lambda: apportion.predict(pd.DataFrame({"x": ["Garcia"]})), ValueError, "people: no surname column"),
        (lambda: apportion.label(SCORES, focus="0"), ValueError, "focus: it is for report="),
        (lambda: apportion.verify("x.csv", pd.DataFrame()), FileNotFoundError, "x.csv: no such file"),
        (lambda: apportion.tables.show("surname"), ValueError, "there is no built-in table \"surname\"; the built-in tables are surnames-2020"),
        (lambda: apportion.tables.check(np.eye(2)), TypeError, "table: it must be a file, or a frame"),
    ],
)
def test_messages_are_in_the_words_of_python(call: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words) as caught:
        call()
    assert "--" not in str(caught.value) and "`" not in str(caught.value)


def test_the_name_of_labels() -> None:
    assert apportion.label(FRAME, name="own").name == "own"
    assert apportion.label(pl.from_pandas(FRAME), name="own").name == "own"
    assert list(apportion.draw(FRAME, 2, name="own").columns) == ["own_1", "own_2"]


def test_tqdm_is_imported_late() -> None:
    code = "import sys, apportion; apportion.label([[0.6, 0.4]], progress=True); print('tqdm' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


@pytest.mark.parametrize(
    ("scores", "kind", "words"),
    [
        ([{"p_a": 0.5, "p_b": 0.5}], TypeError, "scores: unsupported type list of dicts; give an array, a data frame"),
        (None, TypeError, "scores: unsupported type NoneType"),
        ((row for row in SCORES), TypeError, "scores: unsupported type generator"),
        (pyarrow.dataset.dataset(pa.Table.from_pandas(FRAME)), TypeError, "scores: unsupported type InMemoryDataset"),
        ([["a", "b"]], TypeError, "scores: an array of text or other objects"),
        ([0.5, 0.5], ValueError, r"scores of shape \(2,\): two dimensions are required"),
        (FRAME.iloc[:0], ValueError, "scores: there are no rows"),
        (pa.Table.from_pandas(FRAME.iloc[:0]), ValueError, "scores: there are no rows"),
    ],
)
def test_scores_of_other_types_are_refused(scores: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        apportion.label(scores)


def test_a_connection_is_not_a_table() -> None:
    with duckdb.connect() as connection, pytest.raises(TypeError, match="scores: unsupported type DuckDBPyConnection"):
        apportion.label(connection)


def test_objects_that_are_numbers_are_converted() -> None:
    assert apportion.label(np.array(SCORES, dtype=object)).tolist() == [1, 0, 0, 0]
    assert apportion.label([[0.6, 0.4], [None, None], [0.1, 0.9]], skip_missing=True).tolist() == [0, -1, 1]
