"""Trials with little memory, few descriptors, several processes at one output, and files that must not be overwritten."""

import os
import re
import signal
import stat
import time

from support import Failed, Kind, Limits, finish, fresh, must_end_well, must_say_one_error, must_succeed, run, start, visible

ABORT = re.compile(r"memory allocation of \d+ bytes failed")
MEMORY = ["label csv", "label parquet copy", "predict bisg", "fit", "report"]


def address_space(lab, rng, place, number):
    """Memory is refused: the run gives one error, the right output, or Rust's abort, which has the effect of a kill."""
    work = lab.works[MEMORY[number % len(MEMORY)]]
    before = work.prepare(place)
    limit = int(rng.uniform(60, 1200)) << 20
    done = work.run(lab.program, place, limits=Limits(address_space=limit))
    if done.code == 127:
        return "not loaded"
    if done.code == -signal.SIGABRT and ABORT.search(done.err):
        work.must_be_whole(place, before)
        return "aborted"
    try:
        return must_end_well(work, place, before, done)
    except Failed as failure:
        raise Failed(f"{limit >> 20} MiB of address space: {failure}") from None


def few_descriptors(descriptors):
    def trial(lab, rng, place, number):
        """Many inputs into a folder have the same labels with few descriptors as with many."""
        count = 150 if lab.quick else 1_500
        inputs = place.parent / "inputs"
        inputs.mkdir()
        for file in range(count):
            share = rng.random()
            (inputs / f"f{file:04}.csv").write_text(f"id,p_a,p_b\n{file},{share:.6f},{1 - share:.6f}\n{file}b,0.3,0.7\n")
        words = ["label", inputs, "-o", "out/", "-q"]
        limits = Limits(descriptors=descriptors)
        done = run(lab.program, words, place, limits=limits)
        must_succeed(done, f"{count} inputs with {descriptors} descriptors")
        if len(visible(place)) != count:
            raise Failed(f"{len(visible(place))} of {count} outputs")
        whole = fresh(place.parent / "whole")
        must_succeed(run(lab.program, ["label", inputs, "-o", "all.csv", "-q"], whole), "one output")
        rows = (whole / "all.csv").read_text().splitlines()[1:]
        parts = [line for path in sorted((place / "out").iterdir()) for line in path.read_text().splitlines()[1:]]
        if rows != parts:
            raise Failed("the outputs of the folder differ from the single output")
        return "right"

    return trial


def eight_processes(force):
    def trial(lab, rng, place, number):
        """Eight processes write to one output: it is complete, and without --force only one process succeeds."""
        work = lab.works["label force" if force else ["label csv", "label parquet"][number % 2]]
        work.prepare(place)
        began = time.monotonic()
        children = [work.start(lab.program, place) for _ in range(8)]
        done = [finish(child, began) for child in children]
        won = [one for one in done if one.code == 0]
        for one in done:
            if one.code != 0:
                must_say_one_error(one)
        if len(won) != (8 if force else 1):
            raise Failed(f"{len(won)} of 8 processes succeeded: {[one.err[:100] for one in done if one.code]}")
        work.must_be_right(place)
        return "right"

    return trial


def inputs_kept(lab, rng, place, number):
    """No input of a run is overwritten, even with --force; links are not followed and permissions are not widened."""
    cases = [kept_reference, kept_margin, kept_decision, kept_input, kept_input_by_link, kept_mode, kept_link_target]
    cases[number % len(cases)](lab, place)
    return "kept"


def must_refuse_to_overwrite(lab, place, words, name, content):
    (place / name).write_bytes(content)
    done = run(lab.program, words, place)
    if (place / name).read_bytes() != content:
        raise Failed(f"{' '.join(map(str, words[-3:]))}: overwrote {name}, which it had read")
    if done.code not in (1, 2) or len(done.errors()) != 1:
        raise Failed(f"exit {done.code}: {done.err[:300]}")


def kept_reference(lab, place):
    words = ["label", lab.files / "voters.csv", "-o", "r.csv", "--force", "--reference", "r.csv"]
    must_refuse_to_overwrite(lab, place, words, "r.csv", (lab.files / "reference.csv").read_bytes())


def kept_margin(lab, place):
    words = ["predict", lab.files / "people.csv", "-o", "m.csv", "--force", "--model", "rake", "--margin", "m.csv"]
    must_refuse_to_overwrite(lab, place, words, "m.csv", (lab.files / "margin.csv").read_bytes())


def kept_decision(lab, place):
    """The decision has a name with the extension of an output."""
    words = ["apply", lab.files / "voters.csv", "-o", "d.csv", "--force", "--decision", "d.csv"]
    must_refuse_to_overwrite(lab, place, words, "d.csv", (lab.files / "decision.json").read_bytes())


def kept_input(lab, place):
    words = ["label", "v.csv", "-o", "./v.csv", "--force"]
    must_refuse_to_overwrite(lab, place, words, "v.csv", (lab.files / "voters.csv").read_bytes())


def kept_input_by_link(lab, place):
    (place / "link.csv").symlink_to("v.csv")
    words = ["label", "v.csv", "-o", "link.csv", "--force"]
    must_refuse_to_overwrite(lab, place, words, "v.csv", (lab.files / "voters.csv").read_bytes())


def kept_mode(lab, place):
    """A replaced output does not become readable to more users."""
    path = place / "out.csv"
    path.write_text("old\n")
    path.chmod(0o600)
    must_succeed(run(lab.program, ["label", lab.files / "voters.csv", "-o", "out.csv", "--force", "-q"], place), "label")
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & ~0o600:
        raise Failed(f"--force widened the mode of the output from 0600 to {mode:04o}")


def kept_link_target(lab, place):
    """A symbolic link in place of an output is replaced, not followed."""
    (place / "precious.csv").write_text("precious\n")
    (place / "out.csv").symlink_to("precious.csv")
    run(lab.program, ["label", lab.files / "voters.csv", "-o", "out.csv", "--force", "-q"], place)
    if (place / "precious.csv").read_text() != "precious\n":
        raise Failed("the target of a symbolic link was overwritten")


def private_copy(lab, rng, place, number):
    """The copy of standard input is readable only by its owner, and its name cannot be guessed."""
    reader, writer = os.pipe()
    child = start(lab.program, ["label", "-", "-o", "out.csv", "-q"], place, stdin=reader)
    os.close(reader)
    content = (lab.files / "voters.csv").read_bytes()
    try:
        os.write(writer, content[:60_000])
        deadline = time.monotonic() + 5
        found = []
        while not found and time.monotonic() < deadline:
            found = [path for path in (place.parent / "tmp").iterdir()]
            time.sleep(0.002)
        modes = [stat.S_IMODE(path.stat().st_mode) for path in found]
    finally:
        with open(writer, "wb") as pipe:
            pipe.write(content[60_000:])
    must_succeed(finish(child, time.monotonic()), "label -")
    if any(mode & 0o077 for mode in modes):
        raise Failed(f"the copy of standard input has mode {modes[0]:04o}")
    lab.works["label stdin"].must_be_right(place)
    return "private" if modes else "no copy seen"


KINDS = [
    Kind("memory limit", address_space, 120, 5),
    Kind("64 descriptors", few_descriptors(64), 3, 1),
    Kind("1,024 descriptors", few_descriptors(1024), 3, 0),
    Kind("eight processes", eight_processes(False), 30, 1),
    Kind("eight processes, --force", eight_processes(True), 30, 1),
    Kind("inputs kept", inputs_kept, 14, 7),
    Kind("private copy of standard input", private_copy, 5, 1),
]
