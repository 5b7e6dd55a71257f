"""Descriptions list the columns that other functions recognize, and suggest calls that run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import apportion


def test_columns_of_a_frame_and_of_a_file_are_recognized(tmp_path: Path) -> None:
    voters = apportion.simulate_voters(50, seed=1).to_pandas()
    description = apportion.describe(voters)
    scores = [name for name, content in description.columns.items() if content == "score"]
    assert scores == [name for name in voters.columns if name.startswith("p_")]
    assert (description.columns["race"], description.details["rows"]) == ("truth", 50)
    path = tmp_path / "voters.csv"
    voters.to_csv(path, index=False)
    assert apportion.describe(path).columns == description.columns
    assert str(description).startswith("data: 50 rows, 17 columns\n")
    assert f"apportion.label({str(path)!r}, output='labels.csv', id='id')" in str(apportion.describe(path))


def test_suggested_calls_run() -> None:
    data = apportion.simulate_voters(200, seed=1).to_pandas()
    calls = [line for line in str(apportion.describe(data)).splitlines() if line.startswith("apportion.")]
    assert calls == [
        "apportion.label(data, id='id')",
        "apportion.label(data, by='county', id='id')",
        "apportion.compare(data, truth='race')",
    ]
    for call in calls:
        eval(call, {"apportion": apportion, "data": data})  # noqa: S307
    people = pd.DataFrame({"surname": ["Garcia"], "county_fips": ["37183"]})
    assert str(apportion.describe(people)).endswith("\napportion.predict(data)")


def test_data_without_column_names_are_refused() -> None:
    with pytest.raises(TypeError, match="data: it must have column names"):
        apportion.describe(np.array([[0.5, 0.5]]))
