"""Errors have clear messages, and nothing panics."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

import apportion

GOOD = [[0.6, 0.4], [0.7, 0.3], [0.9, 0.1]]
FRAME = pd.DataFrame({"p_a": [0.6, 0.7, 0.9], "p_b": [0.4, 0.3, 0.1]})


@pytest.mark.parametrize(
    ("scores", "options", "kind", "words"),
    [
        ([0.5, 0.5], {}, ValueError, r"scores of shape \(2,\): two dimensions are required"),
        (np.zeros((2, 2, 2)), {}, ValueError, "scores of shape"),
        (np.zeros((0, 3)), {}, ValueError, "at least one row"),
        ([[0.5, 0.5], [1.0]], {}, ValueError, "rows have different lengths"),
        ([["a", "b"]], {}, TypeError, "an array of text"),
        (np.array([[1j, 0]]), {}, TypeError, "an array of complex"),
        (7, {}, ValueError, "two dimensions are required"),
        (None, {}, TypeError, "unsupported type NoneType"),
        ([[0.6, np.nan], [0.5, 0.5]], {}, ValueError, 'scores: row 1, column "1": the score is missing'),
        ([[0.6, 0.4], [0.5, 0.6]], {}, ValueError, "scores: row 2: the scores sum to 1.1.*normalize"),
        ([[1.5, -0.5]], {}, ValueError, 'row 1, column "1": the score of "1" is -0.5'),
        ([[0.6, np.inf]], {}, ValueError, "row 1"),
        (GOOD, {"rule": "macth"}, ValueError, r'rule: "macth" is not one of argmax, .*\(did you mean "match"\?\)'),
        (GOOD, {"rule": 3}, ValueError, 'rule: "3" is not one of'),
        (GOOD, {"k": 2.5, "rule": "top-k"}, TypeError, "k: it must be a whole number, not 2.5"),
        (GOOD, {"by": ["x", "y"]}, ValueError, "by has 2 values, but there are 3 rows"),
        (GOOD, {"by": 7}, TypeError, "by: it must be a column name or one value per row, not int"),
        (GOOD, {"by": [["x"], ["y"], ["z"]]}, ValueError, "by: values must not be lists or mappings"),
        (GOOD, {"by": np.zeros((3, 2))}, ValueError, r"by of shape \(3, 2\)"),
        (GOOD, {"gamma": 2, "rule": "balance"}, ValueError, "it must be 0, or from 0.001 to 1"),
        (GOOD, {"gamma": 0.5, "rule": "match"}, ValueError, "gamma requires rule balance"),
        (GOOD, {"classes": ["a"]}, ValueError, "classes: 1 names for 2 columns"),
        (GOOD, {"classes": ["a", "a"]}, ValueError, 'two columns are named "a"'),
        (GOOD, {"columns": ["a"]}, ValueError, "an array has no column names"),
        (GOOD, {"at_least": {"9": 1}}, ValueError, 'at_least: unknown class "9"'),
        (GOOD, {"reference": {"0": 0.5, "1": "much"}}, ValueError, "is not a number"),
        (GOOD, {"reference": {"0": 0.5, "2": 0.5}}, ValueError, 'reference: row 2: unknown class "2"'),
        (GOOD, {"reference": 7}, TypeError, "reference: it must be 'posterior'"),
        (GOOD, {"reference": "posteriori"}, ValueError, 'did you mean "posterior"'),
        (GOOD, {"threads": 0}, ValueError, "threads: it must be a whole number from 1 to 1024"),
        (GOOD, {"seed": -1}, ValueError, "seed: it must be 0 or more"),
        (GOOD, {"seed": 2**70}, ValueError, "seed: the number is out of range"),
        (GOOD, {"memory": "much"}, ValueError, "memory: it must be a number with K, M, G or T"),
        (GOOD, {"rule": "threshold", "at": {"0": 2}}, ValueError, "at: it must be from 0 to 1"),
        (GOOD, {"rule": "balance", "gamma": float("nan")}, ValueError, "gamma: it must be a finite number, not nan"),
        (GOOD, {"at_least": {"0": b"x"}}, TypeError, "at_least: unsupported type bytes"),
        (GOOD, {"at_least": {"0": "many"}}, ValueError, 'at_least: "many" is neither a whole number nor a percentage'),
        (GOOD, {"truth_map": {"x": "0"}}, ValueError, "truth_map needs truth=…"),
        (GOOD, {"rule": "learned", "by": ["x", "x", "y"]}, ValueError, "by: rule learned trains on a sample"),
        (GOOD, {"tolerance": 0.01, "rule": "match"}, ValueError, "tolerance: match hits its targets exactly"),
        (GOOD, {"output": "x.csv"}, ValueError, "labels of scores in memory are returned"),
        (GOOD, {"truth": ["0", "1", "7"], "reference": "truth"}, ValueError, "7"),
        (FRAME, {"by": "county"}, ValueError, "by: there is no column 'county'; the columns are p_a, p_b"),
        (FRAME.assign(county="x"), {"by": ["conty"]}, ValueError, "did you mean 'county'"),
        (GOOD, {"by": "county"}, TypeError, "an array has no column 'county'"),
        (FRAME, {"columns": ["p_a", "p_x"]}, ValueError, "columns: there is no column 'p_x'"),
        (FRAME.assign(p_b=["x", "y", "z"]), {}, ValueError, 'row 1, column "p_b": "x" is not a number'),
        (FRAME.rename(columns=str.upper)[["P_A"]], {}, ValueError, "is its only score column"),
        (FRAME["p_a"], {}, TypeError, "a Series is one column"),
        (pd.concat([FRAME, FRAME], axis=1), {}, ValueError, "two columns are named 'p_a'"),
        (FRAME.assign(p_b=[0.4, None, 0.1]), {}, ValueError, 'row 2, column "p_b": the score is missing'),
        (pa.table({"x": [1]}), {}, ValueError, "no score columns were recognized among x"),
        (pd.DataFrame({"id": [1], "name": ["x"], "w": ["y"]}), {}, ValueError, "recognized among id, name, w; name them"),
        (pl.DataFrame({"id": [1], "name": ["x"], "w": ["y"]}), {}, ValueError, "recognized among id, name, w; name them"),
        (FRAME.head(0), {}, ValueError, "no rows"),
        ("nowhere.parquet", {"output": "x.csv"}, FileNotFoundError, "nowhere.parquet: no such file"),
    ],
)
def test_what_is_wrong_is_said(scores: Any, options: dict[str, Any], kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words) as caught:
        apportion.label(scores, **options)
    assert not re.search(r"--[a-z]", str(caught.value)), "options of the command line are not those of Python"


def test_messages_speak_python() -> None:
    with pytest.raises(ValueError) as caught:
        apportion.label(GOOD, at=0.5, rule="match")
    assert str(caught.value) == "at requires rule threshold"
    with pytest.raises(TypeError, match=r"solve\(\) has no option 'gama'; did you mean gamma\?"):
        apportion.solve(GOOD, gama=0.5)
    with pytest.raises(TypeError, match=r"label\(\) has no option 'gama'; did you mean gamma\?"):
        apportion.label(GOOD, gama=0.5)  # type: ignore[arg-type]
    for old, new in (("margin", "tolerance"), ("batch", "train_rows")):
        for function in (apportion.label, apportion.solve, apportion.fit):
            with pytest.raises(TypeError, match=f"has no option '{old}'; it is now named {new}"):
                function(GOOD, **{old: 1})
    with pytest.raises(ValueError, match="the text is not a decision"):
        apportion.Decision.from_json("{}")
    with pytest.raises(ValueError, match="output: scores in files require an output file"):
        apportion.label(__file__)
    with pytest.raises(ValueError, match="the decision was fitted by groups"):
        apportion.fit(GOOD, by=["x", "x", "y"]).apply(GOOD)
    with pytest.raises(TypeError, match=r"compare\(\) has no option 'reference'"):
        apportion.compare(GOOD, reference="uniform")
    with pytest.raises(ValueError, match="labels of scores in memory are returned"):
        apportion.fit(GOOD).apply(GOOD, output="x.csv")
    with pytest.raises(TypeError, match="read a file with Decision.load"):
        apportion.Decision.from_json(Path("decision.json"))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="draws: it must be a whole number"):
        apportion.draw(GOOD, 0)
    with pytest.raises(ValueError, match="output: scores in files require an output file"):
        apportion.draw(__file__, 2)


def test_a_table_that_drifts_is_warned_of() -> None:
    rng = np.random.default_rng(0)
    before, after = rng.dirichlet([8, 2], 5000), rng.dirichlet([2, 8], 5000)
    with pytest.warns(UserWarning, match="the counts have drifted.*fit again"):
        apportion.fit(before).apply(after)
    decision = apportion.fit(before)
    labels = decision.apply(before)
    with pytest.warns(UserWarning, match="the counts have drifted"):
        apportion.audit(after, np.roll(labels, 1), classes=[0, 1], decision=decision)


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("p_a,p_b\n0.5,0.5\n0.5,0.9\n")
    with pytest.raises(ValueError, match=r"bad.csv: row 2: the scores sum to 1.4"):
        apportion.label(tmp_path / "bad.csv", output=tmp_path / "out.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["bad.csv"]


anything = st.recursive(
    st.sampled_from([np.float64(0.5), np.float32(0.25), np.int64(2), np.bool_(True)])
    | st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)
arrays = st_numpy.arrays(
    st_numpy.scalar_dtypes(), st_numpy.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
)
options = st.fixed_dictionaries(
    {},
    optional={
        "rule": st.sampled_from(["match", "balance", "threshold", "thompson", "top-k", "learned"]) | anything,
        "by": anything, "reference": anything, "gamma": anything, "at": anything, "k": anything, "coverage": anything,
        "at_least": anything, "tolerance": anything, "nested": anything, "from_sample": anything, "train_rows": anything,
        "classes": anything, "columns": anything, "id": anything, "truth": anything, "seed": anything,
        "normalize": st.booleans(), "skip_missing": st.booleans(), "threads": st.none() | st.just(1),
    },
)  # fmt: skip


@settings(max_examples=300, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(scores=anything | arrays | st.just(GOOD) | st.just(FRAME), options=options)
def test_odd_things_are_refused_and_nothing_panics(scores: Any, options: dict[str, Any]) -> None:
    try:
        apportion.label(scores, **options)
    except (ValueError, TypeError, FileNotFoundError) as error:
        assert str(error) and "panicked" not in str(error)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st_numpy.arrays(np.float64, st.tuples(st.integers(1, 30), st.integers(1, 6)), elements=st.floats(0, 1)),
    st.sampled_from(["match", "balance", "argmax", "thompson"]),
)
def test_counts_of_any_scores_are_right(scores: np.ndarray, rule: str) -> None:
    scores = (scores + 0.01) / (scores + 0.01).sum(axis=1, keepdims=True)
    labels = apportion.label(scores, rule=rule)
    assert labels.shape == (len(scores),) and labels.min() >= 0 and labels.max() < scores.shape[1]
    if rule == "match":
        counts = np.bincount(labels, minlength=scores.shape[1])
        assert (np.abs(counts - scores.sum(axis=0)) < 1 + 1e-6).all()


def test_a_class_that_is_nearly_one_is_suggested() -> None:
    with pytest.raises(ValueError, match=r'at_least: unknown class "wite"; .*\(did you mean "white"\?\)'):
        apportion.label(GOOD, classes=["white", "black"], at_least={"wite": 1})
    with pytest.raises(ValueError, match=r"truth_map=\{value: class\}.*truth_exclude=…"):
        apportion.label(GOOD, truth=["0", "1", "seven"], reference="truth")
    with pytest.raises(ValueError, match=r"the classes of the decision are in a different order; use classes=\['a', 'b'\]"):
        apportion.fit(GOOD, classes=["a", "b"]).apply(GOOD, classes=["b", "a"])


def test_notes_are_logged_and_columns_have_names(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    with caplog.at_level("INFO", "apportion"):
        apportion.label(FRAME, by=["x", "x", "y"])
        apportion.label(FRAME, reference={"a": 1.0})
        FRAME.to_csv(tmp_path / "scores.csv")
        apportion.label(tmp_path / "scores.csv", output=tmp_path / "labels.csv")
    lines = [record.getMessage() for record in caplog.records]
    assert any(line.startswith("scores: 2 classes") or "p_a" in line for line in lines), lines
    assert any('no share for "b"; 0 is used' in line for line in lines), lines
    assert any("written to" in line and "labels.csv" in line for line in lines), lines
    assert not any("standard output" in line for line in lines), lines


def test_natural_values_are_taken() -> None:
    labels = apportion.label(GOOD, rule="threshold", at={None: 0.65, "1": 0.5}, memory="512M", seed=3.0).tolist()
    assert labels == [-1, 0, 0]
    assert apportion.label(GOOD, rule="threshold", at=0.65).tolist() == labels
    assert apportion.solve(GOOD, at_least={"1": "50%"}).counts[1] == 2
    assert apportion.solve(GOOD, at_least={"1": 2}).counts[1] == 2
    people = apportion.simulate_normal(300, seed=1)
    compared = apportion.compare(people, truth="truth", truth_exclude="6", batch=100)
    assert "batches of 100" in repr(compared)
    audit = apportion.audit(people, "truth", label_map={"6": "5"}, uncoded="4,3=drop")
    assert audit.details["counts"][3] == 0 and audit.details["counts"][5] == 0


def test_numbers_of_numpy_are_numbers() -> None:
    told = apportion.label(GOOD, rule="balance", gamma=0.5).tolist()
    assert apportion.label(GOOD, rule="balance", gamma=np.float64(0.5), threads=np.int64(1)).tolist() == told
    assert apportion.solve(GOOD, at_least={"1": np.float32(0.5)}).counts[1] == 2
    assert apportion.simulate_normal(np.int64(10), variance=np.float64(0.5)).num_rows == 10


def test_unknown_groups_are_listed_or_labeled() -> None:
    scores = {"p_a": [0.6, 0.7, 0.9, 0.2], "p_b": [0.4, 0.3, 0.1, 0.8]}
    fitted = pd.DataFrame(scores | {"county": ["Wake", "Wake", "Durham", "Durham"]})
    decision = apportion.fit(fitted, by="county")
    other = fitted.assign(county=["Wake", "Wakes", "Durham", "Durham"])
    listed = r'1 group \(1 row\) is not in the decision: "Wakes" \(1 row; did you mean "Wake"\?\); .* unknown_groups=\'overall\''
    with pytest.raises(ValueError, match=listed):
        decision.apply(other)
    with pytest.warns(UserWarning, match="these rows are unlabeled"):
        labels = decision.apply(other, unknown_groups="unlabeled")
    assert labels.isna().tolist() == [False, True, False, False]
    with pytest.warns(UserWarning, match="labeled at the prices for all rows of the fit"):
        assert decision.apply(other, unknown_groups="overall").notna().all()
    with pytest.raises(ValueError, match="unknown_groups"):
        decision.apply(other, unknown_groups="skip")  # type: ignore[arg-type]


def test_bounds_that_leave_a_class_without_people_warn() -> None:
    voters = apportion.simulate_voters(3000, seed=1)
    with pytest.warns(UserWarning, match=r'no one is labeled "(aian|other)"') as warned:
        counts = apportion.solve(voters, at_least={"black": 0.4}).counts
    assert counts["aian"] == counts["other"] == 0
    assert any("add at_least={'aian': 23}" in str(own.message) for own in warned)
    assert apportion.solve(voters, at_least={"black": 0.4, "aian": 23, "other": 46}).counts["aian"] == 23
