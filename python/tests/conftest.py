"""Shared fixtures: the program, whose results must be equal, and a voter file with known truth."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

SHARED = Path(__file__).parents[3] / "shared" / "data"
CLASSES = ["white", "black", "hispanic", "asian", "aian", "other"]
COLUMNS = [f"p_{name}" for name in CLASSES]


@pytest.fixture(scope="session")
def program_path() -> Path:
    """Returns the program, whose path is in APPORTION."""
    path = os.environ.get("APPORTION")
    if path is None:
        pytest.skip("APPORTION does not name the program")
    return Path(path)


@pytest.fixture(scope="session")
def program(program_path: Path) -> Callable[..., str]:
    """Runs the program."""

    def run(*words: Any) -> str:
        done = subprocess.run([program_path, *map(str, words)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def voters_path() -> Path:
    """A hundred thousand simulated voters, on which other tools have been tested."""
    path = SHARED / "nc_synth_100k.parquet"
    if not path.exists():
        if os.environ.get("CI"):
            pytest.fail(f"{path.name} is missing, which the tests need here")
        pytest.skip(f"{path.name} is not there")
    return path


@pytest.fixture(scope="session")
def voters(voters_path: Path) -> pa.Table:
    return pq.read_table(voters_path)


@pytest.fixture(scope="session")
def scores(voters: pa.Table) -> np.ndarray:
    return np.column_stack([voters[name].to_numpy() for name in COLUMNS])
