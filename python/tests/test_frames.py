"""Results have the type of the input, and scores are not copied unnecessarily."""

from __future__ import annotations

import os
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
    """A table of an unknown library."""

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


@pytest.mark.filterwarnings("ignore:no one is labeled")  # the bounds leave no one for the third class
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
rows, kind = 2_000_000, sys.argv[1]
columns_of = lambda table: table.columns if kind == "polars" else table.column_names
scores = np.random.default_rng(0).dirichlet([5, 2, 1, 1], rows).astype(np.float32)
columns = {f"p_{name}": np.ascontiguousarray(scores[:, name]) for name in range(4)}
table = {"numpy": lambda: scores, "column-major": lambda: np.asfortranarray(scores), "pyarrow": lambda: pa.table(columns), "polars": lambda: pl.DataFrame(columns),
         "pieces": lambda: pa.concat_tables([pa.table(columns).slice(first, 50_000) for first in range(0, rows, 50_000)])}[kind]()
size = scores.nbytes
is_array = isinstance(table, np.ndarray)
if kind != "numpy":
    del scores, columns
apportion.label(table[:1000] if is_array else table.slice(0, 1000))  # what is loaded once
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
now = lambda: int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
# Memory that was freed would be used again without the peak's rising: it is filled first.
hold = np.ones(max(0, peak() - now()) // 8 + 1_000_000)
before = peak()
if sys.argv[2] == "copied":
    kept = [table.copy()] if is_array else [table[name].to_numpy().copy() for name in columns_of(table)]
apportion.label(table)
print((peak() - before) / size)
"""


#: Returns freed memory to the system immediately, so that a copy raises the peak.
RETURNED = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536", "ARROW_DEFAULT_MEMORY_POOL": "system"}


@pytest.mark.skipif(sys.platform != "linux", reason="peaks are told otherwise elsewhere")
@pytest.mark.parametrize("kind", ["numpy", "column-major", "pyarrow", "polars", "pieces"])
def test_scores_are_not_copied(kind: str) -> None:
    rise = {}
    for how in ("borrowed", "copied"):
        command = [sys.executable, "-c", PEAK, kind, how]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | RETURNED)
        rise[how] = float(done.stdout)
    # A 64-bit label has half the size of four 32-bit scores. A deliberate copy shows that a copy would be detected.
    assert rise["borrowed"] < 1.0 and rise["copied"] - rise["borrowed"] > 0.5, rise


def test_a_series_goes_by_its_index() -> None:
    frame = pd.DataFrame(TABLE, index=list("wxyz"))
    labels = apportion.label(frame)
    turned = frame.iloc[::-1]
    told = apportion.audit(turned.assign(own=labels), "own").details
    assert apportion.audit(turned, labels).details == told
    assert (
        apportion.label(turned, by=frame["county"]).reindex(frame.index).tolist()
        == apportion.label(frame, by="county").tolist()
    )
    with pytest.raises(ValueError, match="label: its index differs from that of the scores"):
        apportion.audit(frame, labels.reset_index(drop=True))
    assert apportion.audit(frame, labels.to_numpy()).details == apportion.audit(frame, labels).details


def test_labels_of_arrays_can_be_audited() -> None:
    scores = np.array([[0.6, 0.4], [0.7, 0.3], [0.9, 0.1], [0.8, 0.2]])
    doubted = apportion.label(scores, rule="threshold", at=0.75)
    for classes in (None, ["white", "black"]):
        audit = apportion.audit(scores, doubted, classes=classes)
        assert audit.details["counts"] == [2, 0] and audit.details["labeled"] == 2
        assert "your labels" in repr(apportion.compare(scores, label=doubted, classes=classes))
    own = apportion.audit(scores, np.array([2, 1, 1, 1]), classes=[1, 2])
    assert own.details["counts"] == [3, 1], "numbers that are names are names"


def test_whole_numbers_are_the_same_as_floats() -> None:
    people = apportion.simulate_voters(2000, seed=1).to_pandas()
    drawn = apportion.label(people, "thompson", id="id")
    floats = people.assign(id=people["id"].astype(float))
    assert apportion.label(floats, "thompson", id="id").equals(drawn)
    assert apportion.label(people, "thompson", id=floats["id"]).equals(drawn)


def test_rows_without_an_identifier_are_not_one_person() -> None:
    scores = np.tile([0.5, 0.5], (2000, 1))
    drawn = apportion.label(scores, "thompson", id=[None] * 1000 + list(range(1000)))
    assert 400 < drawn[:1000].sum() < 600


def test_masks_subclasses_and_frames_of_arrays() -> None:
    masked = np.ma.array([[0.6, 0.4], [0.7, 0.3], [0.1, 0.9]], mask=[[0, 0], [0, 0], [1, 1]])
    assert apportion.label(masked, skip_missing=True).tolist() == [1, 0, -1]

    class Geo(pd.DataFrame):
        pass

    labels = apportion.label(Geo(TABLE, index=list("abcd")))
    assert isinstance(labels, pd.Series) and list(labels.index) == list("abcd")
    plain = apportion.label(pd.DataFrame([[0.6, 0.4], [0.7, 0.3], [0.9, 0.1], [0.8, 0.2]]))
    assert plain.tolist() == [1, 0, 0, 0]


def test_a_decision_finds_its_columns() -> None:
    frame = pd.DataFrame({**TABLE, "County": TABLE["county"]}).drop(columns="county")
    decision, told = apportion.fit(frame, by="County"), apportion.label(frame, by="county").tolist()
    assert decision.apply(frame).tolist() == told
    assert decision.apply(pl.from_pandas(frame)).to_list() == told
    assert decision.apply(pa.Table.from_pandas(frame)).to_pylist() == told
    named = apportion.fit(frame, by=frame["County"].rename("place"))
    assert 'CAST("place"' in named.to_sql("duckdb")


def test_forked_processes_work() -> None:
    import multiprocessing

    scores = np.random.default_rng(0).dirichlet([5, 2, 1], 200_000)
    told = apportion.label(scores)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        results = [pool.apply_async(apportion.label, (scores,)) for _ in range(2)]
        assert all((result.get(timeout=60) == told).all() for result in results)


def test_values_of_one_name_are_told_apart() -> None:
    frame = pd.DataFrame(TABLE).drop(columns="county")
    labels, truth = (pd.Series(own, name="race") for own in (LABELS, LABELS[::-1]))
    assert apportion.audit(frame, labels, truth=truth).details["accuracy"] == 0.5


def test_a_built_in_map_reads_the_ethnicity() -> None:
    frame = pd.DataFrame(
        {
            "p_white": [0.6, 0.7, 0.2],
            "p_black": [0.3, 0.2, 0.2],
            "p_hispanic": [0.1, 0.1, 0.6],
            "race_code": ["W", "B", "O"],
            "ethnic_code": ["NL", "NL", "HL"],
        }
    )
    labels = ["white", "black", "hispanic"]
    audit = apportion.audit(frame, labels, truth="race_code", truth_map="nc")
    assert audit.details["accuracy"] == 1
    renamed = frame.rename(columns={"ethnic_code": "ethnicity"})
    audit = apportion.audit(renamed, labels, truth="race_code", truth_map=["nc", "B=white"], truth_ethnicity="ethnicity")
    assert audit.details["accuracy"] == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match="truth_map='nc' also needs the column \"ethnic_code\".*truth_ethnicity="):
        apportion.audit(renamed, labels, truth="race_code", truth_map="nc")
