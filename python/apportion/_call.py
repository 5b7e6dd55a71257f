"""From options to the words of a command, and from what went wrong to an exception."""

from __future__ import annotations

import logging
import math
import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from . import _native
from ._frames import Lent, _arrow

#: What commands say on the way: where scores were found, which rows were left out.
log = logging.getLogger("apportion")

#: Options that are called otherwise on the command line.
WORDS = {"columns": "scores"}
NAMES = {
    "--scores": "columns", "-o": "output", "--force": "overwrite=True", "--as": "name", "--json": "details",
    "--normalize": "normalize=True", "--skip-missing": "skip_missing=True",
}  # fmt: skip
#: Options that are whole numbers, and those that are yes or no.
WHOLE = {"k", "seed", "draws", "from_sample", "batch", "points", "rows", "burn_in", "sweeps", "bootstrap"}
FLAGS = {
    "only_with_truth", "skip_missing", "normalize", "force", "json", "percent", "single", "double", "as_published",
    "no_scores",
}  # fmt: skip

#: Whether this process was forked: the threads of its parent, which did the work there, are not in it.
_forked = False


def _after_fork() -> None:
    global _forked
    _forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def words(options: Mapping[str, Any]) -> list[str]:
    """Options as the words of a command: a list is an option for each of its values."""
    found: list[str] = []
    for name, value in options.items():
        option = "--" + WORDS.get(name, name).replace("_", "-")
        if value is None:
            continue
        if name in FLAGS:
            found.extend([option] if value else [])
        else:
            found.extend(f"{option}={text}" for text in _texts(name, value))
    return found


def _texts(name: str, value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [_text(name, item) if key is None else f"{key}={_bound(name, item)}" for key, item in value.items()]
    if isinstance(value, (str, int, float, np.generic)) or not hasattr(value, "__iter__"):
        return [_text(name, value)]
    return [_text(name, item) for item in value]


def _text(name: str, value: Any) -> str:
    value = _plain(value)
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise TypeError(f"{name}: {type(value).__name__} is no value for it")
    if name in WHOLE and not isinstance(value, int):
        if not isinstance(value, float) or not value.is_integer():
            raise TypeError(f"{name}: it must be a whole number, and not {value!r}")
        value = int(value)
    return repr(value) if isinstance(value, float) else str(value)


def _plain(value: Any) -> Any:
    """A number of numpy's as Python has it."""
    return value.item() if isinstance(value, np.generic) else value


def _bound(name: str, value: Any) -> str:
    """A count as it is; a share, which is a fraction here, in percent."""
    value = _plain(value)
    if name in ("at_least", "at_most") and isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{name}: {value!r} is neither a count nor a share")
        return f"{Decimal(repr(value)) * 100:f}%"
    return _text(name, value)


def call(
    command: str,
    lent: Lent | None,
    options: Mapping[str, Any],
    *,
    reference: Any = None,
    lent_reference: pa.Table | None = None,
    decision: str | None = None,
    threads: int | None = None,
    progress: bool | None = None,
) -> _native.Called:
    """Runs a command of the program on what is lent, and tells what it said."""
    given: dict[str, Any] = {"table": None, "matrix": None, "reference": lent_reference, "decision": decision}
    line = [*command.split(), *words(options)]
    if reference is not None:
        line.append(f"--reference={shares(reference, given)}")
    if lent is not None:
        given |= {"table": lent.table, "matrix": lent.matrix}
        line += ["--quiet", "--", *lent.names]
    threads = _plain(threads)
    if threads is not None and (not isinstance(threads, int) or isinstance(threads, bool) or not 1 <= threads <= 1024):
        raise ValueError("threads: it must be a whole number from 1 to 1024")
    if threads is None and _forked:
        threads = os.cpu_count()
    bar = Bar(progress)
    try:
        called = _native.call(line, given, threads, bar)
    except ValueError as error:
        raise ValueError(in_python(str(error))) from None
    finally:
        bar.close()
    for said in [*called.said, *(own for text in called.printed[1:] for own in text.splitlines())]:
        if said.startswith("warning: "):
            warnings.warn(in_python(said.removeprefix("warning: ")), UserWarning, stacklevel=_outside())
    for said in called.said:
        if "written to standard output" not in said:
            log.info(in_python(said))
    return called


def _outside() -> int:
    """How far above `call` the code is that called the package: it is what a warning is about."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        frame, level = frame.f_back, level + 1
    return level


def shares(reference: Any, given: dict[str, Any]) -> str:
    """The word for a reference; where it is a table or a mapping of shares, that is lent."""
    if isinstance(reference, str) or hasattr(reference, "__fspath__"):
        return str(reference)
    if type(reference).__name__ == "Series" and hasattr(reference, "to_dict"):
        reference = reference.to_dict()
    if isinstance(reference, Mapping):
        given["reference"] = pa.table(
            {"class": [str(name) for name in reference], "share": [str(share) for share in reference.values()]}
        )
    elif type(reference).__module__.partition(".")[0] == "pandas":
        given["reference"] = _arrow(pa.Table.from_pandas, reference, preserve_index=False)
    elif hasattr(reference, "__arrow_c_stream__"):
        given["reference"] = _arrow(pa.table, reference)
    else:
        raise TypeError(
            "reference: it must be 'posterior', 'truth', 'uniform', a file, a dict of shares, or a frame with the columns "
            f"class and share, not a {type(reference).__name__}"
        )
    return "shares.in-memory"


def in_python(text: str) -> str:
    """A message of the program, with options as Python calls them."""
    text = re.sub(r"--label-map VALUE=CLASS", "label_map={value: class}", text)
    text = re.sub(r"--truth-map VALUE=CLASS", "truth_map={value: class}", text)
    text = re.sub(r"--(truth-exclude|uncoded) VALUE(=keep)?", lambda found: f"{found[1].replace('-', '_')}=…", text)
    text = re.sub(r"(?<![\w-])(-o|--[a-z][a-z-]*)\b", lambda found: _name(found[1]), text)
    text = re.sub(r"'(\w+) <[^>]*>'", r"\1", text)
    return text.replace("reference shares.in-memory", "reference").replace("apportion: ", "")


def _name(option: str) -> str:
    return NAMES.get(option, option.removeprefix("--").replace("-", "_"))


class Bar:
    """How far the work has come: a bar once it has gone on for a second, where there is tqdm and somebody to see it."""

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
    import sys

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
