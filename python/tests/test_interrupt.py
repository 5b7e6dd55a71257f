"""Ctrl-C cancels a job without leaving incomplete files, and the GIL is released while a job runs."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import apportion

INTERRUPTED = """
import os, signal, sys, threading, time
import apportion
threading.Timer(float(sys.argv[3]), lambda: os.kill(os.getpid(), signal.SIGINT)).start()
begun = time.monotonic()
try:
    for _ in range(1000):
        apportion.label(sys.argv[1], output=sys.argv[2], overwrite=True)
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_ctrl_c_ends_the_work(tmp_path: Path) -> None:
    source, target = tmp_path / "scores.csv", tmp_path / "out" / "labeled.csv"
    target.parent.mkdir()
    source.write_text("p_a,p_b\n" + "0.75,0.25\n0.5,0.5\n" * 200_000)
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(source), str(target), "1.5"], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "interrupted\n", done.stderr
    assert [path.name for path in target.parent.iterdir()] in ([], ["labeled.csv"])


def test_other_threads_go_on() -> None:
    people = apportion.simulate_normal(200_000)
    beats: list[float] = []
    done = threading.Event()

    def beat() -> None:
        while not done.is_set():
            beats.append(time.monotonic())
            time.sleep(0.001)

    other = threading.Thread(target=beat)
    other.start()
    begun = time.monotonic()
    apportion.compare(people, truth="truth")
    ended = time.monotonic()
    done.set()
    other.join()
    assert sum(begun < beat < ended for beat in beats) > 20


def test_progress_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from apportion import _run

    (tmp_path / "scores.csv").write_text("p_a,p_b\n" + "0.75,0.25\n" * 600_000)
    told: list[tuple[str, float | None]] = []

    class Told(_run.Bar):
        def __call__(self, what: str, part: float | None) -> None:
            told.append((what, part))

    monkeypatch.setattr(_run, "Bar", Told)
    apportion.frontier(tmp_path / "scores.csv", threads=1)
    assert any(what == "reading" and part is not None and 0 <= part <= 1 for what, part in told)
