"""Arguments that give a column are names or values, by rules that do not guess."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import apportion

SCORES = {"white": [0.6, 0.7, 0.9, 0.8, 0.55, 0.5], "black": [0.4, 0.3, 0.1, 0.2, 0.45, 0.5]}
COLUMNS = ["white", "black"]
RACE = ["white", "black"] * 3
KINDS = [pd.DataFrame, pl.DataFrame, pa.table]


def groups(frame: Any, **options: Any) -> list[str]:
    return [own["group"] for own in apportion.solve(frame, columns=COLUMNS, **options).details["prices"]]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", ["by", "nested", "id", "truth"])
def test_a_list_that_can_be_names_or_values_is_refused(kind: Any, what: str) -> None:
    with pytest.raises(ValueError, match=rf"{what}: the list has one entry per row, and all entries are names of columns"):
        apportion.solve(kind(SCORES), columns=COLUMNS, **{what: RACE})


@pytest.mark.parametrize("kind", KINDS)
def test_arrays_are_values_and_tuples_are_names(kind: Any) -> None:
    assert groups(kind(SCORES), by=np.array(RACE, dtype=object)) == ["black", "white"]
    assert groups(kind(SCORES), by=pd.Series(RACE)) == ["black", "white"]
    two = {**SCORES, "state": list("aabbcc"), "county": list("ababab")}
    assert len(groups(kind({name: values[:2] for name, values in two.items()}), by=("state", "county"))) == 2
    assert len(groups(kind(two), by=("state", "county"))) == len(groups(kind(two), by=["state", "county"])) == 6
    assert groups(kind(two), by=["county"]) == groups(kind(two), by="county") == ["a", "b"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_list_with_one_entry_per_row_is_values(kind: Any) -> None:
    # One of the values is the name of a column.
    assert groups(kind(SCORES), by=["white", "black", "other"] * 2) == ["black", "other", "white"]
    assert groups(kind(SCORES), by=["x", "y"] * 3) == ["x", "y"]
    truth = apportion.solve(kind(SCORES), columns=COLUMNS, truth=np.array(RACE)).accuracy
    assert truth == apportion.solve(kind(SCORES), columns=COLUMNS, truth=pa.array(RACE)).accuracy is not None


def test_other_lists_are_refused() -> None:
    frame = pd.DataFrame({**SCORES, "county": list("ababab")})
    with pytest.raises(ValueError, match=r"by: there is no column 'conty' \(did you mean 'county'\?\)"):
        groups(frame, by=["conty", "white"])
    with pytest.raises(ValueError, match="by has 7 values, but there are 6 rows"):
        groups(frame, by=["x"] * 7)
    with pytest.raises(ValueError, match="id: it must be one column, not 2"):
        groups(frame, id=["county", "white"])


def test_several_columns_of_values() -> None:
    frame = pd.DataFrame({**SCORES, "state": list("aabbcc"), "county": list("ababab")})
    told = groups(frame, by=["state", "county"])
    assert groups(frame, by=[frame["state"], frame["county"]]) == told
    assert groups(frame, by=frame[["state", "county"]]) == told
    assert groups(frame, by=pd.Index(["state", "county"])) == told


@pytest.mark.parametrize("kind", [list, np.int64, np.uint8, np.int32])
def test_whole_numbers_are_column_indices_of_an_array(kind: Any) -> None:
    scores = np.array([[0.6, 0.3, 0.1], [0.7, 0.2, 0.1], [0.2, 0.2, 0.6], [0.1, 0.8, 0.1]])
    codes = [0, 1, 2, 1]
    given: Any = codes if kind is list else np.array(codes, dtype=kind)
    for classes in (None, ["a", "b", "c"]):
        assert apportion.audit(scores, given, classes=classes).details["counts"] == [1, 2, 1]
        assert apportion.solve(scores, "argmax", truth=given, classes=classes).accuracy == 0.75
    with pytest.raises(ValueError, match="7"):
        apportion.audit(scores, [0, 1, 2, 7])
    # Numbers that are the names of classes are names.
    assert apportion.audit(scores, np.array([30, 20, 10, 10], dtype=np.uint8), classes=[10, 20, 30]).details["counts"] == [2, 1, 1]


def test_booleans_are_the_labels_of_two_classes() -> None:
    scores = np.array([[0.6, 0.4], [0.3, 0.7]])
    assert apportion.solve(scores, "argmax", truth=np.array([False, True])).accuracy == 1.0
    assert apportion.solve(scores, "argmax", truth=np.array([False, True]), classes=["no", "yes"]).accuracy == 1.0
