"""Fuzzes every target for some minutes: `make fuzz MINUTES=n [TARGET=t]`. Adds executions, failures and hours to trust/results/fuzz.json."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "fuzz.json"
TARGETS = ["text", "parquet", "arrow", "workbook", "decision", "reference", "geometry", "names", "columns", "sql", "solver"]


def cargo():
    """Returns the command before `fuzz`, the options after its subcommand, and the environment."""
    environment = dict(os.environ)
    listed = subprocess.run(["rustup", "toolchain", "list"], capture_output=True, text=True, check=False).stdout
    if "nightly" in listed:
        return ["cargo", "+nightly", "fuzz"], [], environment
    environment["RUSTC_BOOTSTRAP"] = "1"
    return ["cargo", "fuzz"], ["--sanitizer", "none"], environment


def fuzz(target, minutes, tools):
    """Runs one target; returns its executions, hours, and whether it failed."""
    command, options, environment = cargo()
    environment["PATH"] = f"{tools / 'bin'}{os.pathsep}{environment['PATH']}"
    environment["ASAN_OPTIONS"] = "detect_leaks=0:allocator_may_return_null=0"
    own, crashes = tools / "fuzz" / target, HERE / "crashes" / target
    for folder in (own, crashes):
        folder.mkdir(parents=True, exist_ok=True)
    stored = [path for path in (HERE / "corpus" / target, crashes) if path.is_dir()]
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="apportion-fuzz-", dir=memory if memory.is_dir() else None) as scratch:
        environment["APPORTION_TRUST_SCRATCH"] = scratch
        words = [*command, "run", "--fuzz-dir", str(HERE / "fuzz"), *options, target, str(own), *map(str, stored), "--"]
        words += [f"-max_total_time={round(minutes * 60)}", "-print_final_stats=1", "-max_len=65536", "-timeout=60"]
        words += ["-rss_limit_mb=4096", f"-artifact_prefix={crashes}/"]
        begun = time.monotonic()
        with tempfile.TemporaryFile("w+", errors="replace") as log:
            status = subprocess.run(words, stdout=log, stderr=subprocess.STDOUT, env=environment, check=False).returncode
            log.seek(0)
            text = log.read()
    done = re.findall(r"stat::number_of_executed_units:\s*(\d+)", text) or re.findall(r"^#(\d+)\s", text, re.M)
    hours = min(time.monotonic() - begun, minutes * 60) / 3600
    if status:
        print(text[-3000:], file=sys.stderr)
    return int(done[-1]) if done else 0, hours, status != 0


def main():
    minutes, tools = float(sys.argv[1]), Path(sys.argv[2])
    targets = sys.argv[3:] or TARGETS
    if unknown := [target for target in targets if target not in TARGETS]:
        sys.exit(f"unknown target {unknown[0]}; the targets are {', '.join(TARGETS)}")
    command, options, environment = cargo()
    environment["PATH"] = f"{tools / 'bin'}{os.pathsep}{environment['PATH']}"
    for target in targets:
        subprocess.run([*command, "build", "--fuzz-dir", str(HERE / "fuzz"), *options, target], env=environment, check=True)
    failed = []
    for target in targets:
        executions, hours, has_failed = fuzz(target, minutes, tools)
        results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        total = results.setdefault(target, {"executions": 0, "failures": 0, "hours": 0.0})
        total["executions"] += executions
        total["failures"] += has_failed
        total["hours"] = round(total["hours"] + hours, 4)
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(results, indent=2, sort_keys=True) + "\n")
        print(f"{target}: {executions:,} executions{', FAILED' if has_failed else ''}", flush=True)
        failed += [target] if has_failed else []
    if failed:
        sys.exit(f"failed: {', '.join(failed)}; the inputs are in trust/crashes")


if __name__ == "__main__":
    if not shutil.which("cargo"):
        sys.exit("cargo is missing; install Rust")
    main()
