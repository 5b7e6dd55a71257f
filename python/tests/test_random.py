"""Random tables and options: the package and the program give the same labels, and the program verifies its output."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import apportion

OPTIONS: list[tuple[dict[str, Any], list[str]]] = [
    ({"rule": "argmax"}, ["--rule", "argmax"]),
    ({"rule": "thompson", "seed": 3}, ["--rule", "thompson", "--seed", "3"]),
    ({"rule": "top-k", "k": 2}, ["--rule", "top-k", "--k", "2"]),
    ({}, []),
    ({"by": "g"}, ["--by", "g"]),
    ({"reference": "uniform"}, ["--reference", "uniform"]),
    ({"coverage": 0.6}, ["--coverage", "0.6"]),
    ({"rule": "balance", "gamma": 0.8}, ["--rule", "balance", "--gamma", "0.8"]),
    ({"rule": "balance", "penalty": "kl"}, ["--rule", "balance", "--penalty", "kl"]),
]


def random_table(number: int) -> pd.DataFrame:
    """Returns a small table; every second table has few distinct scores, and therefore many ties."""
    chance = np.random.default_rng(number)
    rows, classes = int(chance.integers(1, 60)), int(chance.integers(2, 6))
    weights = chance.integers(1, 4 if number % 2 else 100_000, (rows, classes)).astype(float)
    table = pd.DataFrame(weights / weights.sum(axis=1, keepdims=True), columns=[f"p_c{k}" for k in range(classes)])
    table.insert(0, "id", [f"v{row}" for row in range(rows)])
    table.insert(1, "g", chance.integers(0, 3, rows).astype(str))
    return table


@pytest.mark.parametrize("number", range(18))
def test_package_and_program_agree(number: int, program: Callable[..., str], tmp_path: Path) -> None:
    table = random_table(number)
    options, words = OPTIONS[number % len(OPTIONS)]
    scores, output = tmp_path / "scores.parquet", tmp_path / "out.parquet"
    table.to_parquet(scores)
    program("label", scores, "-o", output, "--id", "id", "--quiet", *words)
    labels = [None if name == "Uncoded" else name for name in pq.read_table(output)["label"].to_pylist()]
    own = apportion.solve(table, id="id", **options).labels
    assert [None if pd.isna(label) else label for label in own] == labels
    assert "verified" in program("verify", output, "--against", scores)
