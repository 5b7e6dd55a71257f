"""A fitted rule, which can be saved, applied to other rows, or exported as SQL."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import pyarrow as pa

from . import _native
from ._frames import Array, Files, Input, class_names
from ._labels import Solution, solution_of
from ._options import (
    ApplyOptions,
    Bounds,
    ClassMap,
    Column,
    Columns,
    Dialect,
    Encoding,
    FilePath,
    Learner,
    Paths,
    Penalty,
    Rule,
    Thresholds,
    UnknownGroups,
    suggests,
)
from ._run import run
from ._tables import RUNNING, outputs, rest, rule as settings_of_rule, table, written

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from typing_extensions import Unpack

Prices = dict[str, float | None]


class Decision:
    """A fitted rule, which labels other rows. It consists of prices for the classes and of tie-breaking information.

    >>> import apportion
    >>> decision = apportion.fit([[0.6, 0.4], [0.7, 0.3], [0.9, 0.1], [0.8, 0.2]], classes=["white", "black"])
    >>> decision
    Decision(rule='match', reference='posterior', classes=['white', 'black'], fitted to 4 people)
    >>> decision.apply([[0.55, 0.45], [0.95, 0.05]], classes=["white", "black"])
    array(['black', 'white'], dtype=object)
    >>> decision.prices["black"] > decision.prices["white"]
    True
    """

    def __init__(self, content: dict[str, Any], text: str | None = None) -> None:
        if isinstance(content, str):
            raise TypeError("a decision is read with Decision.from_json(text) or Decision.load(path)")
        if not isinstance(content, dict) or not isinstance(content.get("classes"), list) or "rule" not in content:
            raise ValueError("the content is not a decision; make one with apportion.fit")
        self._content = content
        self._text = json.dumps(content, indent=2, ensure_ascii=False) if text is None else text

    @classmethod
    def from_json(cls, text: str) -> Decision:
        """Reads a decision from the text of `to_json` or of a file of `apportion fit`. `load` reads a file.

        >>> import apportion
        >>> decision = apportion.fit([[0.6, 0.4], [0.7, 0.3]])
        >>> apportion.Decision.from_json(decision.to_json()) == decision
        True
        """
        if not isinstance(text, str):
            raise TypeError(f"a decision must be text, not {type(text).__name__}; read a file with Decision.load(path)")
        try:
            content = json.loads(text)
        except (TypeError, ValueError) as error:
            is_path = len(text) < 1000 and text.strip().endswith(".json")
            way = "read a file with Decision.load(path)" if is_path else "make one with apportion.fit"
            raise ValueError(f"the text is not a decision ({error}); {way}") from None
        if not isinstance(content, dict) or not isinstance(content.get("classes"), list) or "rule" not in content:
            raise ValueError("the text is not a decision; make one with apportion.fit")
        return cls(content, text)

    @classmethod
    def load(cls, path: FilePath) -> Decision:
        """Reads a decision from a file of `save` or of `apportion fit`."""
        try:
            return cls.from_json(Path(path).read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from None

    def save(self, path: FilePath, *, overwrite: bool = False) -> Path:
        """Writes the decision to a file, which `load` and `apportion apply` can read.

        Raises FileExistsError if the file exists, unless `overwrite` is true.

        >>> import apportion, pathlib, tempfile
        >>> decision = apportion.fit([[0.6, 0.4], [0.7, 0.3]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = decision.save(pathlib.Path(folder) / "decision.json")
        ...     apportion.Decision.load(path) == decision
        True
        """
        path = Path(path)
        _native.write(path, f"{self._text.rstrip()}\n", overwrite)
        return path

    def to_json(self) -> str:
        """Returns the decision as text that `from_json` and `apportion apply` can read."""
        return self._text

    @property
    def classes(self) -> list[str]:
        """The classes, in order."""
        return list(self._content["classes"])

    @property
    def rule(self) -> str:
        """The name of the rule: "match", "balance", "argmax", "threshold", "thompson", "top-k" or "learned".

        It is "prices" for decisions of earlier versions, which do not distinguish match and balance."""
        fitted = self._content["rule"]
        kind = fitted if isinstance(fitted, str) else next(iter(fitted))
        recorded: str | None = self._fit_info.get("rule")
        return recorded or str(kind)

    @property
    def reference(self) -> str | None:
        """The name or the file of the reference; None if the rule has none, and for decisions of earlier versions."""
        reference: str | None = self._fit_info.get("reference")
        return reference

    @property
    def by(self) -> list[str]:
        """The columns that define the groups; empty if there are no groups."""
        return list(self._fit_info.get("groups", ()))

    @property
    def groups(self) -> list[str]:
        """The names of the groups; empty if there are no groups."""
        return [own["group"] for own in self._prices() if own.get("group") is not None]

    @property
    def prices(self) -> Prices | dict[str, Prices]:
        """The price of each class, which is added to its score: a row gets the class with the largest sum.

        With groups, the prices of each group by its name. A class without a price (None) is never assigned. If some rows stay
        unlabeled, the key "" has the price of no label. Empty for rules without prices. `to_arrow()` has them as a table.
        """
        by_group: dict[str, Prices] = {}
        for own in self._prices():
            prices: Prices = dict(zip([*self.classes, ""], own["prices"], strict=False))
            if own.get("group") is None:
                return prices
            by_group[own["group"]] = prices
        return by_group

    def to_arrow(self) -> pa.Table:
        """Returns the prices as a pyarrow table: group (null without groups), class and price."""
        rows = [
            {"group": own.get("group"), "class": name or None, "price": price}
            for own in self._prices()
            for name, price in zip([*self.classes, ""], own["prices"], strict=False)
        ]
        fields = [("group", pa.string()), ("class", pa.string()), ("price", pa.float64())]
        return pa.Table.from_pylist(rows, schema=pa.schema(fields))

    @property
    def _fit_info(self) -> dict[str, Any]:
        return self._content.get("fit_info") or {}

    def _prices(self) -> list[dict[str, Any]]:
        fitted = self._content["rule"]
        return list(fitted.get("prices", ())) if isinstance(fitted, dict) else []

    @overload
    def apply(self, scores: Paths, *, stats: Literal[False] = False, **options: Unpack[ApplyOptions]) -> Path: ...
    @overload
    def apply(self, scores: Paths, *, stats: Literal[True], **options: Unpack[ApplyOptions]) -> tuple[Path, Solution]: ...
    @overload
    def apply(self, scores: np.ndarray, *, stats: Literal[False] = False, **options: Unpack[ApplyOptions]) -> np.ndarray: ...
    @overload
    def apply(self, scores: np.ndarray, *, stats: Literal[True], **options: Unpack[ApplyOptions]) -> tuple[np.ndarray, Solution]: ...
    @overload
    def apply(self, scores: pl.DataFrame | pl.LazyFrame, *, stats: Literal[False] = False, **options: Unpack[ApplyOptions]) -> pl.Series: ...
    @overload
    def apply(self, scores: pl.DataFrame | pl.LazyFrame, *, stats: Literal[True], **options: Unpack[ApplyOptions]) -> tuple[pl.Series, Solution]: ...
    @overload
    def apply(self, scores: pd.DataFrame, *, stats: Literal[False] = False, **options: Unpack[ApplyOptions]) -> pd.Series: ...
    @overload
    def apply(self, scores: pd.DataFrame, *, stats: Literal[True], **options: Unpack[ApplyOptions]) -> tuple[pd.Series, Solution]: ...
    @overload
    def apply(self, scores: pa.Table | pa.RecordBatch, *, stats: Literal[False] = False, **options: Unpack[ApplyOptions]) -> pa.DictionaryArray: ...
    @overload
    def apply(self, scores: pa.Table | pa.RecordBatch, *, stats: Literal[True], **options: Unpack[ApplyOptions]) -> tuple[pa.DictionaryArray, Solution]: ...
    @overload
    def apply(self, scores: Any, *, stats: Literal[False] = False, **options: Unpack[ApplyOptions]) -> Any: ...
    @overload
    def apply(self, scores: Any, *, stats: Literal[True], **options: Unpack[ApplyOptions]) -> tuple[Any, Solution]: ...
    @suggests
    def apply(
        self,
        scores: Any,
        *,
        stats: bool = False,
        by: Column | None = None,
        id: Column | None = None,
        truth: Column | None = None,
        truth_map: ClassMap | None = None,
        truth_ethnicity: Column | None = None,
        truth_exclude: Columns | None = None,
        only_with_truth: bool = False,
        classes: Sequence[Any] | None = None,
        columns: Columns | None = None,
        output: FilePath | None = None,
        overwrite: bool = False,
        name: str = "label",
        only_label: bool = False,
        safe_csv: bool = False,
        provenance: FilePath | None = None,
        no_provenance: bool = False,
        skip_missing: bool = False,
        normalize: bool = False,
        unknown_groups: UnknownGroups = "refuse",
        encoding: Encoding = "auto",
        delimiter: str | None = None,
        sheet: str | None = None,
        max_line: str | int | None = None,
        batch_rows: int | None = None,
        threads: int | None = None,
        memory: str | int | None = None,
        progress: bool | None = None,
        codes: bool = False,
    ) -> Any:
        """Labels other rows with the same prices. Emits a `DriftWarning` if their counts differ from the targets of the fit
        by more than chance explains.

        >>> import apportion
        >>> decision = apportion.fit([[0.6, 0.4], [0.7, 0.3], [0.9, 0.1], [0.8, 0.2]])
        >>> labels, result = decision.apply([[0.6, 0.4], [0.95, 0.05]], stats=True)
        >>> labels, result.counts, result.drift["beyond"]
        (array([1, 0]), {0: 1, 1: 1}, False)

        Args:
            scores: as for `label`.
            stats: whether to also return a `Solution`, with the counts, expected accuracy and drift of these rows.
            by, columns: groups and score columns. Default: those of the fit.
            unknown_groups: what to do with rows whose group is not in the decision: "refuse" them with an error, label them at
                the "overall" prices for all rows of the fit, or leave them "unlabeled".
            codes: whether the labels of an array are column indices even if the classes have names.

        The other options are those of `label`.

        Returns:
            Labels as those of `label`. With `stats`, a tuple of these and a `Solution`.
        """
        given = dict(locals())
        given["named"] = [self._fit_info.get("groups"), self._fit_info.get("scores")]
        if classes is None and not _has_columns(scores):
            given["classes"] = self.classes
        source, values = table(given)
        if isinstance(source, Array) and by is None and self.by:
            raise ValueError("by: the decision was fitted by groups; give the group of each row with by=…")
        values |= {"unknown_groups": unknown_groups} | outputs(source, given)
        values.pop("seed", None)
        done = run("apply", source, values, decision=self._text, threads=threads, progress=progress)
        labels = self._labels(source, done, given, classes, name)
        return (labels, solution_of(labels, done, source)) if stats else labels

    def _labels(
        self, source: Input, done: _native.Done, given: dict[str, Any], classes: Sequence[Any] | None, name: str
    ) -> Any:
        if isinstance(source, Files):
            return written(given)
        places = range(len(self.classes))
        by_place = classes is None and self.classes == [str(place) for place in places]
        if isinstance(source, Array) and (given["codes"] or by_place):
            source.classes = None  # labels are column indices, even if the classes have names
            source.class_names = class_names(places) if by_place else {}
        return source.give(done.columns().column(0).chunk(0).to_numpy(), done.classes, name)

    @suggests
    def to_sql(
        self,
        dialect: Dialect = "duckdb",
        *,
        columns: Columns | None = None,
        by: Columns | None = None,
        name: str | None = None,
        table: str | None = None,
        id: str | None = None,
        prices: FilePath | None = None,
        percent: bool = False,
        single: bool = False,
        output: FilePath | None = None,
        overwrite: bool = False,
    ) -> str:
        """Returns the decision as a SQL expression that labels rows in a database, or with `table` as a complete statement.

        >>> import apportion
        >>> decision = apportion.fit({"p_white": [0.6, 0.7, 0.9, 0.8], "p_black": [0.4, 0.3, 0.1, 0.2]})
        >>> "CASE" in decision.to_sql("sqlite")
        True

        Args:
            dialect: "duckdb", "postgresql", "sqlite", "bigquery", "snowflake" or "spark".
            columns: the score columns, in the order of the classes. Default: those of the fit.
            by: the columns that define the groups. Default: those of the fit.
            name: the name of the label column. Default: "label" with `table`, otherwise none.
            table: the table of a complete SELECT statement.
            id: the column of IDs, to divide tied rows among their classes. Default: they get the first.
            prices: with `table` and groups, a CSV file for the prices of the groups; the statement then joins the table of
                its name. Default: the prices are in the statement.
            percent: whether the scores are percentages.
            single: whether the score columns are single precision.
            output, overwrite: a file to write the SQL to as well, and whether to replace it.
        """
        values = {
            "sql": dialect, "scores": columns, "by": by, "label_name": name, "table": table, "percent": percent,
            "single": single, "id": id, "prices": None if prices is None else os.fspath(prices), "force": overwrite,
        }  # fmt: skip
        sql: str = run("export", None, values, decision=self._text).result["sql"]
        if output is not None:
            _native.write(Path(output), sql, overwrite)
        return sql.rstrip()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Decision) and self._labeling() == other._labeling()

    def __hash__(self) -> int:
        return hash(json.dumps(self._labeling(), sort_keys=True))

    def _labeling(self) -> dict[str, Any]:
        """Returns everything that labels depend on: the decision without its provenance."""
        return {key: value for key, value in self._content.items() if key != "provenance"}

    def __repr__(self) -> str:
        reference = "" if self.reference is None else f", reference={self.reference!r}"
        groups = f", by={self.by!r} ({len(self.groups):,} groups)" if self.by else ""
        people = self._fit_info.get("people")
        fitted = "" if people is None else f", fitted to {people:,} people"
        return f"Decision(rule={self.rule!r}{reference}, classes={self.classes}{groups}{fitted})"


@suggests
def fit(
    scores: Any,
    rule: Rule | None = None,
    by: Column | None = None,
    reference: Any = "posterior",
    *,
    output: FilePath | None = None,
    overwrite: bool = False,
    provenance: FilePath | None = None,
    no_provenance: bool = False,
    count: Column | None = None,
    training_shares: Any = None,
    gamma: float | None = None,
    penalty: Penalty | None = None,
    at: Thresholds | None = None,
    k: int | None = None,
    coverage: float | None = None,
    at_least: Bounds | None = None,
    at_most: Bounds | None = None,
    tolerance: float | None = None,
    nested: Column | None = None,
    from_sample: int | None = None,
    learner: Learner | None = None,
    train_rows: int | None = None,
    classes: Sequence[Any] | None = None,
    columns: Columns | None = None,
    id: Column | None = None,
    truth: Column | None = None,
    truth_map: ClassMap | None = None,
    truth_ethnicity: Column | None = None,
    truth_exclude: Columns | None = None,
    only_with_truth: bool = False,
    skip_missing: bool = False,
    normalize: bool = False,
    encoding: Encoding = "auto",
    delimiter: str | None = None,
    sheet: str | None = None,
    max_line: str | int | None = None,
    batch_rows: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    memory: str | int | None = None,
    progress: bool | None = None,
) -> Decision:
    """Fits a rule to rows of scores. The options are those of `label`.

    >>> import apportion
    >>> decision = apportion.fit([[0.6, 0.4], [0.7, 0.3], [0.9, 0.1], [0.8, 0.2]])
    >>> decision.apply([[0.6, 0.4], [0.7, 0.3], [0.9, 0.1], [0.8, 0.2]])     # as label gives
    array([1, 0, 0, 0])

    Args:
        count: the number of people that each row represents: a column name, or one number per row.
        output, overwrite: a file to save the decision in as well, and whether to replace it.
        provenance, no_provenance: a JSON file for the provenance, and whether to leave it out. Decisions that are fitted to
            files contain it.

    Returns:
        A `Decision`.
    """
    given = dict(locals())
    source, values = table(given)
    values |= settings_of_rule(given) | {"output": output, "force": overwrite} | rest(given, ("provenance", "no_provenance"))
    return Decision(run("fit", source, values, **rest(given, RUNNING)).result)


def _has_columns(scores: Any) -> bool:
    """Returns whether the scores have column names."""
    return isinstance(scores, (str, os.PathLike, Mapping)) or any(
        hasattr(scores, name) for name in ("columns", "__arrow_c_stream__", "column_names")
    )
