"""Runs the code blocks of the Python pages, page by page and in order, and compares their output with the pages.

If the output changed on purpose, `GUIDE=write` updates the pages; review the changes before committing them.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
from copy import deepcopy
from pathlib import Path

import nbclient
import nbconvert
import nbformat
import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "python" / "README.md", *sorted((ROOT / "docs" / "python").glob("*.md"))]
NOTEBOOK = ROOT / "docs" / "python" / "quickstart.ipynb"
CONVENTIONS = ROOT / "crates" / "apportion-cli" / "tests" / "conventions"
BLOCK = re.compile(
    r"```python\n(?P<code>.*?)```\n(?P<checked><!-- checked -->\n```text\n(?P<printed>.*?)```\n)?", re.DOTALL
)


@pytest.mark.filterwarnings("ignore:1 group:UserWarning", "ignore::UserWarning:surgeo", "ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.name}")
def test_pages_can_be_followed(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("wru.csv", "birdie.csv", "ethnicolr_census.csv"):
        shutil.copy(CONVENTIONS / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}

    def followed(block: re.Match[str]) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), pd.option_context("display.width", 120):
            exec(compile(block["code"], page.name, "exec"), names)
        if not block["checked"]:
            return block[0]
        shown = "".join(f"{line.rstrip()}\n" for line in printed.getvalue().splitlines())
        if os.environ.get("GUIDE") != "write":
            assert without_times(shown) == without_times(block["printed"]), block["code"]
        return f"```python\n{block['code']}```\n<!-- checked -->\n```text\n{shown}```\n"

    text = BLOCK.sub(followed, page.read_text())
    if os.environ.get("GUIDE") == "write":
        page.write_text(text)


def without_times(text: str) -> str:
    """Returns the output of a comparison without running times."""
    return re.sub(r"\d+\.\d{3}$", "", text, flags=re.MULTILINE)


def test_the_workflow_is_short() -> None:
    page = (ROOT / "docs" / "python" / "README.md").read_text()
    workflow = next(block["code"] for block in BLOCK.finditer(page) if "predict_proba" in block["code"])
    for step in ("LogisticRegression", "predict_proba", "apportion.label", "apportion.audit", "plot()"):
        assert step in workflow
    assert len([line for line in workflow.splitlines() if line.strip()]) <= 15


def test_the_notebook_runs(tmp_path: Path) -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    stored, metadata = texts(notebook), deepcopy(notebook.metadata)
    client = nbclient.NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": tmp_path}}, record_timing=False
    )
    client.execute()
    if os.environ.get("GUIDE") == "write":
        notebook.metadata = metadata  # without the version of Python
        nbformat.write(notebook, NOTEBOOK)
    else:
        assert texts(notebook) == stored
    # Exported notebooks also show the charts.
    page, _ = nbconvert.HTMLExporter().from_notebook_node(notebook)
    charts = sum("plot(" in cell.source for cell in notebook.cells)
    assert charts == 3 and page.count("Plotly.newPlot(") == charts


def texts(notebook: nbformat.NotebookNode) -> list[str]:
    """Returns the text of all outputs, without running times."""
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", [])]
    assert not any(out.output_type == "error" for out in outputs)
    return [without_times(out.get("text") or out["data"].get("text/plain", "")) for out in outputs]


def test_every_public_name_has_an_example() -> None:
    import apportion
    import apportion.sklearn

    for module in (apportion, apportion.sklearn):
        for name in module.__all__:
            own = getattr(module, name)
            assert isinstance(own, str) or ">>> " in (own.__doc__ or ""), f"{name} shows no example"
