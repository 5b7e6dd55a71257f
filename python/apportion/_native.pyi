from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

__version__: str

class Document:
    def charts(self) -> list[tuple[str, str, str]]: ...
    def html(self) -> str: ...
    def markdown(self) -> str: ...

class Called:
    printed: list[str]
    said: list[str]
    classes: list[str]
    def columns(self) -> pa.Table: ...
    def rows(self) -> pa.Table | None: ...
    def document(self) -> Document | None: ...

def score_columns(names: Sequence[str]) -> list[str]: ...
def call(
    words: Sequence[str],
    lent: dict[str, Any],
    threads: int | None,
    progress: Callable[[str, float | None], object] | None,
) -> Called: ...
