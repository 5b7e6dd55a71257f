"""Injects faults of every kind into runs of the program, and checks that they leave the right output or none.

    python trust/faults.py PROGRAM [--kills N] [--seed S] [--only NAME] [--trials N | --trial N] [--quick]
                                  [--results FILE]

Oracles are independent of the program's own checks: the bytes of an undisturbed run, the folder before and after, the exit
code, the error line, and what strace shows. A trial that fails keeps its folder and prints how to repeat it. A full run
writes trust/results/faults.json; --quick (for `make test`), --only and --trials write nothing unless --results names a file.
"""

import argparse
import collections
import concurrent.futures
import datetime
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path

import fault_calls
import fault_changes
import fault_disk
import fault_kills
import fault_limits
from lab import Lab
from support import Failed, NotRun, fresh, generator, machine, version, write_results

KINDS = [*fault_kills.KINDS, *fault_disk.KINDS, *fault_calls.KINDS, *fault_changes.KINDS, *fault_limits.KINDS]
RESULTS = Path(__file__).parent / "results" / "faults.json"
WORKERS = 2
SHOWN = 3  # failures printed per kind
LAB = None  # set before workers are forked


def main():
    options = arguments()
    kinds = [kind for kind in KINDS if not options.only or options.only in kind.name]
    if not kinds:
        sys.exit(f"no kind of trial has {options.only!r} in its name; the kinds are {', '.join(k.name for k in KINDS)}")
    folder = Path(tempfile.mkdtemp(prefix="apportion-faults-"))
    began = time.monotonic()
    prepare(options, folder, kinds)
    with concurrent.futures.ProcessPoolExecutor(WORKERS) as pool:
        found = [run_kind(pool, kind, options) for kind in kinds]
    seconds = time.monotonic() - began
    record = {
        "date": str(datetime.date.today()),
        "program": version(options.program),
        "machine": machine(),
        "seed": options.seed,
        "quick": options.quick,
        "seconds": round(seconds),
        "kinds": found,
    }
    show(found, seconds)
    if options.results or not (options.quick or options.only or options.trials):
        write_results(options.results or RESULTS, record)
    failures = sum(kind["failures"] for kind in found)
    if failures:
        print(f"{failures} trials failed; their folders are in {folder}", file=sys.stderr)
        sys.exit(1)
    shutil.rmtree(folder, ignore_errors=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=Path)
    parser.add_argument("--kills", type=int, help="kills at random moments in all (default: 2,035; 100 with --quick)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="kinds of trials with this in their name")
    parser.add_argument("--trials", type=int, help="so many trials of each kind")
    parser.add_argument("--trial", type=int, help="the trial of this number alone")
    parser.add_argument("--quick", action="store_true", help="a thin slice of everything")
    parser.add_argument("--results", type=Path, help="where the results go")
    options = parser.parse_args()
    options.program = options.program.resolve()
    return options


def prepare(options, folder, kinds):
    """Makes files and references in this process; the workers share them."""
    global LAB
    LAB = Lab(options.program, folder, options.quick)
    if any(kind in fault_changes.KINDS for kind in kinds):
        fault_changes.prepare(LAB)
    print(f"prepared in {folder}: {LAB.rows:,} rows", flush=True)


def run_kind(pool, kind, options):
    """Runs all trials of a kind. If only some endings count, trials continue until there are enough of these."""
    wanted = number_of_trials(kind, options)
    began, endings, failures, number = time.monotonic(), collections.Counter(), [], 0
    while number < 4 * wanted + 20:
        missing = wanted - (endings[kind.counts] + endings["failed"] if kind.counts else number)
        if missing <= 0:
            break
        batch = range(number, number + missing) if options.trial is None else [options.trial]
        for trial, (ending, said) in zip(batch, pool.map(one_trial, [(kind.name, t, options.seed) for t in batch])):
            endings[ending] += 1
            if ending == "failed":
                failures.append(said)
                tell_failure(kind, trial, said, len(failures), options)
            elif ending == "not run" and endings[ending] == 1:
                print(f"NOT RUN {kind.name}: {said}", flush=True)
        if options.trial is not None or endings["not run"]:
            break
        number += missing
    ran = sum(endings.values()) - endings["not run"]
    seconds = round(time.monotonic() - began, 1)
    outcome = {"name": kind.name, "trials": ran, "failures": len(failures), "not_run": wanted if endings["not run"] else 0}
    return {**outcome, "seconds": seconds, "endings": dict(sorted(endings.items())), "first_failure": (failures or [None])[0]}


def tell_failure(kind, trial, said, count, options):
    """Prints a failure and how to repeat it, for the first failures of a kind."""
    if count > SHOWN:
        return
    repeat = f"--only '{kind.name}' --trial {trial} --seed {options.seed}{' --quick' * options.quick}"
    print(f"FAILED {kind.name} {trial}: {said}\n  repeat: python trust/faults.py PROGRAM {repeat}", flush=True)


def number_of_trials(kind, options):
    if options.trials is not None:
        return options.trials
    if options.kills is not None and kind.counts == "killed":
        kinds = sum(kind.counts == "killed" for kind in KINDS)
        return -(-options.kills // kinds)
    return kind.quick if options.quick else kind.full


def one_trial(task):
    """Runs a trial in its own folder, in a worker."""
    name, number, seed = task
    kind = next(kind for kind in KINDS if kind.name == name)
    parent = LAB.folder / "trials" / f"{name.replace(' ', '-').replace('/', '')}-{number}"
    try:
        ending = kind.trial(LAB, generator(seed, name, number), fresh(parent), number)
    except Failed as failure:
        return "failed", str(failure)
    except NotRun as reason:
        ending, said = "not run", str(reason)
        shutil.rmtree(parent, ignore_errors=True)
        return ending, said
    except Exception:  # a broken oracle is a failure of the harness and must be reported
        return "failed", f"the trial itself broke: {traceback.format_exc(limit=3)}"
    shutil.rmtree(parent, ignore_errors=True)
    return ending, ""


def show(found, seconds):
    print(f"\n{'kind of trial':<40} {'trials':>7} {'failed':>7} {'not run':>8} {'seconds':>8}  endings")
    for kind in found:
        endings = ", ".join(f"{ending} {count}" for ending, count in kind["endings"].items())
        row = f"{kind['name']:<40} {kind['trials']:>7,} {kind['failures']:>7,} {kind['not_run']:>8,} {kind['seconds']:>8,.1f}"
        print(f"{row}  {endings}")
    total = {name: sum(kind[name] for kind in found) for name in ("trials", "failures", "not_run")}
    print(f"{'all':<40} {total['trials']:>7,} {total['failures']:>7,} {total['not_run']:>8,} {seconds:>8,.1f}")


if __name__ == "__main__":
    main()
