"""Signatures have every setting that the program declares, with its default, and misspelled options are refused."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import apportion
from apportion import _native, _options, tables

#: The function of each job, its first parameters, and the parameters that are no settings.
FUNCTIONS: dict[str, list[Callable[..., Any]]] = {
    "label": [apportion.label, apportion.solve, apportion.draw, apportion.allot],
    "fit": [apportion.fit],
    "apply": [apportion.Decision.apply],
    "export": [apportion.Decision.to_sql],
    "audit": [apportion.audit],
    "compare": [apportion.compare],
    "disparity": [apportion.disparity],
    "frontier": [apportion.frontier],
    "calibrate": [apportion.calibrate],
    "predict": [apportion.predict],
    "explain": [apportion.explain],
    "describe": [apportion.describe],
    "verify": [apportion.verify],
    "provenance": [apportion.provenance],
    "reproduce": [apportion.reproduce],
    "tables_list": [tables.list],
    "tables_show": [tables.show],
    "tables_export": [tables.export],
    "tables_import": [tables.import_census],
    "tables_check": [tables.check],
    "simulate_voters": [apportion.simulate_voters],
    "simulate_normal": [apportion.simulate_normal],
    "simulate_categorical": [apportion.simulate_categorical],
    "simulate_worst_case": [apportion.simulate_worst_case],
}

#: Settings that no function has, and why.
NOT_IN_PYTHON = {
    "inputs": "the first parameter",
    "config": "files of options belong to the command line",
    ".details": "results are returned",
    "quiet": "nothing is printed",
}
#: Settings that a function does not have, and why.
MISSING = {
    "label": {"draws": "`draw`", "count": "`allot`"},
    "solve": {"draws": "`draw`", "count": "`allot`"},
    "allot": {"draws": "not for cells", "name": "columns are named n_CLASS"}
    | dict.fromkeys(("report", "figures", "geometry", "geometry_key", "focus", "title"), "reports are those of `solve`"),
    "fit": {"draws": "a decision makes one draw"},
    "apply": {"decision": "self", "count": "`allot` fits and labels cells"},
    "to_sql": {"decision": "self", "sql": "named dialect"},
    "describe": {"progress": "it reads no rows"},
    "calibrate": {"by": ""},
    **{
        f"simulate_{name}": {"double": "the opposite of `single`", "output": "a table is returned", "overwrite": "a table is returned"}
        for name in ("voters", "normal", "categorical", "worst_case")
    },
}
MISSING["draw"] = dict.fromkeys(
    ("count", "gamma", "penalty", "at", "coverage", "from_sample", "learner", "train_rows", "reference", "training_shares",
     "at_least", "at_most", "tolerance", "nested", "by", "report", "figures", "geometry", "geometry_key", "focus", "title"),
    "draws have neither a reference nor groups",
)  # fmt: skip
#: Parameters that are no settings.
OWN = {
    "self", "scores", "people", "data", "path", "files", "progress", "summary", "stats", "codes", "single", "dialect", "threads",
}  # fmt: skip
EACH = [(job, function) for job, functions in FUNCTIONS.items() for function in functions]


@pytest.mark.parametrize(("job", "function"), EACH, ids=lambda own: getattr(own, "__name__", own))
def test_every_setting_has_a_parameter(job: str, function: Callable[..., Any]) -> None:
    declared = {name for name, _, _ in _native.settings(job)} - NOT_IN_PYTHON.keys()
    missing = MISSING.get(function.__name__, {}).keys()
    parameters = inspect.signature(function).parameters
    assert declared - missing - parameters.keys() == set(), "settings without a parameter"
    assert parameters.keys() - declared - OWN == set(), "parameters that are no settings"
    kinds = {own.kind for own in parameters.values()}
    assert not kinds & {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}


@pytest.mark.parametrize(("job", "function"), EACH, ids=lambda own: getattr(own, "__name__", own))
def test_defaults_are_those_of_the_settings(job: str, function: Callable[..., Any]) -> None:
    parameters = inspect.signature(function).parameters
    for name, default, help_text in _native.settings(job):
        if name not in parameters or parameters[name].default is inspect.Parameter.empty:
            continue
        own = parameters[name].default
        documented = re.search(r"\[default: ([^\]]+)\]", help_text)
        expected = default or (documented[1] if documented else None)
        if (function, name) == (apportion.draw, "rule") or function is apportion.verify:
            continue  # `draw` has other rules, and the defaults of `verify` are those of the provenance
        if own is not None and own is not False and not (name == "overwrite"):
            is_equal = expected == str(own) or isinstance(own, float) and float(expected or "nan") == own
            assert is_equal, f"{name}: {own!r} for {expected!r}"
        elif expected is not None and len(expected.split()) == 1 and expected not in ("detected", "all", "posterior"):
            # The default is not in the signature, because the option depends on others.
            entry = _documented(function, name)
            assert expected in entry.replace(", ", ","), f"{name}: {expected} in {entry!r}"


def _documented(function: Callable[..., Any], name: str) -> str:
    """Returns the entry of a parameter in the docstring, or in that of the function it refers to."""
    people = [apportion.predict] if function is apportion.explain else []
    for own in (function, *people, apportion.label, apportion.predict, apportion.disparity, apportion.simulate_normal):
        text = inspect.getdoc(own) or ""
        entry = re.search(rf"\n {{4}}(?:\w+, )*{name}(?:, \w+)*: (.*?)(?=\n {{4}}\w|\n\n|\Z)", text, re.DOTALL)
        if entry is not None and not re.search(r"as (for|those of) `", entry[1]):
            return entry[1]
    raise AssertionError(f"{function.__name__} does not document {name}")


@pytest.mark.parametrize("function", [function for _, function in EACH], ids=lambda own: own.__name__)
def test_every_parameter_is_documented(function: Callable[..., Any]) -> None:
    texts = [inspect.getdoc(own) or "" for own in (function, apportion.label, apportion.predict, apportion.disparity)]
    for name in inspect.signature(function).parameters:
        if name not in ("self", "table", "row", "path") and function not in (tables.list,):
            assert any(re.search(rf"\b{name}\b", text) for text in texts), f"{function.__name__}: {name}"


@pytest.mark.parametrize(
    ("options", "function"),
    [
        (_options.LabelOptions, apportion.label),
        (_options.AllotOptions, apportion.allot),
        (_options.DrawOptions, apportion.draw),
        (_options.ApplyOptions, apportion.Decision.apply),
        (_options.CalibrateOptions, apportion.calibrate),
        (_options.PredictOptions, apportion.predict),
    ],
    ids=lambda own: own.__name__,
)
def test_overloads_have_the_parameters_of_the_function(options: Any, function: Callable[..., Any]) -> None:
    named = {"scores", "people", "self", "rule", "by", "reference", "draws", "count", "stats", "summary", "model", "truth"}
    parameters = set(inspect.signature(function).parameters)
    keys = set(options.__annotations__)
    assert parameters - named == keys - named


TYPES = '''
import numpy as np
import polars as pl
import apportion
from pathlib import Path

def kinds(scores: np.ndarray[tuple[int, int], np.dtype[np.float64]], frame: pl.DataFrame, decision: apportion.Decision) -> None:
    reveal_type(apportion.label(scores))
    reveal_type(apportion.label("scores.csv", output="labels.csv"))
    reveal_type(apportion.label(frame, gamma=0.5))
    reveal_type(decision.apply(frame))
    reveal_type(decision.apply(scores, stats=True))
    reveal_type(apportion.draw(frame, 3))
    apportion.solve(scores, gama=1)
    apportion.label(scores, gama=1)
    apportion.label(scores, "argmin")
'''


def test_type_checkers_know_results_and_options(tmp_path: Path) -> None:
    (tmp_path / "typed_calls.py").write_text(TYPES)
    config = Path(__file__).parents[1] / "pyproject.toml"
    command = [sys.executable, "-m", "mypy", "--config-file", config, "--cache-dir", tmp_path / "cache", tmp_path / "typed_calls.py"]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    lines = [line.partition(": ")[2] for line in said.splitlines()]
    for number, words in enumerate(
        ["numpy.ndarray", "pathlib.Path", "polars.series.series.Series", "polars.series.series.Series", "tuple[numpy.ndarray",
         "polars.dataframe.frame.DataFrame"]
    ):  # fmt: skip
        assert words in lines[number] and "apportion._labels.Solution" in lines[4], said
    assert 'Unexpected keyword argument "gama" for "solve"' in said, said
    assert len(re.findall(r"typed_calls.py:1[56]: error: No overload variant", said)) == 2, said


def test_misspelled_options_are_refused() -> None:
    scores = [[0.6, 0.4], [0.7, 0.3]]
    for function in (apportion.label, apportion.solve, apportion.fit):
        with pytest.raises(TypeError, match=rf"{function.__name__}\(\) has no option 'gama'; did you mean gamma\?"):
            function(scores, gama=0.5)
    with pytest.raises(TypeError, match=r"apply\(\) has no option 'unknown_group'; did you mean unknown_groups\?"):
        apportion.fit(scores).apply(scores, unknown_group="overall")  # type: ignore[call-overload]
