"""Compares the estimates of `apportion disparity` with statsmodels.

    python run.py PATH/TO/apportion

Each file `compare_*.py` next to this one has a function `compare(program, folder)`, which raises an error if the numbers
differ. `common.py` has the data and the comparison.
"""

import importlib
import sys
import tempfile
from pathlib import Path


def main():
    program = Path(sys.argv[1]).resolve()
    here = Path(__file__).resolve().parent
    sys.path.insert(0, str(here))
    files = sorted(here.glob("compare_*.py"))
    assert files, "there are no comparisons"
    for file in files:
        with tempfile.TemporaryDirectory() as folder:
            compared = importlib.import_module(file.stem).compare(program, Path(folder))
        assert compared > 0, f"{file.name} compared nothing"
        print(f"{file.stem}: {compared} numbers equal")


main()
