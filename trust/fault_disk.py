"""Trials in which the disk is full, at many sizes: a small tmpfs, and a limit on the size of files."""

import shutil
import subprocess

from support import Failed, Kind, Limits, NotRun, leftovers, must_end_well, must_say_one_error, run

WORKS = [
    "label csv",
    "label parquet",
    "label arrow",
    "label gz",
    "label parquet copy",
    "label folder",
    "label force",
    "label stdin",
    "label spill",
    "predict bisg",
    "predict fbisg",
    "fit",
    "apply",
    "report",
    "figures",
]


def file_size(name):
    """Writes beyond a limit fail with EFBIG."""

    def trial(lab, rng, place, number):
        work = lab.works[name]
        before = work.prepare(place)
        size = 0 if number == 0 else int(work.largest * 1.1 * rng.random() ** rng.choice([1, 3]))
        done = work.run(lab.program, place, limits=Limits(file_size=size))
        return must_end_well(work, place, before, done)

    return trial


def small_disk(name):
    """The file system has space for only a part of the output; temporary files are also written there."""

    def trial(lab, rng, place, number):
        work = lab.works[name]
        total = work.total + (lab.files / "voters.csv").stat().st_size * (work.stdin is not None)
        pages = 3 + int(total / 4096 * 1.2 * rng.random() ** rng.choice([1, 3]))
        disk = place.parent
        mount(disk, pages * 4096)
        try:
            (disk / "tmp").mkdir()
            (disk / "out").mkdir()
            before = work.prepare(place)
            done = work.run(lab.program, place)
            return must_end_well(work, place, before, done)
        finally:
            subprocess.run(["umount", "-l", disk], check=False)

    return trial


def full_device(lab, rng, place, number):
    """Standard output is /dev/full."""
    commands = [
        ["label", lab.files / "voters.csv", "-o", "-", "-q"],
        ["label", lab.files / "voters.csv", "-o", "out.csv", "--json", "-q"],
        ["predict", lab.files / "people.csv", "-o", "-", "-q"],
        ["compare", lab.files / "voters.csv", "-q"],
        ["frontier", lab.files / "voters.csv", "-q"],
        ["export", lab.files / "decision.json", "--sql", "duckdb"],
        ["tables"],
        ["simulate", "voters", "--rows", "1000", "-o", "-", "-q"],
    ]
    words = commands[number % len(commands)]
    done = run("sh", ["-c", 'exec "$0" "$@" >/dev/full', lab.program, *words], place)
    must_say_one_error(done)
    if leftovers(place):
        raise Failed(f"left {leftovers(place)} behind")
    return "refused"


def read_only(lab, rng, place, number):
    """The output folder cannot be written to (a read-only mount, because root ignores permissions)."""
    mount(place, 1 << 20)
    try:
        if subprocess.run(["mount", "-o", "remount,ro", place], check=False, capture_output=True).returncode:
            raise NotRun("a file system cannot be mounted read-only here")
        work = lab.works[rng.choice(["label csv", "label folder", "fit", "figures"])]
        done = work.run(lab.program, place)
        must_say_one_error(done)
        work.must_be_untouched(place, {})
    finally:
        subprocess.run(["umount", "-l", place], check=False)
    return "refused"


def mount(place, size):
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", place]
    if shutil.which("mount") is None or subprocess.run(command, check=False, capture_output=True).returncode != 0:
        raise NotRun("a small file system cannot be mounted here: this needs root")


KINDS = [
    *[Kind(f"file size limit: {name}", file_size(name), 40, 1) for name in WORKS],
    *[Kind(f"disk full: {name}", small_disk(name), 40, 1) for name in WORKS],
    Kind("disk full: /dev/full", full_device, 16, 4),
    Kind("disk full: read-only", read_only, 8, 1),
]
