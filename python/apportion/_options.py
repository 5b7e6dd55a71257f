"""Types of arguments, groups of options that functions share, and a decorator that suggests names for misspelled options."""

from __future__ import annotations

import difflib
import functools
import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict, TypeVar, cast

import numpy as np

Rule = Literal["argmax", "threshold", "thompson", "top-k", "match", "balance", "learned"]
Penalty = Literal["l1", "l2", "l2-squared", "kl"]
Learner = Literal["svm", "logistic", "forest"]
Encoding = Literal["auto", "utf8", "windows-1252", "latin1"]
UnknownGroups = Literal["refuse", "overall", "unlabeled"]
Inference = Literal["population", "file"]
Pooling = Literal["auto", "none", "partial"]
SmallCells = Literal["hide", "show"]
Regression = Literal["linear", "logistic"]
Method = Literal["logistic", "isotonic"]
Model = Literal["bisg", "bifsg", "fbisg", "voter", "rake"]
Vintage = Literal["2020", "2010"]
Names = Literal["all", "census"]
Dialect = Literal["duckdb", "postgresql", "sqlite", "bigquery", "snowflake", "spark"]
Bounds = Mapping[Any, int | float | str]
Thresholds = float | Mapping[Any, float]
Column = str | Sequence[Any] | np.ndarray | Any
ClassMap = Mapping[str, str] | Sequence[str] | str
FilePath = str | os.PathLike[str]
Columns = Sequence[str] | str

#: Scores in files: a path, a directory, a glob, or several of them.
Paths = str | os.PathLike[str] | list[str] | list[os.PathLike[str]] | list[str | os.PathLike[str]]


class FileOptions(TypedDict, total=False):
    """How files are read."""

    encoding: Encoding
    delimiter: str | None
    sheet: str | None
    max_line: str | int | None
    batch_rows: int | None


class RunOptions(TypedDict, total=False):
    """How a function runs."""

    threads: int | None
    progress: bool | None


class TableOptions(FileOptions, RunOptions, total=False):
    """The table of scores, and the roles of its columns."""

    classes: Sequence[Any] | None
    columns: Columns | None
    id: Column | None
    truth: Column | None
    truth_map: ClassMap | None
    truth_ethnicity: Column | None
    truth_exclude: Columns | None
    only_with_truth: bool
    skip_missing: bool
    normalize: bool
    seed: int
    memory: str | int | None


class RuleOptions(TypedDict, total=False):
    """The rule and its target."""

    training_shares: Any
    gamma: float | None
    penalty: Penalty | None
    at: Thresholds | None
    k: int | None
    coverage: float | None
    at_least: Bounds | None
    at_most: Bounds | None
    tolerance: float | None
    nested: Column | None
    from_sample: int | None
    learner: Learner | None
    train_rows: int | None


class OutputOptions(TypedDict, total=False):
    """The output file."""

    output: FilePath | None
    overwrite: bool
    only_label: bool
    safe_csv: bool
    provenance: FilePath | None
    no_provenance: bool


class ReportOptions(TypedDict, total=False):
    """The report."""

    report: FilePath | None
    figures: FilePath | None
    geometry: FilePath | None
    geometry_key: Columns | None
    focus: str | None
    title: str | None


class LabelOptions(TableOptions, RuleOptions, OutputOptions, ReportOptions, total=False):
    """The options of `label`, except its first four."""

    name: str


class AllotOptions(TableOptions, RuleOptions, OutputOptions, total=False):
    """The options of `allot`, except its first five."""


class DrawOptions(TableOptions, OutputOptions, total=False):
    """The options of `draw`, except its first three."""

    name: str
    k: int | None


class ApplyOptions(FileOptions, RunOptions, total=False):
    """The options of `Decision.apply`, except `stats`."""

    by: Column | None
    id: Column | None
    truth: Column | None
    truth_map: ClassMap | None
    truth_ethnicity: Column | None
    truth_exclude: Columns | None
    only_with_truth: bool
    classes: Sequence[Any] | None
    columns: Columns | None
    skip_missing: bool
    normalize: bool
    unknown_groups: UnknownGroups
    output: FilePath | None
    overwrite: bool
    name: str
    only_label: bool
    safe_csv: bool
    provenance: FilePath | None
    no_provenance: bool
    memory: str | int | None
    codes: bool


class CalibrateOptions(FileOptions, RunOptions, total=False):
    """The options of `calibrate`, except its first two and `summary`."""

    classes: Sequence[Any] | None
    columns: Columns | None
    id: Column | None
    truth_map: ClassMap | None
    truth_ethnicity: Column | None
    truth_exclude: Columns | None
    only_with_truth: bool
    skip_missing: bool
    normalize: bool
    seed: int
    memory: str | int | None
    method: Method | None
    calibration: Mapping[str, Any] | FilePath | None
    by: Column | None
    count: Column | None
    save: FilePath | None
    output: FilePath | None
    overwrite: bool
    safe_csv: bool
    provenance: FilePath | None
    no_provenance: bool


class PeopleOptions(FileOptions, RunOptions, total=False):
    """The options of `predict` and `explain` about people, tables and models."""

    surname: str | None
    first_name: str | None
    middle_name: str | None
    full_name: str | None
    place: str | None
    block_group: str | None
    tract: str | None
    zcta: str | None
    county: str | None
    state: str | None
    vintage: Vintage
    names: Names
    surnames: FilePath | None
    first_names: FilePath | None
    middle_names: FilePath | None
    geography: Sequence[FilePath] | FilePath | None
    numbers: str | None
    classes: Columns | None
    crosswalk: Mapping[str, str] | None
    margin: Any
    surname_margin: FilePath | None
    place_margin: FilePath | None
    tolerance: float | None
    within: str | None
    as_published: bool
    seed: int | None
    burn_in: int | None
    sweeps: int | None


class PredictOptions(PeopleOptions, total=False):
    """The options of `predict`, except its first two and `summary`."""

    prefix: str
    output: FilePath | None
    overwrite: bool
    safe_csv: bool
    provenance: FilePath | None
    no_provenance: bool


#: Defaults of settings, which need not be passed on.
DEFAULTS: dict[str, Any] = {
    "encoding": "auto",
    "seed": 0,
    "reference": "posterior",
    "unknown_groups": "refuse",
    "inference": "population",
    "pooling": "auto",
    "small_cells": "hide",
    "regression": "linear",
    "vintage": "2020",
    "names": "all",
    "prefix": "p_",
}

#: Former names of options.
RENAMED = {"margin": "tolerance", "batch": "train_rows"}

F = TypeVar("F", bound=Callable[..., Any])


def suggests(function: F) -> F:
    """Adds a suggestion to the error for an option that the function does not have."""
    known = frozenset(inspect.signature(function).parameters)

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        if not known.issuperset(options):
            refuse_unknown(function.__name__, options, known)
        return function(*args, **options)

    return cast(F, call)


def refuse_unknown(function: str, options: Mapping[str, Any], known: frozenset[str]) -> None:
    """Raises an error for options that a function does not have."""
    for option in options:
        if option not in known:
            if RENAMED.get(option) in known:
                raise TypeError(f"{function}() has no option {option!r}; it is now named {RENAMED[option]}")
            near = difflib.get_close_matches(option, sorted(known), 1)
            meant = f"; did you mean {near[0]}?" if near else ""
            raise TypeError(f"{function}() has no option {option!r}{meant}")
