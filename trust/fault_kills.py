"""Trials that end the program from outside: kill -9, and the signals that it handles."""

import shutil
import signal
import time

from support import Failed, Kind, NotRun, finish, leftovers, must_say_one_error, run, unfinished, visible

KILLED = [
    "label csv",
    "label parquet",
    "label arrow",
    "label folder",
    "label force",
    "label stdin",
    "predict bisg",
    "predict fbisg",
    "fit",
    "apply",
    "report",
]
SIGNALED = ["label csv", "label parquet", "label folder", "label force", "predict fbisg", "report", "figures"]
STRACE = ["strace", "-f", "-o", "/dev/null"]  # with --seccomp-bpf some signals are lost
PUBLISHING = ["rename,renameat,renameat2,link,linkat", "fsync,fdatasync", "write", "openat", "unlink,unlinkat"]


def judge_killed(lab, work, place, before, code):
    """Checks after kill -9: outputs are complete or unchanged, at most one unfinished entry is left, and the next run
    to the same path removes it and succeeds."""
    new = work.must_be_whole(place, before)
    for folder in (place, place.parent / "tmp"):
        if len(left := unfinished(folder)) > 1:
            raise Failed(f"{work.name}: {len(left)} unfinished entries after kill -9: {left[:3]}")
    for name in new:  # so that the next run has the same arguments, which a report prints
        (place / name).unlink()
    again = work.run(lab.program, place)
    if again.code != 0:
        raise Failed(f"{work.name}: the run after kill -9 failed with {again.code}: {again.err[:300]}")
    if leftovers(place):
        raise Failed(f"{work.name}: the next run left {leftovers(place)} of the killed one behind")
    work.must_be_right(place)
    return "killed" if code == -signal.SIGKILL else "ended before"


def kill(name):
    def trial(lab, rng, place, number):
        work = lab.works[name]
        before = work.prepare(place)
        began = time.monotonic()
        child = work.start(lab.program, place)
        time.sleep(rng.random() * work.seconds)
        child.kill()
        done = finish(child, began)
        return judge_killed(lab, work, place, before, done.code)

    return trial


def kill_at_call(lab, rng, place, number):
    """Kill -9 exactly at the n-th call that writes, syncs or renames."""
    need_strace()
    work = lab.works[rng.choice(["label csv", "label folder", "label force", "label folder over old", "fit", "figures"])]
    calls = PUBLISHING[number % len(PUBLISHING)]
    when = 1 + int((30 if work.folder else 4) * rng.random() ** 2)
    before = work.prepare(place)
    inject = [*STRACE, "-e", f"trace={calls}", "-e", f"inject={calls}:signal=KILL:when={when}"]
    done = work.run(lab.program, place, wrap=inject)
    killed = done.code in (-signal.SIGKILL, 128 + signal.SIGKILL)
    return judge_killed(lab, work, place, before, -signal.SIGKILL if killed else done.code)


def live_neighbor(lab, rng, place, number):
    """A run to another output in the same folder does not touch the unfinished file of a live run."""
    work = lab.works[rng.choice(["label csv", "label parquet", "predict fbisg"])]
    began = time.monotonic()
    child = work.start(lab.program, place)
    while child.poll() is None and not unfinished(place):
        time.sleep(0.001)
    time.sleep(0.01)  # it locks the file right after creating it
    child.send_signal(signal.SIGSTOP)
    mine = unfinished(place)
    try:
        other = ["label", lab.files / "voters.csv", "-o", "other.csv", "-q"]
        done = run(lab.program, other, place)
        gone = set(mine) - set(unfinished(place)) if child.poll() is None else set()
    finally:
        child.send_signal(signal.SIGCONT)
    ended = finish(child, began)
    if done.code != 0 or ended.code != 0:
        raise Failed(f"two runs in one folder: exits {done.code} and {ended.code}: {done.err[:200]}{ended.err[:200]}")
    if gone:
        raise Failed(f"another run removed {gone} of a live run")
    (place / "other.csv").unlink()
    work.must_be_right(place)
    return "side by side" if mine else "ended before"


def signaled(name):
    def trial(lab, rng, place, number):
        work = lab.works[name]
        number = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP][number % 3]
        before = work.prepare(place)
        began = time.monotonic()
        child = work.start(lab.program, place)
        time.sleep(rng.random() * work.seconds)
        child.send_signal(number)
        return judge_signaled(work, place, before, finish(child, began), number)

    return trial


def signaled_at_call(lab, rng, place, number):
    """TERM while a file is created, written or renamed. A delay of 20 ms lets the program react during the call."""
    need_strace()
    work = lab.works[["label folder", "label csv", "figures"][number % 3]]
    calls = ["openat", PUBLISHING[0], "write", "mkdir,mkdirat"][number // 3 % 4]
    when = 1 + int((30 if work.folder else 6) * rng.random())
    before = work.prepare(place)
    fault = f"inject={calls}:signal=TERM:delay_exit=20000:when={when}"
    done = work.run(lab.program, place, wrap=[*STRACE, "-e", f"trace={calls}", "-e", fault])
    return judge_signaled(work, place, before, done, signal.SIGTERM)


def judge_signaled(work, place, before, done, number):
    """Checks that nothing is left behind, the exit code is 130 or 128 + n, and the message is true."""
    if done.code == 0:
        work.must_be_right(place)
        return "ended before"
    if leftovers(place):
        raise Failed(f"{work.name}: signal {number.name}: left {leftovers(place)} behind")
    new = work.must_be_whole(place, before)
    if done.code == -number and not done.err:
        if new:
            raise Failed(f"{work.name}: died of {number.name} after it had written {new[:3]}, without a word")
        return "before it began"  # the handler was not installed yet
    if done.code not in (130, 128 + number):
        raise Failed(f"{work.name}: signal {number.name}: exit {done.code}: {done.err[:300]}")
    if "nothing was written" in done.err and new:
        raise Failed(f"{work.name}: says that nothing was written, but wrote {new[:3]}")
    if "interrupted" not in done.err:
        raise Failed(f"{work.name}: exit {done.code} without a message: {done.err[:300]!r}")
    return "interrupted"


def broken_pipe(lab, rng, place, number):
    """If the reader of standard output closes it, the run ends without leaving anything behind."""
    before = visible(place)
    words = ["label", lab.files / "voters.csv", "-o", "-", "-q"]
    script = f'"$0" "$@" | head -c {rng.randrange(1, 300_000)} >/dev/null; exit ${{PIPESTATUS[0]}}'
    done = run("bash", ["-c", script, lab.program, *words], place)
    if done.code not in (0, 1, 141) or done.errors()[1:]:
        raise Failed(f"broken pipe: exit {done.code}: {done.err[:300]}")
    if done.code == 1:
        must_say_one_error(done)
    if visible(place) != before or leftovers(place):
        raise Failed("broken pipe: something was left behind")
    return "ended"


def need_strace():
    if shutil.which("strace") is None:
        raise NotRun("strace is not installed")


KINDS = [
    *[Kind(f"kill -9: {name}", kill(name), 185, 9, counts="killed") for name in KILLED],
    Kind("kill -9 at a call", kill_at_call, 300, 8),
    Kind("kill -9: live neighbor", live_neighbor, 40, 2),
    *[Kind(f"TERM, INT, HUP: {name}", signaled(name), 90, 4) for name in SIGNALED],
    Kind("TERM at a call", signaled_at_call, 120, 6),
    Kind("broken pipe", broken_pipe, 30, 2),
]
