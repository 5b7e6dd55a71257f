"""Scores from names and places equal those of the program, for every type of frame."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import apportion

PEOPLE = {
    "id": [7, 8, 9, 10, 11],
    "surname": ["Washington", "Garcia", "Peña", "XQZW", None],
    "county_fips": ["37183", "37063", "37063", "37183", "99999"],
}


@pytest.mark.filterwarnings("ignore:the places of 1 of 5 people")  # one person has no known place
def test_scores_are_those_of_the_program(program: Callable[..., str], tmp_path: Path) -> None:
    pq.write_table(pa.table(PEOPLE), tmp_path / "people.parquet")
    program("predict", tmp_path / "people.parquet", "-o", tmp_path / "scores.parquet", "--quiet")
    told = pq.read_table(tmp_path / "scores.parquet").drop(list(PEOPLE)).to_pandas()
    frame = pd.DataFrame(PEOPLE, index=list("abcde"))
    scores = apportion.predict(frame)
    assert list(scores.index) == list("abcde")
    pd.testing.assert_frame_equal(scores.reset_index(drop=True).astype(told.dtypes), told)
    assert apportion.predict(pl.DataFrame(PEOPLE)).drop(
        list(scores.select_dtypes("category").columns)
    ).to_numpy().tolist() == (scores.select_dtypes("float").to_numpy().tolist())
    assert isinstance(apportion.predict(duckdb.from_arrow(pa.table(PEOPLE))), duckdb.DuckDBPyRelation)
    assert apportion.predict(tmp_path / "people.parquet", output=tmp_path / "own.parquet").exists()
    assert pq.read_table(tmp_path / "own.parquet") == pq.read_table(tmp_path / "scores.parquet")
    labels = apportion.label(scores)
    assert labels["a"] == "black" and labels["b"] == "hispanic" and labels.notna().all()


@pytest.mark.filterwarnings("ignore:the places of 1 of 5 people")  # one person has no known place
def test_a_margin_may_be_in_memory(tmp_path: Path) -> None:
    shares = {"white": 0.5, "black": 0.2, "hispanic": 0.2, "asian": 0.05, "aian": 0.02, "other": 0.03}
    people = pd.DataFrame({**PEOPLE, "surname": ["Washington", "Garcia", "Smith", "Nguyen", "Begay"]})
    scores = apportion.predict(people, "rake", margin=shares)
    sums = scores.filter(like="p_").mean()
    assert all(sums[f"p_{name}"] == pytest.approx(share, abs=1e-9) for name, share in shares.items())


def test_without_a_margin_a_warning_names_the_population(tmp_path: Path) -> None:
    people = pd.DataFrame({"surname": ["Smith", "Garcia"], "county_fips": ["37183", "37183"]})
    words = r"the scores describe .*Census.*margin=\{class: share, …\} with model='voter' or model='rake'"
    with pytest.warns(UserWarning, match=words) as caught:
        apportion.predict(people)
    assert [record.filename for record in caught] == [__file__]
    shares = {"white": 0.6, "black": 0.2, "hispanic": 0.2, "asian": 0, "aian": 0, "other": 0}
    with warnings.catch_warnings(record=True) as silent:
        warnings.simplefilter("always")
        apportion.predict(people, "voter", margin=shares, within="NC")
    assert not any("the scores describe" in str(record.message) for record in silent)


def test_the_summary_names_the_population_and_the_unused_columns() -> None:
    people = pd.DataFrame({"surname": ["Smith"], "first_name": ["Ann"], "county_fips": ["37183"]})
    _, summary = apportion.predict(people, names="census", summary=True)
    assert summary["population"] == "adults, Census 2020 (name lists: surnames, Census 2020; first names, Census 2020)"
    assert summary["model"] == "bifsg" and summary["unused"] == []
    _, summary = apportion.predict(people, "bisg", vintage="2010", names="census", summary=True)
    assert summary["population"] == "residents of all ages, Census 2010 (name lists: surnames, Census 2010)"
    reason = "model bifsg uses first names"
    assert summary["unused"] == [{"column": "first_name", "used_as": None, "reason": reason}]


def test_margins_by_surname_and_place(tmp_path: Path) -> None:
    people = apportion.simulate_voters(2000, seed=4, no_scores=True).to_pandas()
    places, others = ["county", "county_fips", "tract", "block_group", "zip"], ["party", "voted", "race"]
    assert list(people.columns) == ["id", *places, "first_name", "surname", *others]
    counties = pd.crosstab(people["county_fips"], people["race"]).add_prefix("n_") + 1
    counties.to_csv(tmp_path / "counties.csv")
    own = {"place_margin": tmp_path / "counties.csv", "geography": [Path("counties-2010")]}
    raked, summary = apportion.predict(people, "rake", **own, summary=True)
    assert summary["people"] == 2000 and summary["off"] <= 1e-9 and summary["place_used"]["county"] == 2000
    sums = raked.filter(like="p_").groupby(people["county_fips"]).mean()
    shares = counties.div(counties.sum(axis=1), axis=0)
    for name in ("white", "black", "hispanic", "asian", "aian", "other"):
        assert (sums[f"p_{name}"] - shares[f"n_{name}"]).abs().max() < 1e-6


def test_options_of_the_models(tmp_path: Path) -> None:
    people = apportion.simulate_voters(300, seed=4, no_scores=True)
    with pytest.warns(UserWarning, match='the people look like voters \\(column "party"\\)'):
        drawn = apportion.predict(people, "fbisg", burn_in=5, sweeps=20, seed=1, prefix="f_")
    assert all(0 < share < 1 for share in drawn["f_white"].to_pylist())
    shares = {"white": 0.7, "black": 0.22, "hispanic": 0.03, "asian": 0.015, "aian": 0.01, "other": 0.025}
    ours, theirs = (
        apportion.predict(people, "voter", margin=shares, within="NC", as_published=published)["p_black"].to_pylist()
        for published in (False, True)
    )
    assert sum(ours) != pytest.approx(sum(theirs), abs=1)
    with pytest.raises(TypeError, match="sweeps: it must be a whole number"):
        apportion.predict(people, "fbisg", sweeps=2.5)  # type: ignore[arg-type]


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(TypeError, match="it must be a frame with columns of names and places"):
        apportion.predict([[0.5, 0.5]])
    with pytest.raises(ValueError, match="surname"):
        apportion.predict(pd.DataFrame({"x": [1]}))
    people = pd.DataFrame(PEOPLE)
    with pytest.raises(ValueError, match="output: it is only for people in files"):
        apportion.predict(people, output="scores.parquet")
    with pytest.raises(TypeError, match="geography: it must be the path of a file"):
        apportion.predict(people, geography=people)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="seed requires model fbisg"):
        apportion.predict(people, seed=3)
