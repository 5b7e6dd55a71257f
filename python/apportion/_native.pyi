import os
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

__version__: str

class Document:
    def charts(self) -> list[tuple[str, str, str]]: ...
    def write(self, path: os.PathLike[str], overwrite: bool) -> None: ...
    def write_figures(self, folder: os.PathLike[str], overwrite: bool) -> None: ...

class Done:
    result: Any
    text: str
    notes: list[str]
    warnings: list[str]
    drift: str | None
    classes: list[str]
    groups: list[tuple[str, list[int], list[int] | None]]
    def columns(self) -> pa.Table: ...
    def rows(self) -> pa.Table | None: ...
    def document(self) -> Document | None: ...

def score_columns(names: Sequence[str]) -> list[str]: ...
def settings(job: str) -> list[tuple[str, str | None, str]]: ...
def write(path: os.PathLike[str], text: str, overwrite: bool) -> None: ...
def run(
    job: str,
    values: dict[str, Any],
    input: dict[str, Any],
    threads: int | None,
    progress: Callable[[str, float | None], object] | None,
) -> Done: ...
