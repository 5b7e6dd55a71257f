"""Writes the results of trials into docs/trust.md and docs/estimators.md, between markers. The text around the tables is
written by hand.

    python trust/page.py [--check]

The results are the files of trust/results. Prints the table of promises. With --check, nothing is written, and the script
fails if a page does not show the latest results.
"""

import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
PAGES = [HERE.parent / "docs" / name for name in ("trust.md", "estimators.md")]
MARKED = re.compile(r"(<!-- table: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
NOT_YET = "not run yet"

# A promise, how it is tested, and the trials that count: results files, each with a pattern for the kinds of trials.
PROMISES = [
    (
        "Labels are exactly optimal, and the certificate proves it",
        "random problems compared with brute force and other solvers (trust/src/solver); crates/apportion/tests/brute_force.rs, "
        "joint_rules.rs, balance.rs, frontier.rs; `apportion verify` on outputs",
        [("trials", "solver")],
    ),
    (
        "No row is lost, added or reordered; damaged files are refused",
        "damaged files of all formats (trust/src/trials); failing reads (trust/fault_calls.py); "
        "crates/apportion-cli/tests/bad_files.rs",
        [("trials", "files"), ("faults", "failing reads")],
    ),
    (
        "Every label is in the row that it was computed for, even if the input changes during the run",
        "inputs replaced, rewritten, truncated, extended and removed at random times (trust/fault_changes.py)",
        [("faults", "input changed")],
    ),
    (
        "After kill -9, outputs are complete or absent; the next run cleans up",
        "kills at random times and at selected system calls (trust/fault_kills.py)",
        [("faults", "kill -9")],
    ),
    (
        "An interrupted run (TERM, INT, HUP, a closed pipe) leaves no files behind and reports the interruption",
        "signals at random times (trust/fault_kills.py); crates/apportion-cli/tests/cli_behavior.rs",
        [("faults", "TERM|broken pipe")],
    ),
    (
        "A full disk, a failed write or a failed rename causes one error line and leaves no files behind",
        "a small tmpfs and RLIMIT_FSIZE at many sizes (trust/fault_disk.py); injected failures of system calls "
        "(trust/fault_calls.py)",
        [("faults", "disk full|file size|failing writes|failing renames")],
    ),
    (
        "Outputs are synced to disk before they are renamed to their final name",
        "strace shows fsync before each rename (trust/fault_calls.py)",
        [("faults", "fsync")],
    ),
    (
        "Inputs are never changed or overwritten; `--force` does not widen permissions",
        "outputs with the name of every kind of input, links, file modes (trust/fault_limits.py)",
        [("faults", "inputs kept")],
    ),
    (
        "Labels do not depend on threads, memory, batches, file format, row order, build or front end",
        "hashes of labels (trust/same.py, trust/results/hashes.json); SIMD levels in crates/apportion/tests/same_labels.rs; "
        "python/tests/test_program.py",
        [("same", "")],
    ),
    (
        "No data leaves the machine",
        "strace shows no network calls (trust/fault_calls.py); the HTML report forbids all connections "
        "(crates/apportion-report/tests/browser)",
        [("faults", "no network")],
    ),
    (
        "With little memory, few file descriptors or several processes at once, the output is correct or one error "
        "line gives the reason",
        "RLIMIT_AS, RLIMIT_NOFILE, eight processes (trust/fault_limits.py); failing threads and allocations "
        "(trust/fault_calls.py)",
        [("faults", "memory limit|descriptors|eight processes|failing threads")],
    ),
    (
        "Memory use stays close to `--memory`; problems that are too large are refused immediately",
        "`make load` (trust/load.py)",
        [("load", "")],
    ),
    (
        "Untrusted files cause no crash, no hang and no unbounded memory use",
        "fuzzing (trust/fuzz) and replay of all corpora in `make test` (trust/tests/replay.rs); damaged files",
        [("fuzz", ""), ("trials", "files")],
    ),
    (
        "Names from files cannot inject HTML, SQL or paths",
        "crates/apportion-report/tests/browser; crates/apportion-cli/tests/sql; crates/apportion-cli/tests/program.rs",
        [("injection_html", ""), ("injection_sql", "")],
    ),
    (
        "Temporary files are private; messages and reports contain only the personal data that is needed to locate a "
        "problem",
        "trust/fault_limits.py; crates/apportion-cli/tests/report.rs and cli_behavior.rs",
        [("faults", "private copy")],
    ),
]


def main():
    results = {path.stem: json.loads(path.read_text()) for path in sorted((HERE / "results").glob("*.json"))}
    for path in PAGES:
        page = path.read_text()
        latest = MARKED.sub(lambda mark: mark[1] + TABLES[mark[2]](results) + mark[3], page)
        if sys.argv[1:] != ["--check"]:
            path.write_text(latest)
        elif latest != page:
            sys.exit(f"docs/{path.name} is out of date with trust/results; run trust/page.py")
    if sys.argv[1:] != ["--check"]:
        print(promises(results))


def promises(results):
    rows = []
    for promise, tests, sources in PROMISES:
        found = [counted(results, *source) for source in sources]
        found = [one for one in found if one is not None]
        if not found:
            rows.append([promise, tests, NOT_YET, ""])
            continue
        trials, failures, not_run = (sum(numbers) for numbers in zip(*found))
        note = f" ({not_run:,} not run)" if not_run else ""
        rows.append([promise, tests, f"{trials:,}{note}", f"{failures:,}"])
    return table(["promise", "tested by", "trials", "failures"], rows)


def counted(results, source, pattern):
    """Returns the trials, failures and trials not run of the matching kinds, or None if there are no results."""
    if source not in results:
        return None
    record = results[source]
    if source == "trials":
        campaign = record.get(pattern)
        return campaign and (campaign["trials"], campaign["failures"], 0)
    if source == "fuzz":
        targets = [one for one in record.values() if isinstance(one, dict)]
        return sum(one["executions"] for one in targets), sum(one.get("failures", 0) for one in targets), 0
    if source == "load":
        return len(record["cases"]), sum(case["failure"] is not None for case in record["cases"]), 0
    if source == "faults":
        kinds = [kind for kind in record["kinds"] if re.search(pattern, kind["name"])]
        return tuple(sum(kind[name] for kind in kinds) for name in ("trials", "failures", "not_run"))
    return record["trials"], record["failures"], 0


def faults(results):
    if "faults" not in results:
        return "Not run yet: `make trust`.\n"
    record = results["faults"]
    rows = [
        [kind["name"], f"{kind['trials']:,}", f"{kind['failures']:,}", f"{kind['not_run']:,}", endings(kind)]
        for kind in record["kinds"]
    ]
    minutes = record["seconds"] / 60
    head = f"{record['program']}, {record['date']}, {record['machine']}; seed {record['seed']}, {minutes:.0f} minutes.\n\n"
    return head + table(["fault", "trials", "failures", "not run", "how runs ended"], rows)


def endings(kind):
    return ", ".join(f"{ending} {count:,}" for ending, count in kind["endings"].items())


def load(results):
    if "load" not in results:
        return "Not measured yet: `make load`.\n"
    record = results["load"]
    rows = []
    for case in record["cases"]:
        limit = f"{case['memory_mib']:,}" if case["memory_mib"] else "default"
        numbers = [f"{case['rows']:,}", f"{case['seconds']:.1f}", limit, f"{case['peak_mib']:,}", str(case["exit"])]
        rows.append([case["name"], *numbers, case["verified"], case["failure"] or ""])
    head = f"{record['program']}, {record['date']}, {record['machine']}.\n\n"
    names = ["case", "rows", "seconds", "`--memory`, MiB", "peak, MiB", "exit", "verified", "failure"]
    return head + table(names, rows)


def campaigns(results):
    if "trials" not in results:
        return "Not run yet: `make trust`.\n"
    rows = []
    for name, campaign in results["trials"].items():
        for kind, tally in campaign["kinds"].items():
            numbers = [f"{tally.get(word, 0):,}" for word in ("accepted", "refused", "failures")]
            rows.append([name, kind, *numbers])
    return table(["campaign", "kind", "accepted, correct", "refused", "failures"], rows)


def fuzz(results):
    if "fuzz" not in results:
        return "Not run yet: `make fuzz`.\n"
    row = lambda name, one: [name, f"{one['executions']:,}", f"{one['failures']:,}", f"{one['hours']:.2f}"]
    return table(["target", "executions", "failures", "hours"], [row(*item) for item in results["fuzz"].items()])


def valid(results):
    """Returns the bias and coverage of the estimators whose condition holds."""
    return estimates(results, lambda case: case["condition_holds"])


def invalid(results):
    """Returns the bias and coverage of the estimators whose condition does not hold."""
    return estimates(results, lambda case: not case["condition_holds"])


def estimates(results, is_shown):
    if "estimators" not in results:
        return "Not run yet: `make simulate-estimators`.\n"
    record = results["estimators"]
    gaps = [f"{name} gap" for name in record["classes"][1:]]
    rows = [
        [case["outcome_depends_on"], case["method"], f"{case['places']:,}", f"{case['figures'][0]['files']:,}"]
        + [figure(own) for own in case["figures"]]
        for case in sorted(filter(is_shown, record["cases"]), key=lambda case: METHODS.index(case["method"]))
    ]
    return table(["outcome depends on", "estimator", "places", "files", *record["classes"], *gaps], rows)


def figure(own):
    """Returns the bias in points and the coverage in percent, marked if it is outside 93% to 97%."""
    if own["files"] == 0:
        return "–"
    coverage = 100 * own["coverage"]
    mark = "" if 93 <= coverage <= 97 else "*"
    return f"{signed(100 * own['bias'])}, {coverage:.1f}%{mark}"


def signed(points):
    text = f"{points:+.1f}".replace("-", "−")
    return "0.0" if text in ("+0.0", "−0.0") else text


def formula(results):
    """Returns the bias of the weighted estimate in the simulation and by its formula, in points."""
    if "estimators" not in results:
        return "Not run yet: `make simulate-estimators`.\n"
    record = results["estimators"]
    rows = []
    for case in record["cases"]:
        if case["method"] == "weighted":
            found = [signed(100 * own["bias"]) for own in case["figures"]]
            by_formula = [signed(100 * bias) for bias in case["weighted_bias_by_formula"]]
            pairs = [f"{one} / {other}" for one, other in zip(found, by_formula)]
            rows.append([case["outcome_depends_on"], f"{case['places']:,}", *pairs])
    return table(["outcome depends on", "places", *record["classes"]], rows)


def table(names, rows):
    lines = [names, ["---"] * len(names), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


METHODS = [
    "weighted",
    "imputed",
    "linear",
    "BIRDiE",
    "BIRDiE by place, partial pooling",
    "BIRDiE by place, separate",
    "argmax",
]

TABLES = {
    "promises": promises,
    "faults": faults,
    "load": load,
    "campaigns": campaigns,
    "fuzz": fuzz,
    "valid": valid,
    "invalid": invalid,
    "formula": formula,
}


if __name__ == "__main__":
    main()
