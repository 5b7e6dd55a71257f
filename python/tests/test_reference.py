"""Class shares are given as dicts, counts, lists, frames and crosstabs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import apportion

SCORES = np.random.default_rng(0).dirichlet([5, 2, 1], 400)
CLASSES = ["a", "b", "c"]
FRAME = pd.DataFrame(SCORES, columns=[f"p_{name}" for name in CLASSES]).assign(county=["x", "y"] * 200)
SHARES = {"a": 0.5, "b": 0.3, "c": 0.2}
COUNTS = {"a": 200, "b": 120, "c": 80}


@pytest.mark.parametrize(
    "reference",
    [
        SHARES,
        {"a": 100, "b": 60, "c": 40},
        pd.Series({"a": 100, "b": 60, "c": 40}),
        pd.Series(np.repeat(CLASSES, [5, 3, 2])).value_counts(),
        pd.DataFrame({"class": CLASSES, "share": list(SHARES.values())}),
        pl.DataFrame({"class": CLASSES, "share": list(SHARES.values())}),
        pa.table({"class": CLASSES, "share": list(SHARES.values())}),
    ],
    ids=lambda given: type(given).__name__,
)
def test_shares_and_counts(reference: Any) -> None:
    assert apportion.solve(FRAME, reference=reference).targets == COUNTS


def test_shares_of_an_array_are_in_the_order_of_its_columns() -> None:
    for reference in ([0.5, 0.3, 0.2], (5, 3, 2), np.array([50, 30, 20]), np.array([0.5, 0.3, 0.2])):
        assert apportion.solve(SCORES, reference=reference, classes=CLASSES).targets == COUNTS
        assert apportion.fit(np.asfortranarray(SCORES), reference=reference) == apportion.fit(SCORES, reference=[0.5, 0.3, 0.2])
    with pytest.raises(TypeError, match=r"reference: shares without names are only for scores in an array; use a dict"):
        apportion.label(FRAME, reference=[0.5, 0.3, 0.2])
    with pytest.raises(ValueError, match="reference: 3 shares are required, one per class, not an array of shape"):
        apportion.label(SCORES, reference=[0.5, 0.5])


def test_shares_by_group() -> None:
    race = np.array(CLASSES)[SCORES.argmax(axis=1)]
    counts = pd.crosstab(FRAME["county"], race)
    told = apportion.solve(FRAME.assign(race=race), by="county", reference="truth", truth="race").groups
    assert [targets for _, _, targets in told] == counts.to_numpy().tolist()
    shares = counts.div(counts.sum(axis=1), axis=0)
    for reference in (counts, shares, counts.to_dict("index"), shares.to_dict("index")):
        assert apportion.solve(FRAME, by="county", reference=reference).groups == told
    with pytest.raises(ValueError, match="reference: the frame must have the columns class and share .*or be a crosstab"):
        apportion.label(FRAME, by="county", reference=pd.DataFrame({"race": CLASSES, "n": [1, 2, 3]}))
    with pytest.raises(TypeError, match="reference: it must be .* a frame with the columns class and share, not a set"):
        apportion.label(FRAME, reference=set(CLASSES))


def test_whole_numbers_that_are_shares_are_shares() -> None:
    assert apportion.solve(FRAME, reference={"a": 1, "b": 0, "c": 0}).targets == {"a": 400, "b": 0, "c": 0}
    with pytest.raises(ValueError, match=r"the reference sums to 1\.1, not to 1"):
        apportion.label(FRAME, reference={"a": 0.5, "b": 0.4, "c": 0.2})
