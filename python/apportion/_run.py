"""Runs jobs on data in memory or in files. Warnings become UserWarnings; notes go to the logger `apportion`."""

from __future__ import annotations

import importlib.util
import logging
import os
import sys
import time
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _native
from ._frames import Array, Input
from ._options import DEFAULTS
from ._reference import shares_table

#: Receives the notes of jobs at level INFO, such as recognized score columns and rows that were left out.
log = logging.getLogger("apportion")


class DriftWarning(UserWarning):
    """Warns that the counts of a decision's labels differ from its targets by more than chance explains.

    >>> import warnings, apportion
    >>> decision = apportion.fit([[0.6, 0.4], [0.7, 0.3]])
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", apportion.DriftWarning)    # counts that have drifted stop the program
    ...     labels = decision.apply([[0.6, 0.4], [0.7, 0.3]])
    """


#: Whether this process was forked; it then does not have the threads of its parent.
_forked = False


def _after_fork() -> None:
    global _forked
    _forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def run(
    job: str,
    source: Input | None,
    values: Mapping[str, Any],
    *,
    reference: Any = None,
    training_shares: Any = None,
    margin: Any = None,
    decision: str | None = None,
    groups: bool = False,
    threads: int | None = None,
    progress: bool | None = None,
) -> _native.Done:
    """Runs a job with settings by ID. Settings that are None or have their default are left out."""
    values = {name: value for name, value in values.items() if value is not None and value is not False}
    for name, default in DEFAULTS.items():
        if name in values and type(values[name]) is type(default) and values[name] == default:
            del values[name]
    given: dict[str, Any] = {"table": None, "matrix": None, "reference": None, "training": None, "decision": decision}
    given["groups"] = groups
    classes = source.columns if isinstance(source, Array) else None
    for name, shares in (("reference", reference), ("margin", margin)):
        if isinstance(shares, str) or hasattr(shares, "__fspath__"):
            values[name] = os.fspath(shares)
        elif shares is not None:
            given["reference"] = shares_table(name, shares, classes)
    if isinstance(training_shares, str) or hasattr(training_shares, "__fspath__"):
        values["training_shares"] = os.fspath(training_shares)
    elif training_shares is not None:
        given["training"] = shares_table("training_shares", training_shares, classes)
    if values.get("reference") == "posterior":
        del values["reference"]  # the default, which rules without a reference accept
    if source is not None:
        given |= {"table": source.table, "matrix": source.matrix}
        if "table" not in values:  # a table of names or places, which has its own setting
            values["inputs"] = source.names
    bar = Bar(progress)
    try:
        done = _native.run(job, values, given, _threads(threads), bar)
    finally:
        bar.close()
    if done.drift is not None:
        warnings.warn(done.drift, DriftWarning, stacklevel=outside())
    for text in done.warnings:
        warnings.warn(text, UserWarning, stacklevel=outside())
    for text in done.notes:
        log.info(text)
    return done


def _threads(threads: Any) -> int | None:
    threads = threads.item() if isinstance(threads, np.generic) else threads
    if threads is None:
        return os.cpu_count() if _forked else None
    if not isinstance(threads, int) or isinstance(threads, bool) or not 1 <= threads <= 1024:
        raise ValueError(f"threads: it must be a whole number from 1 to 1024, not {threads!r}; use None for all processors")
    return threads


def outside() -> int:
    """Returns the stack level of the code that called the package, for warnings."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        frame, level = frame.f_back, level + 1
    return level


class Bar:
    """A progress bar, shown after a second if tqdm is installed and there is a terminal or a notebook."""

    def __init__(self, wanted: bool | None) -> None:
        self.begun = time.monotonic()
        self.bar: Any = None
        self.wanted = wanted is True or wanted is None and ("ipykernel" in sys.modules or sys.stderr.isatty())
        if wanted is True and importlib.util.find_spec("tqdm") is None:
            raise ImportError("progress=True needs tqdm: pip install 'apportion[progress]'")

    def __call__(self, what: str, part: float | None) -> None:
        if not self.wanted or time.monotonic() - self.begun < 1:
            return
        if self.bar is None:
            self.bar = _new_bar()
        if self.bar is None:
            self.wanted = False
            return
        self.bar.set_description(what, refresh=False)
        if part is not None:
            self.bar.n = round(min(part, 1.0), 3)
        self.bar.refresh()

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()


def _new_bar() -> Any:
    """Returns a progress bar; None if tqdm is not installed. tqdm is imported here, because it warns in some notebooks."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=1.0, leave=False, bar_format="{desc} {bar} {percentage:3.0f}% {elapsed}")
