"""Writes the latest results into COMPARE.md, between markers. The text around them is written by hand.

    python bench/compare.py [--check]

A marker names one file of bench/results, or several by a pattern. With --check, nothing is written, and the script fails
if COMPARE.md does not show the latest results.
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
        sys.exit(0 if latest == page else f"{PAGE.name} is out of date with bench/results; run bench/compare.py")
    PAGE.write_text(latest)


def results(pattern, command):
    """Returns the contents of all files that match a pattern, those with fewer rows first."""
    files = sorted((HERE / "results").glob(pattern), key=lambda file: (len(file.name), file.name))
    if not files:
        return f"Not measured yet: `{command}`.\n"
    return "\n".join(file.read_text() for file in files)


if __name__ == "__main__":
    main()
