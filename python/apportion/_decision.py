"""A fitted rule, which can be saved, applied to other rows, or exported as SQL."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from ._frames import Array, Files
from ._labels import Column, Rule
from ._run import run
from ._tables import LABELING, RULE, RUNNING, Encoding, refuse_unknown, rest, table

Dialect = Literal["duckdb", "postgresql", "sqlite", "bigquery", "snowflake", "spark"]


class Decision:
    """A fitted rule, which labels other rows. It consists of prices for the classes and of tie-breaking information.

    >>> import apportion
    >>> decision = apportion.fit([[0.6, 0.4], [0.7, 0.3], [0.9, 0.1], [0.8, 0.2]], classes=["white", "black"])
    >>> decision
    Decision(classes=['white', 'black'])
    >>> decision.apply([[0.55, 0.45], [0.95, 0.05]], classes=["white", "black"])
    array(['black', 'white'], dtype=object)
    """

    def __init__(self, content: dict[str, Any], text: str | None = None) -> None:
        self._content = content
        self._text = json.dumps(content, indent=2, ensure_ascii=False) if text is None else text

    @classmethod
    def from_json(cls, text: str) -> Decision:
        """Reads a decision from the text of `to_json` or of a file of `apportion fit`.

        To read a file: `Decision.from_json(Path("decision.json").read_text())`.

        >>> import apportion
        >>> decision = apportion.fit([[0.6, 0.4], [0.7, 0.3]])
        >>> apportion.Decision.from_json(decision.to_json()) == decision
        True
        """
        if not isinstance(text, str):
            raise TypeError(
                f"a decision must be text, not {type(text).__name__}; read the file with Path(…).read_text()"
            )
        try:
            content = json.loads(text)
        except (TypeError, ValueError) as error:
            is_path = len(text) < 1000 and text.strip().endswith(".json")
            way = "read the file first: Path(…).read_text()" if is_path else "make one with apportion.fit"
            raise ValueError(f"the text is not a decision ({error}); {way}") from None
        if not isinstance(content, dict) or not isinstance(content.get("classes"), list):
            raise ValueError("the text is not a decision; make one with apportion.fit")
        return cls(content, text)

    def to_json(self) -> str:
        """Returns the decision as text that `from_json` and `apportion apply` can read."""
        return self._text

    @property
    def classes(self) -> list[str]:
        """The classes, in order."""
        return list(self._content["classes"])

    def apply(
        self,
        scores: Any,
        *,
        by: Column | None = None,
        id: Column | None = None,
        classes: Sequence[Any] | None = None,
        columns: Sequence[str] | None = None,
        output: str | os.PathLike[str] | None = None,
        overwrite: bool = False,
        skip_missing: bool = False,
        normalize: bool = False,
        unknown_groups: Literal["refuse", "overall", "unlabeled"] = "refuse",
        encoding: Encoding | None = None,
        delimiter: str | None = None,
        sheet: str | None = None,
        threads: int | None = None,
        progress: bool | None = None,
        codes: bool = False,
    ) -> Any:
        """Labels other rows with the same prices. Warns if their counts differ from the targets of the fit by more than
        chance explains.

        The options and the type of the labels are those of `apportion.label`. Groups and score columns default to those of
        the fit. With `codes`, the labels of an array are column indices. Rows whose group is not in the decision are an
        error, unless `unknown_groups` is "overall" (label them at the prices for all rows of the fit) or "unlabeled".
        """
        given = dict(locals())
        fit_info = self._content.get("fit_info") or {}
        given["named"] = [fit_info.get("groups"), fit_info.get("scores")]
        if classes is None and not _has_columns(scores):
            given["classes"] = self.classes
        source, values = table(given)
        if source.matrix is not None and by is None and fit_info.get("groups"):
            raise ValueError("by: the decision was fitted by groups; give the group of each row with by=…")
        if isinstance(source, Files):
            if output is None:
                raise ValueError("output: scores in files require an output file; use output='labeled.parquet'")
            values |= {"output": os.fspath(output), "force": overwrite}
        elif output is not None:
            raise ValueError("output: it is only for scores in files; labels of scores in memory are returned")
        values["unknown_groups"] = unknown_groups
        done = run("apply", source, values, decision=self._text, threads=threads, progress=progress)
        if isinstance(source, Files):
            return Path(os.fspath(output or ""))
        by_place = self.classes == [str(place) for place in range(len(self.classes))]
        if isinstance(source, Array) and (codes or classes is None and by_place):
            source.classes = None  # labels are column indices, even if the classes have names
        return source.give(done.columns().column(0).chunk(0).to_numpy(), done.classes, "label")

    def to_sql(
        self,
        dialect: Dialect = "duckdb",
        *,
        columns: Sequence[str] | None = None,
        by: Sequence[str] | str | None = None,
        name: str | None = None,
        table: str | None = None,
        percent: bool = False,
        single: bool = False,
    ) -> str:
        """Returns the decision as a SQL expression that labels rows in a database, or with `table` as a complete statement.

        >>> import apportion
        >>> decision = apportion.fit({"p_white": [0.6, 0.7, 0.9, 0.8], "p_black": [0.4, 0.3, 0.1, 0.2]})
        >>> "CASE" in decision.to_sql("sqlite")
        True
        """
        values = {
            "sql": dialect, "scores": columns, "by": by, "label_name": name, "table": table, "percent": percent,
            "single": single,
        }  # fmt: skip
        sql: str = run("export", None, values, decision=self._text).result["sql"]
        return sql.rstrip()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Decision) and self._labeling() == other._labeling()

    def __hash__(self) -> int:
        return hash(json.dumps(self._labeling(), sort_keys=True))

    def _labeling(self) -> dict[str, Any]:
        """Returns everything that labels depend on: the decision without its provenance."""
        return {key: value for key, value in self._content.items() if key != "provenance"}

    def __repr__(self) -> str:
        return f"Decision(classes={self.classes})"


def fit(
    scores: Any, rule: Rule = "match", by: Column | None = None, reference: Any = "posterior", **options: Any
) -> Decision:
    """Fits a rule to rows of scores. The options are those of `label`.

    >>> import apportion
    >>> decision = apportion.fit([[0.6, 0.4], [0.7, 0.3], [0.9, 0.1], [0.8, 0.2]])
    >>> decision.apply([[0.6, 0.4], [0.7, 0.3], [0.9, 0.1], [0.8, 0.2]])     # as label gives
    array([1, 0, 0, 0])
    """
    refuse_unknown("fit", options, LABELING)
    given = {"scores": scores, "rule": rule, "by": by, "reference": reference, **options}
    source, values = table(given)
    return Decision(run("fit", source, values | rest(given, RULE), **rest(given, RUNNING)).result)


def _has_columns(scores: Any) -> bool:
    """Returns whether the scores have column names."""
    return isinstance(scores, (str, os.PathLike, Mapping)) or any(
        hasattr(scores, name) for name in ("columns", "__arrow_c_stream__", "column_names")
    )
