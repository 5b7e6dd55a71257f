"""The program inside the package: `python -m apportion` and the command `apportion`."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest

import apportion

MODULE = [sys.executable, "-m", "apportion"]
COMMAND = [str(Path(sys.executable).with_name("apportion"))]


def run(program: list[str], *words: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*program, *map(str, words)], capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize("program", [MODULE, COMMAND], ids=["module", "command"])
def test_it_is_the_program(program: list[str], program_path: Path, tmp_path: Path) -> None:
    assert run(program, "--version").stdout.splitlines()[0] == f"apportion {apportion.__version__}"
    for words in (["--help"], ["label", "--help"], ["--no-such-option"], ["label", "missing.csv"], []):
        inside, outside = run(program, *words), run([str(program_path)], *words)
        assert (inside.returncode, inside.stdout, inside.stderr) == (
            outside.returncode,
            outside.stdout,
            outside.stderr,
        )
    assert run(program, "simulate", "voters", "--rows", 500, "-o", tmp_path / "voters.csv").returncode == 0
    assert run(program, "label", tmp_path / "voters.csv", "-o", tmp_path / "inside.csv").returncode == 0
    assert run([str(program_path)], "label", tmp_path / "voters.csv", "-o", tmp_path / "outside.csv").returncode == 0
    assert (tmp_path / "inside.csv").read_bytes() == (tmp_path / "outside.csv").read_bytes()


def test_output_without_a_line_break_is_complete(tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text("p_a,p_b\n0.7,0.3\n0.4,0.6\n")
    labeled = run(MODULE, "label", tmp_path / "scores.csv", "-o", "-")
    assert labeled.stdout == "p_a,p_b,label,label_score\n0.7,0.3,a,0.7\n0.4,0.6,b,0.6\n", labeled.stderr


def test_the_wheel_has_its_licenses() -> None:
    licenses = {Path(str(path)).name for path in distribution("apportion").files or [] if "licenses" in path.parts}
    assert {"LICENSE-MIT", "LICENSE-APACHE"} <= licenses
