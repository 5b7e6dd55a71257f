"""Labels and figures equal those of the program, for every rule and every type of table."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import apportion

RULES: list[tuple[str, dict[str, Any], list[str]]] = [
    ("argmax", {}, []),
    ("threshold", {"at": {None: 0.8, "black": 0.5}}, ["--at", "0.8,black=0.5"]),
    ("thompson", {"seed": 7}, ["--seed", "7"]),
    ("top-k", {"k": 3}, ["--k", "3"]),
    ("match", {}, []),
    ("match", {"by": "county"}, ["--by", "county"]),
    ("match", {"nested": ["county"]}, ["--nested", "county"]),
    ("match", {"coverage": 0.9}, ["--coverage", "0.9"]),
    ("match", {"at_least": {"asian": 0.03}, "at_most": {"other": 500}}, ["--at-least", "asian=3%", "--at-most", "other=500"]),
    ("match", {"reference": "truth", "truth": "race"}, ["--reference", "truth", "--truth", "race"]),
    ("match", {"reference": "uniform"}, ["--reference", "uniform"]),
    ("match", {"from_sample": 5000}, ["--from-sample", "5000"]),
    ("balance", {"gamma": 0.8}, ["--gamma", "0.8"]),
    ("balance", {"penalty": "l2-squared"}, ["--penalty", "l2-squared"]),
    ("balance", {"gamma": 1, "tolerance": 0.01}, ["--gamma", "1", "--tolerance", "0.01"]),
    ("learned", {"train_rows": 2000}, ["--train-rows", "2000"]),
    ("learned", {"train_rows": 2000, "learner": "logistic", "gamma": 0.9}, ["--train-rows", "2000", "--learner", "logistic", "--gamma", "0.9"]),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "options", "words"), RULES, ids=lambda given: str(given))
def test_labels_are_those_of_the_program(
    rule: str, options: dict[str, Any], words: list[str], voters_path: Path, voters: pa.Table, program: Callable[..., str],
    tmp_path: Path,
) -> None:  # fmt: skip
    path = tmp_path / "labeled.parquet"
    out = program("label", voters_path, "-o", path, "--id", "id", "--rule", rule, "--json", "--quiet", *words)
    told = [None if name == "Uncoded" else name for name in pq.read_table(path)["label"].to_pylist()]
    solution = apportion.solve(voters, rule, id="id", **options)
    assert solution.labels.to_pylist() == told
    details = json.loads(out)
    assert details.pop("provenance")["rows"] == voters.num_rows  # results for a table in memory have no provenance
    assert solution.details == details


def test_every_kind_of_table_has_the_same_labels(voters_path: Path, voters: pa.Table, scores: np.ndarray) -> None:
    told = apportion.label(voters, id="id", by="county").to_pylist()
    frame = voters.to_pandas()
    assert apportion.label(frame, id="id", by="county").tolist() == told
    polars = pl.from_arrow(voters)
    assert apportion.label(polars, id="id", by="county").to_list() == told
    relation = duckdb.sql(f"from '{voters_path}'")
    labeled = apportion.label(relation, id="id", by="county")
    assert isinstance(labeled, duckdb.DuckDBPyRelation)
    assert dict(labeled.fetchall()) == dict(zip(voters["id"].to_pylist(), told, strict=True))
    classes = ["white", "black", "hispanic", "asian", "aian", "other"]
    beside = {"id": frame["id"], "by": frame["county"], "classes": classes}
    assert apportion.label(scores, **beside).tolist() == told
    assert apportion.label(np.asfortranarray(scores), **beside).tolist() == told
    codes = apportion.label(scores, id=frame["id"].to_numpy(), by=list(frame["county"]))
    assert codes.dtype == np.int64 and [classes[code] for code in codes] == told


def test_scores_in_pieces_are_as_those_in_one(voters: pa.Table) -> None:
    pieces = pa.concat_tables(
        [voters.slice(0, 1), voters.slice(1, 70_000), voters.slice(70_001, 0), voters.slice(70_001)]
    )
    assert pieces["p_white"].num_chunks > 1
    for options in ({}, {"by": "county"}, {"rule": "balance", "gamma": 0.9}, {"skip_missing": True}):
        assert apportion.label(pieces, id="id", **options) == apportion.label(voters, id="id", **options)
    assert apportion.frontier(pieces).details == apportion.frontier(voters).details
    single = voters.set_column(5, "p_white", voters["p_white"].cast(pa.float32()))
    assert apportion.label(single, id="id") is not None  # columns of different types are converted


def test_files_go_through_the_program(voters_path: Path, voters: pa.Table, tmp_path: Path) -> None:
    path = apportion.label(voters_path, by="county", id="id", output=tmp_path / "a.parquet")
    labels = apportion.label(voters, by="county", id="id").to_pylist()
    assert path == tmp_path / "a.parquet" and pq.read_table(path)["label"].to_pylist() == labels
    with pytest.raises(FileExistsError, match="already exists; choose another name, or replace it with overwrite=True"):
        apportion.label(voters_path, output=path)
    apportion.label(str(voters_path), output=str(path), overwrite=True, rule="argmax")
    decision = apportion.fit(voters_path, by="county", id="id")
    assert decision == apportion.fit(voters, by="county", id="id")
    again = decision.apply([voters_path], output=tmp_path / "b.csv", id="id")
    assert pyarrow.csv.read_csv(again)["label"].to_pylist() == labels
    audit = apportion.audit(path, "label")
    assert audit.details == apportion.audit(voters, apportion.label(voters, rule="argmax")).details
    with pytest.raises(ValueError, match='there is no column "white"'):
        apportion.audit(path, ["white"])
    with pytest.raises(TypeError, match="it must be the name of a column"):
        apportion.audit(path, np.array(["white"]))


def test_a_decision_is_that_of_the_program(
    voters_path: Path, voters: pa.Table, program: Callable[..., str], tmp_path: Path
) -> None:
    program("fit", voters_path, "--by", "county", "-o", tmp_path / "decision.json", "--quiet", "--no-provenance")
    text = (tmp_path / "decision.json").read_text()
    decision = apportion.fit(voters, by="county")
    assert json.loads(decision.to_json()) == json.loads(text)
    assert apportion.Decision.from_json(text) == decision and decision.classes[1] == "black"
    assert decision.apply(voters) == apportion.label(voters, by="county")
    sql = program("export", tmp_path / "decision.json", "--sql", "duckdb", "--quiet")
    assert decision.to_sql("duckdb") == sql.rstrip("\n")
    overall = apportion.fit(voters)
    labeled = duckdb.sql(f"select {overall.to_sql('duckdb')} as label from voters").fetchall()
    # In SQL, tied rows get the first of their classes.
    tied = json.loads(overall.to_json())["fit_info"]["tied"]
    differ = sum(row[0] != own for row, own in zip(labeled, apportion.label(voters).to_pylist(), strict=True))
    assert differ <= tied < 100


def test_figures_are_those_of_the_program(voters_path: Path, voters: pa.Table, program: Callable[..., str]) -> None:
    compared = json.loads(program("compare", voters_path, "--truth", "race", "--by", "county", "--json", "--quiet"))
    assert apportion.compare(voters, truth="race", by="county").details == compared
    walked = json.loads(program("frontier", voters_path, "--points", "50", "--json", "--quiet"))
    assert apportion.frontier(voters, points=50).details == walked
    audited = json.loads(program("audit", voters_path, "--label", "race", "--by", "county", "--json", "--quiet"))
    assert apportion.audit(voters, "race", by="county").details == audited


def test_simulations_are_those_of_the_program(program: Callable[..., str], tmp_path: Path) -> None:
    for what, made, words in [
        ("normal", apportion.simulate_normal(70_000, variance=2, prior=[0.5, 0.3, 0.2], seed=3), ["--variance", "2", "--prior", "0.5,0.3,0.2"]),
        ("categorical", apportion.simulate_categorical(100, signal=0.7, seed=3), ["--signal", "0.7"]),
        ("worst-case", apportion.simulate_worst_case(100, unknown=0.4, classes=3, seed=3), ["--unknown", "0.4", "--classes", "3"]),
        ("voters", apportion.simulate_voters(1000, seed=3), []),
    ]:  # fmt: skip
        path = tmp_path / f"{what}.parquet"
        program("simulate", what, "--rows", made.num_rows, "--seed", "3", "--double", "-o", path, "--quiet", *words)
        assert pq.read_table(path).cast(made.schema).equals(made), what


def test_threads_and_order_do_not_matter(voters: pa.Table) -> None:
    labels = apportion.label(voters, id="id", seed=5)
    assert apportion.label(voters, id="id", seed=5, threads=1) == labels
    order = np.random.default_rng(0).permutation(len(voters))
    assert apportion.label(voters.take(order), id="id", seed=5) == labels.take(pa.array(order))


def test_references_in_memory_are_as_those_in_files(voters: pa.Table, tmp_path: Path) -> None:
    shares = {"white": 0.6, "black": 0.2, "hispanic": 0.1, "asian": 0.05, "aian": 0.02, "other": 0.03}
    path = tmp_path / "shares.csv"
    path.write_text("class,share\n" + "".join(f"{name},{share}\n" for name, share in shares.items()))
    told = apportion.label(voters, id="id", reference=path)
    frame = pd.DataFrame({"class": list(shares), "share": list(shares.values())})
    for reference in (shares, frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        assert apportion.label(voters, id="id", reference=reference) == told
    assert apportion.solve(voters, reference=shares).counts["black"] == 20_000


def test_people_of_cells(program: Callable[..., str], tmp_path: Path) -> None:
    cells = pd.DataFrame({"p_a": [0.75, 0.5, 0.9], "p_b": [0.25, 0.5, 0.1], "n": [4, 2, 1000]}, index=["x", "y", "z"])
    cells.to_csv(tmp_path / "cells.csv", index=False)
    program("label", tmp_path / "cells.csv", "--count", "n", "-o", tmp_path / "out.csv", "--quiet")
    told = pd.read_csv(tmp_path / "out.csv")[["n_a", "n_b", "n_uncoded"]]
    people = apportion.allot(cells, "n")
    assert list(people.index) == ["x", "y", "z"] and people.to_numpy().tolist() == told.to_numpy().tolist()
    assert apportion.allot(pl.from_pandas(cells), "n").to_numpy().tolist() == told.to_numpy().tolist()


def test_draws_are_those_of_the_program(
    voters_path: Path, voters: pa.Table, program: Callable[..., str], tmp_path: Path
) -> None:
    program(
        "label",
        voters_path,
        "--rule",
        "thompson",
        "--draws",
        "3",
        "--seed",
        "1",
        "-o",
        tmp_path / "d.parquet",
        "--quiet",
    )
    told = pq.read_table(tmp_path / "d.parquet")
    drawn = apportion.draw(voters, 3, seed=1)
    assert drawn.column_names == ["label_1", "label_2", "label_3"]
    for name in drawn.column_names:
        assert drawn[name].to_pylist() == told[name].to_pylist()
    assert apportion.draw(voters.to_pandas(), 3, seed=1)["label_2"].tolist() == told["label_2"].to_pylist()
