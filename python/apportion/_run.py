"""Runs jobs on data in memory or in files. Warnings become UserWarnings; notes go to the logger `apportion`."""

from __future__ import annotations

import logging
import os
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from . import _native
from ._frames import Input, _arrow

#: Receives the notes of jobs at level INFO, such as recognized score columns and rows that were left out.
log = logging.getLogger("apportion")

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
    threads: int | None = None,
    progress: bool | None = None,
) -> _native.Done:
    """Runs a job with settings by ID. Settings that are None are left out."""
    values = dict(values)
    given: dict[str, Any] = {"table": None, "matrix": None, "reference": None, "training": None, "decision": decision}
    for name, shares in (("reference", reference), ("margin", margin)):
        if isinstance(shares, str) or hasattr(shares, "__fspath__"):
            values[name] = os.fspath(shares)
        elif shares is not None:
            given["reference"] = _shares(name, shares)
    if isinstance(training_shares, str) or hasattr(training_shares, "__fspath__"):
        values["training_shares"] = os.fspath(training_shares)
    elif training_shares is not None:
        given["training"] = _shares("training_shares", training_shares)
    if values.get("reference") == "posterior":
        del values["reference"]  # the default, which rules without a reference accept
    if source is not None:
        given |= {"table": source.table, "matrix": source.matrix}
        values["inputs"] = source.names
    bar = Bar(progress)
    try:
        done = _native.run(job, values, given, _threads(threads), bar)
    finally:
        bar.close()
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
        raise ValueError("threads: it must be a whole number from 1 to 1024")
    return threads


def outside() -> int:
    """Returns the stack level of the code that called the package, for warnings."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        frame, level = frame.f_back, level + 1
    return level


def _shares(name: str, shares: Any) -> pa.Table:
    """Returns class shares as a table."""
    if type(shares).__name__ == "Series" and hasattr(shares, "to_dict"):
        shares = shares.to_dict()
    if isinstance(shares, Mapping):
        return pa.table({"class": [str(own) for own in shares], "share": [str(share) for share in shares.values()]})
    if type(shares).__module__.partition(".")[0] == "pandas":
        return _arrow(pa.Table.from_pandas, shares, preserve_index=False)
    if hasattr(shares, "__arrow_c_stream__"):
        return _arrow(pa.table, shares)
    names = "'posterior', 'truth', 'uniform', 'em', 'pacc', " if name == "reference" else ""
    raise TypeError(
        f"{name}: it must be {names}a file, a dict of shares, or a frame with the columns class and share, "
        f"not a {type(shares).__name__}"
    )


class Bar:
    """A progress bar, shown after a second if tqdm is installed and there is a terminal or a notebook."""

    def __init__(self, wanted: bool | None) -> None:
        self.begun = time.monotonic()
        self.bar: Any = None
        self.make = None if wanted is False else _bar_maker(required=wanted is True)

    def __call__(self, what: str, part: float | None) -> None:
        if self.make is None or time.monotonic() - self.begun < 1:
            return
        if self.bar is None:
            self.bar = self.make()
        self.bar.set_description(what, refresh=False)
        if part is not None:
            self.bar.n = round(min(part, 1.0), 3)
        self.bar.refresh()

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()


def _bar_maker(*, required: bool) -> Callable[[], Any] | None:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        if required:
            raise ImportError("progress=True needs tqdm: pip install 'apportion[progress]'") from None
        return None
    in_notebook = "ipykernel" in sys.modules
    if not required and not in_notebook and not sys.stderr.isatty():
        return None
    return lambda: tqdm(total=1.0, leave=False, bar_format="{desc} {bar} {percentage:3.0f}% {elapsed}")
