"""Counts the instructions of small fixed cases (src/bin/fixed.rs) with valgrind, to detect a slower solver.

    python bench/instructions.py FIXED [--update]

FIXED is the built program. Unlike times, instruction counts do not depend on the load of the machine, so a test can check
them. They are compared with instructions.json, with a tolerance for different compilers. --update rewrites that file for
all SIMD levels that valgrind supports. If valgrind does not support AVX-512, code for that level is not checked.
"""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

KEPT = Path(__file__).parent / "instructions.json"
CASES = ["argmax", "match", "match-repeated-rows", "match-by-group", "balance", "frontier"]
ROOM = 0.10


def main():
    fixed, update = sys.argv[1], sys.argv[2:] == ["--update"]
    if not have_valgrind():
        sys.exit(1 if os.environ.get("CI") or update else 0)
    levels = levels_of(fixed)
    if update:
        write({f"{platform.machine()} {level}": count_all(fixed, level) for level in levels})
        return
    kept = json.loads(KEPT.read_text())
    known = [level for level in levels if f"{platform.machine()} {level}" in kept]
    if not known:
        print(f"instructions: not compared, because instructions.json has no counts for {platform.machine()}")
        return
    level = known[-1]
    sys.exit(compare(kept[f"{platform.machine()} {level}"], count_all(fixed, level), level))


def have_valgrind():
    """Returns whether valgrind is installed, after an attempt to install it."""
    if shutil.which("valgrind") is None and shutil.which("apt-get"):
        administrator = [] if os.geteuid() == 0 else ["sudo", "-n"]  # no one is there to type a password
        for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-qq", "-y", "valgrind", "libc6-dbg"]):
            if not administrator or shutil.which("sudo"):
                subprocess.run(administrator + command, stdout=subprocess.DEVNULL, check=False)
    found = shutil.which("valgrind") is not None
    if not found:
        print("instructions: not counted, because valgrind is not installed; install it to run this check", file=sys.stderr)
    return found


def levels_of(fixed):
    """Returns the SIMD levels that valgrind supports, lowest first."""
    command = ["valgrind", "--quiet", "--tool=none", fixed, "levels"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


def count_all(fixed, level):
    return {case: count(fixed, case, level) for case in CASES}


def count(fixed, case, level):
    """Returns the instructions inside the function `counted`. Building the table is not included."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "callgrind.out"
        valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--toggle-collect=fixed::counted*"]
        done = subprocess.run([*valgrind, fixed, case, level], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"instructions: {case} failed\n{done.stderr}")
        total = re.search(r"^totals: (\d+)", out.read_text(errors="replace"), re.MULTILINE)
    if total is None or int(total[1]) == 0:
        sys.exit(f"instructions: valgrind did not find the function `counted` in {fixed}")
    return int(total[1])


def compare(kept, counts, level):
    """Compares all counts with the stored ones and prints them. Returns 1 if one is too high."""
    changes = {case: counts[case] / kept[case] - 1 for case in CASES}
    print(f"instructions of small cases at {level}, and the change from {KEPT.name}:")
    for case, change in changes.items():
        print(f"  {case:<22} {counts[case]:>12,} {change:>+8.1%}")
    if max(changes.values()) > ROOM:
        print(f"more than {ROOM:.0%} above: find out why; if it is intended, store the new counts with `make instructions`")
        return 1
    if min(changes.values()) < -ROOM:
        print(f"more than {ROOM:.0%} below: store the new counts with `make instructions`")
    return 0


def write(counts):
    KEPT.write_text(json.dumps(counts, indent=2) + "\n")
    print(KEPT.read_text(), end="")


if __name__ == "__main__":
    main()
