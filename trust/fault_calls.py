"""Trials in which strace makes system calls fail, and checks of the system calls of an undisturbed run."""

import re
import subprocess

from fault_kills import need_strace
from support import Failed, Kind, NotRun, must_end_well, must_succeed, run

# System calls, the error, and the highest call number that fails. This list applies only to the path of the input.
ON_INPUT = [
    ("read,pread64", "EIO", 40),
    ("openat", "EMFILE", 14),
    ("openat", "EACCES", 14),
    ("statx,fstat,newfstatat", "EIO", 8),
    ("lseek", "EIO", 12),
]
ANYWHERE = [
    ("write,pwrite64,writev", "ENOSPC", 30),
    ("write,pwrite64,writev", "EIO", 30),
    ("rename,renameat,renameat2,link,linkat", "EIO", 26),
    ("fsync,fdatasync", "EIO", 26),
    ("ftruncate,fallocate", "ENOSPC", 3),
    ("flock,fcntl", "ENOLCK", 30),
    ("mkdir,mkdirat", "ENOSPC", 3),
    ("getrandom", "ENOSYS", 3),
]
AFTER_START = [("clone3,clone", "EAGAIN", 12), ("mmap", "ENOMEM", 25), ("openat", "EMFILE", 25)]
INPUTS = {"label csv": "voters.csv", "label parquet copy": "voters.parquet", "apply": "voters.csv", "predict fbisg": "people.csv"}
OTHERS = [*INPUTS, "label folder", "label force", "fit", "report", "figures"]


def on_input(lab, rng, place, number):
    """Opening or reading the input fails partway."""
    need_ptrace(lab, place)
    name = rng.choice(list(INPUTS))
    calls, error, most = ON_INPUT[number % len(ON_INPUT)]
    path = ["-P", lab.files / INPUTS[name]]
    return inject(lab, place, lab.works[name], calls, error, 1 + int(most * rng.random() ** 2), path)


def anywhere(lab, rng, place, number):
    """Writing, renaming, syncing, locking or making a folder fails."""
    need_ptrace(lab, place)
    calls, error, most = ANYWHERE[number % len(ANYWHERE)]
    work = lab.works[rng.choice(OTHERS)]
    most = most if work.folder else min(most, 4)
    return inject(lab, place, work, calls, error, 1 + int(most * rng.random() ** 2))


def after_start(lab, rng, place, number):
    """Threads, memory or descriptors are refused after the program has started, not while it is loaded."""
    need_ptrace(lab, place)
    calls, error, most = AFTER_START[number % len(AFTER_START)]
    before_main = calls_before_main(lab, place, calls)
    when = before_main + 1 + int(most * rng.random())
    return inject(lab, place, lab.works[rng.choice(OTHERS)], calls, error, when)


def inject(lab, place, work, calls, error, when, path=()):
    log = place.parent / "strace"
    before = work.prepare(place)
    fault = ["-e", f"trace={calls}", "-e", f"inject={calls}:error={error}:when={when}"]
    done = work.run(lab.program, place, wrap=["strace", "-f", "-o", log, *path, *fault])
    if "INJECTED" not in log.read_text(errors="replace"):
        must_succeed(done, work.name)
        work.must_be_right(place)
        return "not reached"
    try:
        return must_end_well(work, place, before, done)
    except Failed as failure:
        raise Failed(f"{work.name}, {calls.split(',')[0]} {error} at {when}: {failure}") from None


BEFORE_MAIN = {}


def calls_before_main(lab, place, calls):
    """Returns the number of such calls by the loader and Rust's runtime, whose last step before main is sigaltstack."""
    if calls not in BEFORE_MAIN:
        log = place.parent / "strace"
        run("strace", ["-o", log, "-e", f"trace={calls},sigaltstack", lab.program, "--version"], place)
        lines = log.read_text(errors="replace").splitlines()
        ends = [number for number, line in enumerate(lines) if line.startswith("sigaltstack")]
        BEFORE_MAIN[calls] = sum(not line.startswith("sigaltstack") for line in lines[: ends[1]]) if ends[1:] else 0
    return BEFORE_MAIN[calls]


def network(lab, rng, place, number):
    """No command asks the system for a socket."""
    need_ptrace(lab, place)
    voters, people = lab.files / "voters.csv", lab.files / "people.csv"
    commands = [
        ["label", voters, "-o", "out.csv"],
        ["predict", people, "-o", "scores.csv"],
        ["compare", voters, "--truth", "race", "--report", "page.html"],
        ["demo", "--rows", "2000"],
        ["audit", voters, "--label", "race"],
        ["fit", voters, "-o", "decision.json"],
        ["tables"],
    ]
    log = place.parent / "strace"
    words = commands[number % len(commands)]
    done = run(lab.program, words, place, wrap=["strace", "-f", "-o", log, "-e", "trace=network"])
    must_succeed(done, words[0])
    calls = [line for line in log.read_text(errors="replace").splitlines() if re.search(r"\d+ +\w+\(", line)]
    if calls:
        raise Failed(f"{words[0]} makes a network call: {calls[0][:200]}")
    return "no socket"


def synced(lab, rng, place, number):
    """An output is synced before it is renamed: fsync on the file, then rename."""
    need_ptrace(lab, place)
    work = lab.works[["label csv", "label parquet", "fit", "report"][number % 4]]
    work.prepare(place)
    log = place.parent / "strace"
    calls = "fsync,fdatasync,rename,renameat,renameat2,link,linkat"
    must_succeed(work.run(lab.program, place, wrap=["strace", "-f", "-y", "-o", log, "-e", f"trace={calls}"]), work.name)
    ready = set()
    for line in log.read_text(errors="replace").splitlines():
        if match := re.search(r"f(?:data)?sync\(\d+<([^>]*)>", line):
            ready.add(match[1].rsplit("/", 1)[-1])
        elif match := re.search(r'(?:rename|link)\w*\(.*?"([^"]*)"', line):
            source = match[1].rsplit("/", 1)[-1]
            if source not in ready:
                raise Failed(f"{work.name}: {source} is renamed without fsync before")
    return "synced"


def need_ptrace(lab, place):
    need_strace()
    if subprocess.run(["strace", "-o", "/dev/null", "true"], check=False, capture_output=True).returncode != 0:
        raise NotRun("strace is not allowed to trace here")


def undone(lab, rng, place, number):
    """If the n-th output of a folder cannot be renamed, the folder has no outputs at all."""
    need_ptrace(lab, place)
    calls = "rename,renameat,renameat2,link,linkat"
    return inject(lab, place, lab.works["label folder"], calls, "EIO", 1 + number % 30)


KINDS = [
    Kind("failing reads", on_input, 300, 8),
    Kind("failing writes, renames, locks", anywhere, 400, 10),
    Kind("failing threads, memory, descriptors", after_start, 200, 6),
    Kind("failing renames of a folder", undone, 30, 3),
    Kind("fsync before rename", synced, 4, 4),
    Kind("no network", network, 7, 4),
]
