"""Inputs of all kinds: DuckDB relations, lazy frames, column-major arrays, any column names, and names of any type."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import apportion

SCORES = np.random.default_rng(0).dirichlet([5, 2, 1], 300)
TABLE = {"key": [f"k{row}" for row in range(300)], **{f"p_{name}": SCORES[:, place] for place, name in enumerate("abc")}}
LABELS = ["abc"[code] for code in apportion.label(SCORES)]


@pytest.fixture
def connection() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    people = pa.table({**TABLE, "county": ["x", "y", "z"] * 100, "age": list(range(300))})
    connection.register("source", people)
    connection.execute("CREATE TABLE people AS SELECT * FROM source")
    connection.unregister("source")
    return connection


def test_duckdb_labels_are_on_the_connection_of_the_relation(connection: duckdb.DuckDBPyConnection) -> None:
    people = connection.sql("SELECT * FROM people ORDER BY hash(key)")  # another order
    labels = apportion.label(people, id="key", name="own")
    expected = dict(zip(TABLE["key"], LABELS, strict=True))
    assert labels.columns == ["key", "own"] and dict(labels.fetchall()) == expected
    joined = connection.sql("SELECT people.*, own FROM people JOIN labels USING (key)")
    assert {row[0]: row[-1] for row in joined.fetchall()} == expected
    assert people.join(labels, "key").columns == [*people.columns, "own"]
    # Nothing is left in the database.
    assert connection.sql("SELECT table_name FROM information_schema.tables").fetchall() == [("people",)]
    assert apportion.label(connection.sql("SELECT * FROM people ORDER BY age")).fetchall() == [(name,) for name in LABELS]


def test_duckdb_results_have_keys(connection: duckdb.DuckDBPyConnection) -> None:
    people = connection.table("people")
    drawn = apportion.draw(people, 2, id="key", seed=3)
    assert drawn.columns == ["key", "label_1", "label_2"]
    frame = people.df()
    told = apportion.draw(frame, 2, id="key", seed=3).astype(str)
    assert drawn.df().set_index("key").sort_index().astype(str).to_numpy().tolist() == (
        told.set_index(frame["key"]).sort_index().to_numpy().tolist()
    )
    cells = apportion.allot(people, count="age", id="key")
    assert cells.columns[0] == "key" and int(cells.df()["n_a"].sum()) > 0
    corrected = apportion.calibrate(people, truth=np.array(LABELS), id="key")
    assert corrected.columns == ["key", "p_a", "p_b", "p_c"] and len(corrected) == 300
    decided = apportion.fit(people, id="key").apply(people, id="key")
    assert dict(decided.fetchall()) == dict(zip(TABLE["key"], LABELS, strict=True))


@pytest.mark.filterwarnings("ignore:the scores describe")
def test_duckdb_scores_from_names_have_the_columns_of_the_people() -> None:
    connection = duckdb.connect()
    people = connection.sql("SELECT 7 AS key, 'Garcia' AS surname, '37183' AS county_fips UNION ALL SELECT 8, 'Smith', '37063'")
    scores = apportion.predict(people)
    assert scores.columns[:4] == ["key", "surname", "county_fips", "p_white"]
    by_key = {row["key"]: row for row in scores.df().to_dict("records")}
    assert by_key[7]["p_hispanic"] > 0.5 > by_key[8]["p_hispanic"]
    assert connection.sql("SELECT count(*) FROM scores").fetchall() == [(2,)]


def test_a_connection_that_reads_no_tables_of_python_is_refused() -> None:
    connection = duckdb.connect(config={"python_enable_replacements": False})
    relation = connection.sql("SELECT 0.6 AS p_a, 0.4 AS p_b")
    with pytest.raises(ValueError, match="python_enable_replacements is off; turn it on, or use .to_arrow_table"):
        apportion.label(relation)


def test_only_required_columns_of_a_lazy_frame_are_collected() -> None:
    collected: list[str] = []

    def seen(name: str) -> pl.Expr:
        return pl.col(name).map_batches(lambda own: collected.append(name) or own, return_dtype=pl.Float64)

    others = {f"other_{place}": np.zeros(300) for place in range(3)}
    names = [f"p_{name}" for name in "abc"]
    lazy = pl.LazyFrame({**TABLE, **others}).with_columns(seen(name) for name in [*names, *others])
    labels = apportion.label(lazy, id="key")
    assert labels.dtype == pl.Enum(["a", "b", "c"]) and labels.to_list() == LABELS
    assert set(collected) == set(names)
    collected.clear()
    apportion.label(lazy, columns=["p_a", "p_b", "p_c"])
    assert set(collected) == set(names)
    collected.clear()
    assert apportion.audit(lazy, np.array(LABELS), by="other_1").details["counts"] == [LABELS.count(name) for name in "abc"]
    assert set(collected) == {*names, "other_1"}
    with pytest.raises(ValueError, match="no score columns were recognized among"):
        apportion.label(lazy.select("key", "other_1"))


def test_column_major_arrays_have_the_same_labels() -> None:
    columns = np.asfortranarray(SCORES)
    groups = ["x", "y", "z"] * 100
    assert (apportion.label(columns) == apportion.label(SCORES)).all()
    assert (apportion.label(columns[50:]) == apportion.label(SCORES[50:])).all()
    assert apportion.solve(columns, by=groups, id=TABLE["key"]) == apportion.solve(SCORES, by=groups, id=TABLE["key"])
    assert apportion.solve(columns, classes=[30, 20, 10]).counts == apportion.solve(SCORES, classes=[30, 20, 10]).counts
    codes = apportion.label(columns, "threshold", at=0.7)
    assert apportion.audit(columns, codes, truth=codes) == apportion.audit(SCORES, codes, truth=codes)
    decision = apportion.fit(columns)
    assert decision == apportion.fit(SCORES) and (decision.apply(columns) == decision.apply(SCORES)).all()
    assert (apportion.draw(columns, 2) == apportion.draw(SCORES, 2)).all()
    with pytest.raises(ValueError, match="row 7"):
        wrong = columns.copy(order="F")
        wrong[6, 1] = 2
        apportion.label(wrong)
    with pytest.raises(ValueError, match="at most 250 classes"):
        apportion.label(np.zeros((3, 300), order="F"))


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table, dict])
def test_probabilities_are_recognized_if_nothing_else_is_numeric(kind: Any) -> None:
    names = ["high", "low", "mid"]
    frame = kind({"key": TABLE["key"], **dict(zip(names, SCORES.T, strict=True))})
    labels = apportion.label(frame, id="key")
    told = [names["abc".index(name)] for name in LABELS]
    assert (labels.to_pylist() if hasattr(labels, "to_pylist") else labels.to_list()) == told
    # A column with a role is not a score.
    weighted = kind({"n": [1] * 300, **dict(zip(names, SCORES.T, strict=True))})
    assert apportion.fit(weighted, count="n").classes == names
    for other in ({"age": [1] * 300}, {"rest": [0.1] * 300}):
        with pytest.raises(ValueError, match="score columns"):
            apportion.label(kind({**other, **dict(zip(names, SCORES.T, strict=True))}))


def test_a_decision_for_probabilities_goes_by_their_names() -> None:
    names = ["high", "low", "mid"]
    frame = pd.DataFrame(SCORES, columns=names)
    decision = apportion.fit(frame)
    assert decision.apply(frame[["mid", "high", "low"]]).tolist() == apportion.label(frame).tolist()


def test_index_levels_are_groups_and_ids() -> None:
    frame = pd.DataFrame({**TABLE, "county": ["x", "y", "z"] * 100})
    told = apportion.solve(frame, by="county", id="key")
    indexed = frame.set_index(["county", "key"])
    solution = apportion.solve(indexed, by="county", id="key")
    assert solution.labels.tolist() == told.labels.tolist() and solution.groups == told.groups
    assert solution.labels.index.equals(indexed.index)
    assert apportion.solve(indexed, by=["county"]).groups == apportion.solve(frame, by="county").groups
    # A column with the name of a level comes first.
    both = frame.assign(county="all").set_index(frame["county"])
    assert [name for name, _, _ in apportion.solve(both, by="county").groups] == ["all"]
    with pytest.raises(ValueError, match="there is no column 'state'"):
        apportion.label(indexed, by="state")


def test_class_names_keep_their_type() -> None:
    frame = pd.DataFrame(SCORES)
    solution = apportion.solve(frame)
    assert solution.labels.cat.categories.tolist() == [0, 1, 2] == solution.classes
    assert solution.counts == apportion.solve(SCORES).counts == {code: LABELS.count("abc"[code]) for code in range(3)}
    assert apportion.audit(frame, solution.labels).details["counts"] == list(solution.counts.values())
    assert apportion.solve(frame, truth=solution.labels).accuracy == 1.0
    audit = apportion.audit(SCORES, named_labels := np.array([10, 20, 30])[apportion.label(SCORES)], classes=[10, 20, 30])
    assert list(audit.bias) == [10, 20, 30] and audit[20]["labels"] == (named_labels == 20).sum() and audit[0] == audit[10]
    assert audit.to_arrow()["class"].to_pylist() == [10, 20, 30]
    named = apportion.solve(SCORES, classes=np.array([30, 20, 10]))
    assert named.labels[:3].tolist() == [{"a": 30, "b": 20, "c": 10}[name] for name in LABELS[:3]]
    assert set(named.counts) == {30, 20, 10} and named[20]["labels"] == named.counts[20] and named[-1] == named[10]
    assert named.by_group().num_rows == 0
    labels = apportion.label(pd.DataFrame(TABLE), classes=[1.5, 2.5, 3.5])
    assert labels.cat.categories.tolist() == [1.5, 2.5, 3.5]
    flags = apportion.solve([[0.6, 0.4], [0.3, 0.7]], classes=[False, True])
    assert flags.counts == {False: 1, True: 1} and flags.labels.tolist() == [False, True]
    assert list(apportion.solve(pd.DataFrame(TABLE)).counts) == ["a", "b", "c"]


def test_spark_data_frames_are_refused() -> None:
    # PySpark is too large for the tests; only the module of the class is looked at.
    class DataFrame:
        __module__ = "pyspark.sql.classic.dataframe"

        def __arrow_c_stream__(self, schema: object = None) -> object:
            raise AssertionError("the rows must not be collected")

    for call in (apportion.label, apportion.fit(SCORES).apply, apportion.predict):
        with pytest.raises(TypeError, match="Spark data frames are not supported in this version; write Parquet.*to_sql"):
            call(DataFrame())
