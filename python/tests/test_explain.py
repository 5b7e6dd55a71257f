"""Explanations have the scores of `predict`, and their factors multiply to them."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import apportion

PEOPLE = {
    "first_name": ["Maria", "John", "Ann", None],
    "surname": ["García", "Smith Jr.", "Nguyen-Smith", None],
    "county_fips": ["37063", "37183", "37183", None],
}
SHARES = {"white": 0.6, "black": 0.2, "hispanic": 0.1, "asian": 0.05, "aian": 0.02, "other": 0.03}


@pytest.mark.filterwarnings("ignore:the scores describe", "ignore:the places of 1 of 4 people")
@pytest.mark.parametrize(
    ("model", "options"),
    [
        (None, {}),
        ("bisg", {"vintage": "2010"}),
        ("voter", {"margin": SHARES, "within": "NC"}),
        ("rake", {"margin": SHARES}),
        ("fbisg", {"burn_in": 5, "sweeps": 20, "seed": 1}),
    ],
)
def test_scores_are_those_of_predict(model: apportion._predict.Model | None, options: dict[str, object]) -> None:
    people = pd.DataFrame(PEOPLE, index=list("abcd"))
    scores = apportion.predict(people, model, **options).filter(like="p_")  # type: ignore[arg-type]
    for row in range(len(people)):
        explanation = apportion.explain(people, row + 1, model, **options)
        assert list(explanation.scores.values()) == scores.iloc[row].tolist()
        details = explanation.details
        if model == "fbisg":
            continue
        product = [1.0] * 6
        for factor in details["factors"]:
            product = [own * value ** factor["power"] for own, value in zip(product, factor["values"], strict=True)]
        weights = details.get("weights", [1.0] * 6)
        product = [own * weight for own, weight in zip(product, weights, strict=True)]
        again = [own / sum(product) for own in product]
        assert all(math.isclose(*pair, rel_tol=1e-9) for pair in zip(again, explanation.scores.values(), strict=True))


def test_files_and_the_text_of_the_program(program: Callable[..., str], tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table(PEOPLE), path)
    shown = str(apportion.explain(path, row=2))
    assert shown == program("explain", path, "--row", "2", "--quiet").rstrip("\n")
    assert "score(r) ∝ P(r|s) / P_sur(r) · P(r|f) / P_first(r) · N_gr" in shown
    own = apportion.explain(pa.table(PEOPLE), row=2, geography=[Path("counties-2010")], names="census")
    assert own.details["places"][0]["table"] == "counties-2010"


def test_what_is_wrong_is_said() -> None:
    people = pd.DataFrame(PEOPLE)
    with pytest.raises(ValueError, match=r"row: it must be 1 or more"):
        apportion.explain(people, row=0)
    with pytest.raises(ValueError, match=r"row=5: people has 4 rows; choose a row from 1 to 4"):
        apportion.explain(people, row=5)
    with pytest.raises(TypeError, match=r"row: it must be a whole number"):
        apportion.explain(people, row="a")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"explain\(\) has no option 'output'"):
        apportion.explain(people, row=1, output="scores.csv")
    with pytest.raises(TypeError, match=r"explain\(\) has no option 'vintag'; did you mean vintage\?"):
        apportion.explain(people, row=1, vintag="2010")
    with pytest.raises(TypeError, match="it must be a frame with columns of names and places"):
        apportion.explain([[0.5, 0.5]], row=1)
    with pytest.raises(ValueError, match="surname"):
        apportion.explain(pd.DataFrame({"x": [1]}), row=1)
