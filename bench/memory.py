"""Measures speed in memory relative to argmax (src/main.rs); prints the results and writes them to bench/results.

    python bench/memory.py BENCH [full]
"""

import datetime
import subprocess
import sys
from pathlib import Path

from files import cpu


def main():
    bench, full = sys.argv[1], sys.argv[2:]
    lines = [f"{datetime.date.today()}, {cpu()}, "]
    print(lines[0], end="", flush=True)
    with subprocess.Popen([bench, *full], stdout=subprocess.PIPE, text=True) as running:
        for line in running.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    if running.returncode != 0:
        sys.exit(f"{bench} failed")
    results = Path(__file__).parent / "results"
    results.mkdir(exist_ok=True)
    (results / ("memory-full.md" if full else "memory.md")).write_text("".join(lines))


if __name__ == "__main__":
    main()
