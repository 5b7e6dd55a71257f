"""Puts the latest results into COMPARE.md, each between its marks; the words around them are written by hand.

    python bench/compare.py [--check]

A mark names one file of bench/results, or several by a pattern. With --check nothing is written, and it fails where
COMPARE.md does not show the results that there are.
"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent / "COMPARE.md"
MARKED = re.compile(r"(<!-- results: (\S+), by `([^`]+)` -->\n).*?(<!-- end -->)", re.DOTALL)


def main():
    page = PAGE.read_text()
    latest = MARKED.sub(lambda mark: mark[1] + results(mark[2], mark[3]) + mark[4], page)
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if latest == page else f"{PAGE.name} is behind bench/results: run bench/compare.py")
    PAGE.write_text(latest)


def results(pattern, command):
    """The files of a pattern one after the other, those of fewer rows first."""
    files = sorted((HERE / "results").glob(pattern), key=lambda file: (len(file.name), file.name))
    if not files:
        return f"Not measured yet: `{command}`.\n"
    return "\n".join(file.read_text() for file in files)


if __name__ == "__main__":
    main()
