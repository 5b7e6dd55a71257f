"""The output of --json conforms to the schemas in docs/schema."""

from __future__ import annotations

import csv
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

SHARES = {"white": 0.6, "black": 0.2, "hispanic": 0.08, "asian": 0.04, "aian": 0.04, "other": 0.04}
SCHEMAS = Path(__file__).parents[2] / "docs" / "schema"

LABEL = ["label", "voters.csv", "-o", "out.csv", "--force"]
FIT = ["fit", "voters.csv", "-o", "fitted.json", "--force"]
PREDICT = ["predict", "people.csv", "-o", "out.parquet", "--force"]
RULES = {
    "match": [],
    "match by group": ["--by", "county"],
    "match, nested": ["--nested", "county"],
    "match to the truth": ["--reference", "truth", "--truth", "race"],
    "match, coverage": ["--coverage", "0.8"],
    "match, bounds": ["--at-least", "asian=5%", "--at-most", "white=500"],
    "match from a sample": ["--from-sample", "500"],
    "balance": ["--rule", "balance", "--gamma", "0.9", "--penalty", "kl"],
    "balance, tolerance": ["--rule", "balance", "--gamma", "1", "--tolerance", "0.01"],
    "argmax": ["--rule", "argmax"],
    "threshold": ["--rule", "threshold", "--at", "0.8,black=0.5"],
    "thompson": ["--rule", "thompson"],
    "top-k": ["--rule", "top-k", "--k", "3"],
    "learned": ["--rule", "learned", "--train-rows", "300"],
    "learned, logistic": ["--rule", "learned", "--train-rows", "300", "--learner", "logistic"],
    "learned, forest": ["--rule", "learned", "--train-rows", "300", "--learner", "forest"],
}
COMMANDS: list[list[str]] = [
    *([*LABEL, *words] for words in RULES.values()),
    *([*LABEL, *words, "--provenance", "new.json"] for words in RULES.values()),
    *([*FIT, *words] for words in RULES.values()),
    [*LABEL, "--truth", "race", "--id", "id"],
    [*LABEL, "--rule", "thompson", "--draws", "3"],
    [*LABEL, "--count", "people"],
    [*LABEL, "--count", "people", "--rule", "thompson"],
    [*LABEL, "--report", "label.html"],
    ["label", "voters.csv", "-o", "out.parquet", "--force", "--by", "county"],
    [*FIT, "--no-provenance"],
    ["apply", "voters.csv", "--decision", "decision.json", "-o", "out.csv", "--force"],
    ["apply", "voters.csv", "--decision", "decision.json", "-o", "out.parquet", "--force", "--truth", "race"],
    ["apply", "voters.csv", "--decision", "forest.json", "-o", "out.parquet", "--force"],
    ["audit", "some.csv", "--label", "label"],
    ["audit", "some.csv", "--label", "label", "--truth", "race", "--by", "county", "--bootstrap", "20"],
    ["audit", "some.csv", "--label", "label", "--uncoded", "Uncoded=drop", "--count", "people", "--truth", "race"],
    ["audit", "matched.csv", "--label", "label", "--decision", "decision.json", "--focus", "black"],
    ["compare", "voters.csv"],
    ["compare", "voters.csv", "--truth", "race", "--by", "county", "--batch", "200"],
    ["compare", "some.csv", "--label", "label", "--count", "people"],
    ["disparity", "voters.csv", "--outcome", "party"],
    ["disparity", "some.csv", "--outcome", "party", "--truth", "race", "--by", "county", "--label", "label"],
    ["disparity", "voters.csv", "--outcome", "people"],
    ["frontier", "voters.csv", "--points", "10"],
    ["frontier", "voters.csv", "--by", "county", "--reference", "uniform"],
    ["verify", "matched.parquet", "--against", "voters.csv"],
    ["verify", "matched.csv", "--against", "voters.csv"],
    ["verify", "some.csv", "--against", "voters.csv", "--rule", "threshold"],
    ["verify", "changed.csv", "--against", "voters.csv", "--rule", "match"],
    ["provenance", "matched.parquet"],
    ["provenance", "decision.json"],
    ["provenance", "scores.parquet"],
    PREDICT,
    ["predict", "people.csv", "-o", "out.csv", "--force", "--model", "bifsg"],
    [*PREDICT, "--model", "voter", "--margin", "margin.csv", "--within", "NC"],
    [*PREDICT, "--model", "rake", "--margin", "margin.csv"],
    [*PREDICT, "--model", "rake", "--surname-margin", "surnames.csv", "--place-margin", "places.csv"],
    [*PREDICT, "--model", "fbisg"],
    ["describe", "people.csv"],
    ["describe", "voters.csv"],
    ["explain", "people.csv", "--row", "1"],
    ["explain", "people.csv", "--row", "2", "--model", "rake", "--margin", "margin.csv"],
    ["explain", "people.csv", "--row", "3", "--model", "rake", "--place-margin", "places.csv"],
    ["explain", "people.csv", "--row", "4", "--model", "fbisg"],
    ["explain", "names.csv", "--row", "1", "--full-name", "surname", "--geography", "none", "--model", "bifsg"],
    ["tables", "check", "names.csv"],
    ["tables", "check", "counties.csv"],
    ["tables", "check", "odd.csv"],
]


def read(path: Path) -> list[dict[str, Any]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def margin(people: list[dict[str, Any]], column: str) -> list[dict[str, Any]]:
    """Returns the number of people of each class by a column."""
    counts: dict[str, dict[str, int]] = {}
    for own in people:
        counts.setdefault(own[column], dict.fromkeys(SHARES, 0))[own["race"]] += 1
    return [{column: key} | {f"n_{name}": count for name, count in own.items()} for key, own in counts.items()]


def run(program: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program, *words], cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def folder(program_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder with simulated voters and the files that other commands need."""
    folder = tmp_path_factory.mktemp("schema")

    def made(*words: str) -> None:
        done = run(program_path, folder, *words)
        assert done.returncode == 0, done.stderr

    made("simulate", "voters", "--rows", "800", "--seed", "3", "-o", "simulated.csv")
    made("simulate", "voters", "--rows", "300", "--no-scores", "-o", "unnamed.csv")
    people = [own | {"first_name": "MARY"} for own in read(folder / "unnamed.csv")]
    write(folder / "people.csv", people)
    voters = read(folder / "simulated.csv")
    for row, own in enumerate(voters):
        own |= {"party": "DR"[row % 2], "people": str(row % 4)}
    write(folder / "voters.csv", voters)
    made("label", "voters.csv", "-o", "matched.csv")
    made("label", "voters.csv", "-o", "matched.parquet", "--by", "county")
    made("label", "voters.csv", "-o", "some.csv", "--rule", "threshold")
    made("fit", "voters.csv", "-o", "decision.json")
    made("fit", "voters.csv", "-o", "forest.json", "--rule", "learned", "--learner", "forest", "--train-rows", "300")
    made("predict", "people.csv", "-o", "scores.parquet")
    made("tables", "export", "surnames-2020", "-o", "names.csv")
    made("tables", "export", "counties-2010", "-o", "counties.csv")
    matched = read(folder / "matched.csv")
    next(own for own in matched if own["label"] == "white")["label"] = "other"
    write(folder / "changed.csv", matched)
    write(folder / "margin.csv", [{"class": own, "share": share} for own, share in SHARES.items()])
    write(folder / "surnames.csv", margin(people, "surname"))
    write(folder / "places.csv", margin(people, "county_fips"))
    (folder / "odd.csv").write_text("name,p_white,p_black,rank\nSMITH,0.7,0.3,1\nJONES,0.6,0.4,2\n")
    return folder


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words))
def test_output_is_valid(words: list[str], folder: Path, program_path: Path) -> None:
    done = run(program_path, folder, *words, "--json")
    assert done.stdout, done.stderr
    validator(words[0]).validate(json.loads(done.stdout))


def validator(job: str) -> Draft202012Validator:
    schema = json.loads((SCHEMAS / f"{job}.json").read_text())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def test_an_unknown_key_and_a_missing_one_are_refused(folder: Path, program_path: Path) -> None:
    found: dict[str, Any] = json.loads(run(program_path, folder, *LABEL, "--json").stdout)
    changes: list[Callable[[dict[str, Any]], Any]] = [
        lambda own: own.update(unknown=1),
        lambda own: own.pop("counts"),
        lambda own: own.update(seed="0"),
        lambda own: own["fidelity"].update(unknown=1),
        lambda own: own["certificate"].pop("gap"),
    ]
    for change in changes:
        changed = json.loads(json.dumps(found))
        change(changed)
        with pytest.raises(ValidationError):
            validator("label").validate(changed)
