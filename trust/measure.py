"""Runs commands at once and prints, for each, its seconds, peak memory in MiB and exit code, as JSON.

    python trust/measure.py '[["program", "word"], ...]'

It is a small separate process, because Linux reports a peak memory of a child that is at least that of its parent.
"""

import json
import os
import subprocess
import sys
import time


def main():
    commands = json.loads(sys.argv[1])
    began = time.perf_counter()
    children = {subprocess.Popen(command).pid: place for place, command in enumerate(commands)}
    found = [None] * len(commands)
    for _ in commands:
        pid, status, used = os.wait4(-1, 0)
        code = os.waitstatus_to_exitcode(status)
        found[children[pid]] = [time.perf_counter() - began, used.ru_maxrss / 1024, code]
    print(json.dumps(found))


if __name__ == "__main__":
    main()
