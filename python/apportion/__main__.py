"""The command line program, as `python -m apportion` and as the command `apportion`."""

import sys

from ._native import main as _main


def main() -> int:
    """Runs the program with the arguments of this process, and returns its exit code."""
    return _main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
