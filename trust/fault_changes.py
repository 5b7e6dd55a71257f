"""Trials in which an input changes while it is read: the labels are those of the old or new rows, or an error."""

import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor

from lab import BLOCK, FBISG, read_csv, write_as
from support import Failed, Kind, Work, finish, fresh, leftovers, must_say_one_error, must_succeed, visible

FORMATS = ["csv", "csv.gz", "parquet", "arrow"]
CHANGES = ["renamed", "rewritten", "rewritten, time restored", "truncated", "grown", "removed"]
COMMANDS = {
    "label": ("voters", ["label", "{in}", "-o", "out.csv", "--id", "id", "-q"]),
    "label to parquet": ("voters", ["label", "{in}", "-o", "out.parquet", "-q"]),
    "predict fbisg": ("people", ["predict", "{in}", "-o", "out.csv", *FBISG, "-q"]),
    "predict rake": ("people", ["predict", "{in}", "-o", "out.csv", "--model", "rake", "--margin", "{margin}", "-q"]),
    "apply": ("voters", ["apply", "{in}", "--decision", "{decision}", "-o", "out.csv", "-q"]),
}


def trial_of(command):
    def trial(lab, rng, place, number):
        base, words = COMMANDS[command]
        ending, change = FORMATS[number % 4], CHANGES[(number // 4 + number) % 6]
        old, new = versions(lab, base, ending)
        known = KNOWN[command, ending]
        path = place / f"in.{ending}"
        shutil.copyfile(old, path)
        replacement = place / "next"
        shutil.copyfile(new, replacement)
        began = time.monotonic()
        child = Work(command, filled(lab, words, ending)).start(lab.program, place)
        time.sleep(rng.random() ** 0.5 * known["seconds"])  # more often late than early: between two reads
        running = child.poll() is None
        change_file(path, replacement, change, rng)
        done = finish(child, began)
        replacement.unlink(missing_ok=True)
        path.unlink(missing_ok=True)
        try:
            return judge(place, known, done, change) if running else "ended before"
        except Failed as failure:
            raise Failed(f"{command}, .{ending} {change}: {failure}") from None

    return trial


def change_file(path, replacement, change, rng):
    before = path.stat()
    if change == "renamed":
        os.replace(replacement, path)
    elif change == "removed":
        path.unlink()
    elif change == "truncated":
        os.truncate(path, int(before.st_size * rng.uniform(0.2, 0.9)))
    elif change == "grown":
        content = replacement.read_bytes()
        with open(path, "ab") as file:
            file.write(content[content.find(b"\n") + 1 :])
    else:
        with open(path, "r+b", buffering=0) as file:
            file.write(replacement.read_bytes())
        if "time" in change:
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def judge(place, known, done, change):
    """Checks that the labels are those of the old or the new rows, or that there is an error; never a mixture."""
    if leftovers(place):
        raise Failed(f"exit {done.code}, and left {leftovers(place)} behind")
    found = visible(place)
    if done.code == 0:
        if found == known["old"]:
            return "old rows"
        if found == known["new"] and change in ("renamed", "rewritten", "rewritten, time restored"):
            return "new rows"
        if change == "grown" and found == known.get("grown"):
            return "new rows"
        raise Failed("exit 0, but the output is neither that of the old rows nor that of the new ones")
    must_say_one_error(done)
    if found:
        raise Failed(f"failed, but wrote {sorted(found)}")
    if change == "renamed" and "chang" not in done.err:
        raise Failed(f"does not say that the file changed: {done.err[:300]}")
    return "refused"


def filled(lab, words, ending):
    values = {"in": f"in.{ending}", "margin": str(lab.files / "margin.csv"), "decision": str(lab.files / "decision.json")}
    return [word.format(**values) for word in words]


def versions(lab, base, ending):
    """Returns the file, and one of the same size with the rows in reverse order within each block."""
    folder = lab.folder / "reversed"
    return lab.files / f"{base}.{ending}", folder / f"{base}.{ending}"


KNOWN = {}


def prepare(lab):
    """Makes the reversed files, and computes the right outputs of all files."""
    folder = lab.folder / "reversed"
    folder.mkdir()
    for base in ("voters", "people"):
        table = read_csv(lab.files / f"{base}.csv")
        blocks = [range(first, min(first + BLOCK, table.num_rows)) for first in range(0, table.num_rows, BLOCK)]
        write_as(table.take([row for block in blocks for row in reversed(block)]), folder / base)
    cases = [(command, ending) for command in COMMANDS for ending in FORMATS]
    with ThreadPoolExecutor(2) as pool:
        KNOWN.update(zip(cases, pool.map(lambda case: learn(lab, *case), cases)))


def learn(lab, command, ending):
    """Returns the right outputs of the old and the new file, and the time of a run."""
    base, words = COMMANDS[command]
    old, new = versions(lab, base, ending)
    if old.stat().st_size != new.stat().st_size:
        raise SystemExit(f"{old.name}: the reversed file has another size")
    known = {}
    for version, source in (("old", old), ("new", new)):
        known[version], known["seconds"] = output_of(lab, command, words, ending, source.read_bytes())
    if ending == "csv" and base == "voters":
        grown = old.read_bytes() + new.read_bytes().split(b"\n", 1)[1]
        known["grown"], _ = output_of(lab, command, words, ending, grown)
    return known


def output_of(lab, command, words, ending, content):
    place = fresh(lab.folder / f"known-{command.replace(' ', '-')}-{ending}")
    (place / f"in.{ending}").write_bytes(content)
    done = Work(command, filled(lab, words, ending)).run(lab.program, place)
    must_succeed(done, f"{command} .{ending}")
    (place / f"in.{ending}").unlink()
    return visible(place), done.seconds


KINDS = [Kind(f"input changed: {command}", trial_of(command), 144, 8) for command in COMMANDS]
