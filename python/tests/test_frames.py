"""What comes back is of the kind that went in; nothing is copied that need not be."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import apportion

TABLE = {"p_white": [0.6, 0.7, 0.9, 0.8], "p_black": [0.4, 0.3, 0.1, 0.2], "county": ["x", "y", "x", "y"]}
LABELS = ["black", "white", "white", "white"]


def test_pandas_keeps_its_index() -> None:
    frame = pd.DataFrame(TABLE, index=[3, 1, 4, 1])
    labels = apportion.label(frame)
    assert isinstance(labels, pd.Series) and labels.tolist() == LABELS and labels.name == "label"
    assert labels.index.equals(frame.index) and list(labels.cat.categories) == ["white", "black"]
    doubted = apportion.label(frame, rule="threshold", at=0.75)
    assert doubted.isna().tolist() == [True, True, False, False]


def test_polars_has_an_enum() -> None:
    labels = apportion.label(pl.DataFrame(TABLE))
    assert labels.to_list() == LABELS and labels.dtype == pl.Enum(["white", "black"]) and labels.name == "label"
    assert apportion.label(pl.DataFrame(TABLE), rule="threshold", at=0.75).to_list() == [None, None, "white", "white"]


def test_arrow_has_a_dictionary() -> None:
    labels = apportion.label(pa.table(TABLE))
    assert isinstance(labels, pa.DictionaryArray) and labels.to_pylist() == LABELS
    assert apportion.label(pa.table(TABLE), rule="threshold", at=0.75).null_count == 2
    assert apportion.label(pa.RecordBatch.from_pydict(TABLE)).to_pylist() == LABELS
    assert apportion.label(TABLE).to_pylist() == LABELS


class Capsule:
    """Somebody else's table, which nobody here knows."""

    def __arrow_c_stream__(self, schema: object = None) -> object:
        return pa.table(TABLE).__arrow_c_stream__(schema)


def test_whatever_has_capsules_is_a_table() -> None:
    assert apportion.label(Capsule()).to_pylist() == LABELS


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16, ">f8"])
def test_arrays_of_all_kinds_of_numbers(kind: type) -> None:
    scores = np.array([[0.5, 0.5], [0.75, 0.25], [1, 0], [0.75, 0.25]], dtype=kind)
    assert apportion.label(scores).tolist() == [1, 0, 0, 0]
    assert apportion.label(scores[::-1]).tolist() == [0, 0, 0, 1]
    assert apportion.label(scores[:, ::-1], classes=["b", "a"]).tolist() == ["b", "a", "a", "a"]
    assert apportion.label(np.eye(3, dtype=int)).tolist() == [0, 1, 2]
    assert apportion.label(scores.tolist(), rule="threshold", at=0.8).tolist() == [-1, -1, 0, -1]


def test_classes_with_any_name() -> None:
    classes = ["Black, not Hispanic", "--quiet", "a=b"]
    scores = [[0.5, 0.3, 0.2]] * 10
    solution = apportion.solve(scores, classes=classes)
    assert solution.counts == dict(zip(classes, [5, 3, 2], strict=True))
    assert apportion.solve(scores, classes=classes, at_least={"Black, not Hispanic": 7}, at_most={"--quiet": 0.3}).counts == {
        "Black, not Hispanic": 7, "--quiet": 3, "a=b": 0,
    }  # fmt: skip
    frame = pd.DataFrame(scores, columns=["p_Black, not Hispanic", "p_--quiet", "p_a"])
    assert apportion.label(frame, columns=list(frame.columns)).value_counts().tolist() == [5, 3, 2]


def test_groups_as_values_and_as_several_columns() -> None:
    frame = pd.DataFrame(TABLE)
    frame["state"] = "NC"
    by = apportion.label(frame, by="county").tolist()
    assert apportion.label(frame, by=["state", "county"]).tolist() == by
    assert apportion.label(frame, by=frame["county"]).tolist() == by
    assert apportion.label(frame, by=pd.Categorical(frame["county"])).tolist() == by
    assert apportion.label(pl.from_pandas(frame), by=pl.Series(TABLE["county"])).to_list() == by
    assert apportion.label(frame, by=np.array([1, 2, 1, 2])).tolist() == by


PEAK = """
import resource, sys
import numpy as np, pyarrow as pa, polars as pl, apportion
rows, kind = 1_000_000, sys.argv[1]
scores = np.random.default_rng(0).dirichlet([5, 2, 1, 1], rows).astype(np.float32)
columns = {f"p_{name}": np.ascontiguousarray(scores[:, name]) for name in range(4)}
table = {"numpy": lambda: scores, "pyarrow": lambda: pa.table(columns), "polars": lambda: pl.DataFrame(columns),
         "pieces": lambda: pa.concat_tables([pa.table(columns).slice(first, 50_000) for first in range(0, rows, 50_000)])}[kind]()
apportion.label(table if kind == "numpy" else table.slice(0, 1000))  # what is loaded once
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
hold = bytearray(1)  # nothing: the peak so far is what is compared with
before = peak()
apportion.label(table)
print((peak() - before) / scores.nbytes)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peaks are told otherwise elsewhere")
@pytest.mark.parametrize("kind", ["numpy", "pyarrow", "polars", "pieces"])
def test_scores_are_not_copied(kind: str) -> None:
    done = subprocess.run([sys.executable, "-c", PEAK, kind], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 0.8, "labels and what is sampled take less than the scores would"
