"""Helpers of all trials: running the program, checking what it leaves behind, and recording results."""

import hashlib
import json
import os
import platform
import random
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

HIDDEN = ".apportion-unfinished-"
TRACE = re.compile(r"panicked at|stack backtrace|RUST_BACKTRACE|fatal runtime error|memory allocation of|core dumped")
LIMIT = 120  # seconds after which a run counts as a hang


class Failed(Exception):
    """The program broke a promise."""


class NotRun(Exception):
    """The machine does not allow a trial; it counts as not run, never as passed."""


@dataclass
class Done:
    """The result of a run of the program."""

    code: int
    out: str
    err: str
    seconds: float

    def errors(self):
        return [line for line in self.err.splitlines() if line.startswith("error:")]


@dataclass
class Limits:
    """Limits of a child process: file size and address space in bytes, open descriptors."""

    file_size: int | None = None
    address_space: int | None = None
    descriptors: int | None = None

    def apply(self):
        pairs = [
            (resource.RLIMIT_FSIZE, self.file_size),
            (resource.RLIMIT_AS, self.address_space),
            (resource.RLIMIT_NOFILE, self.descriptors),
        ]
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # so that a write fails with EFBIG
        for limit, value in pairs:
            if value is not None:
                resource.setrlimit(limit, (value, value))


def start(program, words, place, *, wrap=(), limits=None, stdin=None, temporary=None):
    """Starts the program in the folder `place`, with a folder for temporary files next to it."""
    environment = {**os.environ, "TMPDIR": str(temporary or place.parent / "tmp"), "LC_ALL": "C.UTF-8"}
    environment.pop("RUST_BACKTRACE", None)
    return subprocess.Popen(
        [*map(str, wrap), str(program), *map(str, words)],
        cwd=place,
        env=environment,
        stdin=stdin or subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=limits.apply if limits else None,
        restore_signals=limits is None,
    )


def finish(child, began):
    """Waits for a run; a run that does not end within the limit is a failure."""
    try:
        out, err = child.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        raise Failed(f"did not end within {LIMIT} seconds") from None
    seconds = time.monotonic() - began
    return Done(child.returncode, out.decode(errors="replace"), err.decode(errors="replace"), seconds)


def run(program, words, place, **how):
    began = time.monotonic()
    return finish(start(program, words, place, **how), began)


def must_succeed(done, what):
    if done.code != 0:
        raise Failed(f"{what}: exit {done.code}: {done.err[-400:]}")


def must_say_one_error(done, code=1):
    """Checks the only allowed form of failure: exit code 1, one line that begins with `error:`, no stack trace."""
    if TRACE.search(done.err):
        raise Failed(f"exit {done.code} with a trace or abort: {done.err[:300]}")
    if done.code != code or len(done.errors()) != 1:
        raise Failed(f"exit {done.code}, {len(done.errors())} lines `error:`: {done.err[:300]!r}")


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def visible(place):
    """Returns the digests of all files below a folder by name, except unfinished ones."""
    found = {}
    for folder, folders, files in os.walk(place):
        folders[:] = [name for name in folders if not name.startswith(HIDDEN)]
        for name in files:
            if not name.startswith(HIDDEN):
                path = Path(folder) / name
                found[str(path.relative_to(place))] = digest(path)
    return found


def unfinished(place):
    """Returns the unfinished entries below a folder, without their contents."""
    found = []
    for folder, folders, files in os.walk(place):
        found += [str(Path(folder, name).relative_to(place)) for name in [*folders, *files] if name.startswith(HIDDEN)]
        folders[:] = [name for name in folders if not name.startswith(HIDDEN)]
    return found


def leftovers(place):
    """Returns unfinished entries, and files in the folder for temporary files next to it."""
    temporary = place.parent / "tmp"
    return unfinished(place) + [f"tmp/{path.name}" for path in temporary.iterdir()]


@dataclass
class Work:
    """A command whose outputs have fixed names in the folder of a trial."""

    name: str
    words: list
    folder: str | None = None  # an output folder; its files appear together
    first: str | None = None  # an output that may remain when a later one fails, if the error says so
    stdin: Path | None = None
    old: dict = field(default_factory=dict)  # content of existing outputs, which --force replaces
    reference: dict = field(default_factory=dict)  # digest by name, from an undisturbed run
    seconds: float = 0.0
    total: int = 0  # bytes of all outputs
    largest: int = 0  # bytes of the largest output

    def prepare(self, place):
        """Writes the old outputs, and returns the files that exist before the run."""
        for name, content in self.old.items():
            path = place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return visible(place)

    def start(self, program, place, extra=(), **how):
        stdin = open(self.stdin, "rb") if self.stdin else None
        try:
            return start(program, [*self.words, *extra], place, stdin=stdin, **how)
        finally:
            if stdin:
                stdin.close()

    def run(self, program, place, extra=(), **how):
        began = time.monotonic()
        return finish(self.start(program, place, extra, **how), began)

    def learn(self, program, folder, times=2):
        """Runs it undisturbed to record its output and time; two runs must be equal."""
        for number in range(times):
            place = fresh(folder / f"{self.name.replace(' ', '-')}-{number}")
            self.prepare(place)
            done = self.run(program, place)
            must_succeed(done, self.name)
            if leftovers(place):
                raise Failed(f"{self.name}: left {leftovers(place)} after success")
            found = visible(place)
            if number and found != self.reference:
                raise Failed(f"{self.name}: two undisturbed runs differ")
            sizes = [(place / name).stat().st_size for name in found]
            self.reference, self.seconds, self.total, self.largest = found, done.seconds, sum(sizes), max(sizes)
            shutil.rmtree(place.parent)
        return self

    def must_be_whole(self, place, before):
        """Checks that every output is right or unchanged, and that a new output folder has all of its files or none.
        Returns the names of the new outputs."""
        now = visible(place)
        for name, found in now.items():
            if found not in (self.reference.get(name), before.get(name)):
                raise Failed(f"{name} is neither the old file nor the right output")
        for name in before:
            if name not in now:
                raise Failed(f"{name} was there before, and is gone")
        new = [name for name, found in now.items() if found == self.reference.get(name) != before.get(name)]
        if self.folder and not self.old:
            part = [name for name in new if name.startswith(self.folder)]
            wanted = [name for name in self.reference if name.startswith(self.folder)]
            if 0 < len(part) < len(wanted):
                raise Failed(f"{self.folder} has {len(part)} of {len(wanted)} outputs")
        return new

    def must_be_right(self, place):
        """Checks that all outputs exist and are right, and that there is nothing else."""
        if visible(place) != self.reference:
            raise Failed(f"{self.name}: exit 0, but the output is not the right one")
        if leftovers(place):
            raise Failed(f"{self.name}: exit 0, but {leftovers(place)} is left behind")

    def must_be_untouched(self, place, before):
        """Checks that an ordinary failure changed nothing."""
        now = visible(place)
        if now != before:
            raise Failed(f"{self.name}: failed, but changed {sorted(set(now.items()) ^ set(before.items()))[:3]}")
        if leftovers(place):
            raise Failed(f"{self.name}: failed, and left {leftovers(place)} behind")


def fresh(parent):
    """Makes an empty folder for a trial: `parent/out` to work in, `parent/tmp` for temporary files."""
    shutil.rmtree(parent, ignore_errors=True)
    (parent / "tmp").mkdir(parents=True)
    (parent / "out").mkdir()
    return parent / "out"


def must_end_well(work, place, before, done):
    """The oracle of most faults: success with the right output, or one error and no changes."""
    if done.code == 0:
        work.must_be_right(place)
        return "right"
    must_say_one_error(done)
    if work.first and visible(place) != before:
        must_name_what_stays(work, place, before, done)
    else:
        work.must_be_untouched(place, before)
    return "refused"


def must_name_what_stays(work, place, before, done):
    """Checks that a report that fails after the labels were written leaves these, and that the error says so."""
    if work.must_be_whole(place, before) != [work.first] or leftovers(place):
        raise Failed(f"{work.name}: failed, and left {sorted(visible(place))[:3]} {leftovers(place)} behind")
    if work.first not in done.err:
        raise Failed(f"{work.name}: failed, left {work.first} in place, and does not say so: {done.err[:300]}")


@dataclass
class Kind:
    """A kind of trial. `trial(lab, rng, place, number)` returns a word for how it ended, or raises Failed or NotRun."""

    name: str
    trial: object
    full: int
    quick: int
    counts: str | None = None  # only trials that end with this word count


def write_results(path, record):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")


def machine():
    """Returns the processor and the system, without the host name."""
    model = platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"{os.cpu_count()} cores, {model}, {platform.system()}"


def version(program):
    return run(program, ["--version"], Path.cwd(), temporary=tempfile.gettempdir()).out.strip().splitlines()[0]


def generator(seed, name, number):
    """Returns a separate random number generator for each trial, so that a trial can be repeated alone."""
    return random.Random(f"{seed}/{name}/{number}")
