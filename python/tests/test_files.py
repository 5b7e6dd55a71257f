"""Functions on files, and on the tables behind scores, equal the commands of the program."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import apportion
from apportion import tables


@pytest.fixture(scope="module")
def people() -> pa.Table:
    return apportion.simulate_voters(400, seed=1)


@pytest.fixture
def path(people: pa.Table, tmp_path: Path) -> Path:
    pq.write_table(people, tmp_path / "voters.parquet")
    return tmp_path / "voters.parquet"


def test_draws_and_cells_of_files(people: pa.Table, path: Path, tmp_path: Path) -> None:
    drawn = pq.read_table(apportion.draw(path, 3, output=tmp_path / "drawn.parquet", seed=2, id="id", only_label=True))
    told = apportion.draw(people, 3, seed=2, id="id")
    assert drawn.column_names == ["id", "label_1", "label_2", "label_3"]
    assert all(drawn[name].to_pylist() == told[name].to_pylist() for name in told.column_names)
    cells = people.append_column("n", pa.array([1 + row % 5 for row in range(400)]))
    pq.write_table(cells, tmp_path / "cells.parquet")
    output = pq.read_table(apportion.allot(tmp_path / "cells.parquet", "n", output=tmp_path / "allotted.parquet"))
    told = apportion.allot(cells, "n")
    assert all(output[name].to_pylist() == told[name].to_pylist() for name in told.column_names)


def test_options_of_text_files_and_outputs(people: pa.Table, tmp_path: Path) -> None:
    frame = people.to_pandas()[["id", *(name for name in people.column_names if name.startswith("p_"))]]
    frame["id"] = "é" + frame["id"].astype(str)
    frame.to_csv(tmp_path / "own.txt", sep=";", index=False, encoding="cp1252")
    output = apportion.label(
        tmp_path / "own.txt", output=tmp_path / "out.csv", id="id", encoding="windows-1252", delimiter=";", only_label=True,
        name="race", max_line="1M", batch_rows=10, provenance=tmp_path / "provenance.json",
    )  # fmt: skip
    labeled = pd.read_csv(output)
    assert list(labeled.columns) == ["id", "race"] and labeled["id"].tolist() == frame["id"].tolist()
    assert labeled["race"].tolist() == apportion.label(frame, id="id").tolist()
    assert apportion.provenance(tmp_path / "provenance.json")["options"]["delimiter"] == ";"


def test_outputs_are_verified(people: pa.Table, path: Path, tmp_path: Path, program: Callable[..., str]) -> None:
    output = apportion.label(path, output=tmp_path / "labels.parquet", by="party", id="id")
    verification = apportion.verify(output, path)
    assert verification and verification.verified and verification.difference is None
    assert verification.details == json.loads(program("verify", output, "--against", path, "--json"))
    assert {row["status"] for row in verification} >= {"verified"} and "verified: the labels are optimal" in str(verification)
    decision = apportion.fit(path, by="party", id="id")
    assert apportion.verify(decision.apply(path, output=tmp_path / "applied.parquet", id="id"), path, decision=decision)
    changed = pq.read_table(output).to_pandas()
    changed.loc[0, "label"] = "asian" if changed.loc[0, "label"] != "asian" else "white"
    changed.to_csv(tmp_path / "changed.csv", index=False)
    wrong = apportion.verify(tmp_path / "changed.csv", path, rule="match", by="party", id="id")
    assert not wrong and wrong.difference is not None and f"different: {wrong.difference}" in str(wrong)
    assert apportion.provenance(output) == json.loads(program("provenance", output, "--json"))
    assert apportion.provenance(output)["counts"] == list(apportion.solve(people, by="party", id="id").counts.values())


def test_reports_figures_and_results(people: pa.Table, path: Path, tmp_path: Path) -> None:
    apportion.label(path, output=tmp_path / "labels.parquet", report=tmp_path / "label.html", title="Own title")
    assert "Own title" in (tmp_path / "label.html").read_text()
    apportion.solve(people, report=tmp_path / "solve.md", figures=tmp_path / "solve-figures")
    assert (tmp_path / "solve.md").read_text().startswith("#") and any((tmp_path / "solve-figures").glob("*.csv"))
    comparison = apportion.compare(path, truth="race", output=tmp_path / "compare.json", figures=tmp_path / "figures")
    assert json.loads((tmp_path / "compare.json").read_text()) == comparison.details
    again = comparison.figures(tmp_path / "again")
    names = sorted(own.name for own in again.iterdir())
    assert names == sorted(own.name for own in (tmp_path / "figures").iterdir()) and len(names) > 3
    assert all((again / name).read_bytes() == (tmp_path / "figures" / name).read_bytes() for name in names)
    comparison.figures(again, overwrite=True)


def test_outcomes_of_reports(people: pa.Table, tmp_path: Path) -> None:
    for function in (apportion.audit, apportion.compare):
        options = {"label": apportion.label(people)} if function is apportion.audit else {}
        result = function(people, outcome="voted", favorable="1", no_bootstrap=True, **options)  # type: ignore[operator]
        assert "voted" in result.report(tmp_path / f"{function.__name__}.md").read_text()


def test_the_label_column_is_found(people: pa.Table) -> None:
    labels = apportion.label(people, "argmax")
    assert apportion.audit(people.append_column("label", labels)) == apportion.audit(people, labels)


def test_built_in_tables(program: Callable[..., str], tmp_path: Path) -> None:
    listed = tables.list().to_pylist()
    assert [line.split()[0] for line in program("tables", "list").splitlines()] == [own["name"] for own in listed]
    shown = tables.show("states-2020")
    assert shown["name"] == "states-2020" and shown["classes"]
    states = tables.export("states-2020")
    assert isinstance(states, pa.Table) and states.num_rows == next(own["rows"] for own in listed if own["name"] == "states-2020")
    output = tables.export("states-2020", output=tmp_path / "states.parquet")
    assert pq.read_table(output).to_pylist() == states.to_pylist()
    checked = tables.check(output)
    assert checked == tables.check(output) and checked.details["rows"] == states.num_rows
    assert checked["black"]["share"] == pytest.approx(
        sum(states["n_black"].to_pylist()) / sum(sum(states[f"n_{name}"].to_pylist()) for name in checked.details["classes"])
    )
    assert tables.check(states).details["margin"] == checked.details["margin"] and "states" in str(checked)
    with pytest.raises(FileExistsError):
        tables.export("states-2020", output=output)


def test_census_files_are_imported(program: Callable[..., str], tmp_path: Path) -> None:
    found = sorted((Path(__file__).parents[2] / "crates" / "apportion-cli" / "tests").rglob("*-Data.csv"))
    if not found:
        pytest.skip("there is no file of the Census Bureau")
    table = tables.import_census(found[0])
    program("tables", "import", found[0], "-o", tmp_path / "own.csv", "--quiet")
    assert isinstance(table, pa.Table) and table.num_rows == len(pd.read_csv(tmp_path / "own.csv"))


def test_simulations_have_the_options_of_the_program(program: Callable[..., str], tmp_path: Path) -> None:
    made = apportion.simulate_voters(300, seed=3, prior_shift=0.5, sharpen=1.5, noise=0.2, merge={"aian": "other"})
    words = "--prior-shift 0.5 --sharpen 1.5 --noise 0.2 --merge aian=other --rows 300 --seed 3 --double --quiet".split()
    program("simulate", "voters", "-o", tmp_path / "voters.parquet", *words)
    assert pq.read_table(tmp_path / "voters.parquet").cast(made.schema).equals(made)


def test_the_settings_of_the_paper_are_checked(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("")
    with pytest.raises(FileExistsError, match="the folder is not empty"):
        apportion.reproduce(tmp_path)
    for name in ("datasets", "rows", "voters"):
        with pytest.raises(ValueError, match=f"{name}: it must be"):
            apportion.reproduce(tmp_path / "paper", **{name: 1})  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError, match="public.csv: no such file"):
        apportion.reproduce(tmp_path / "paper", public=tmp_path / "public.csv")
