"""The same labels everywhere: threads, memory, batches, file formats, row order, builds, and the Python package.

    python trust/same.py PROGRAM [PROGRAM...] [--update] [--results FILE]

Labels one simulated file with every family of rules in many ways, and compares a SHA-256 of the labels, by identifier, with
the one stored in trust/results/hashes.json. A changed hash is a change of labels: it needs a line in CHANGELOG.md and --update.
SIMD levels are compared by crates/apportion/tests/same_labels.rs, which calls the library at each level.
"""

import argparse
import csv
import datetime
import hashlib
import json
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from support import Failed, must_succeed, run, write_results

KEPT = Path(__file__).parent / "results" / "hashes.json"
ROWS = 3_000
CLASSES = ["white", "black", "hispanic", "asian", "aian", "other"]

# The options of a family for the program, and for the Python package if it has the same options.
FAMILIES = {
    "argmax": (["--rule", "argmax"], {"rule": "argmax"}),
    "threshold": (["--rule", "threshold", "--at", "0.6"], {"rule": "threshold", "at": 0.6}),
    "thompson": (["--rule", "thompson", "--seed", "7"], {"rule": "thompson", "seed": 7}),
    "thompson, 3 draws": (["--rule", "thompson", "--draws", "3"], None),
    "top-2": (["--rule", "top-k", "--k", "2"], {"rule": "top-k", "k": 2}),
    "match": ([], {}),
    "match, another seed": (["--seed", "99"], {"seed": 99}),
    "match by county": (["--by", "county"], {"by": "county"}),
    "match nested": (["--nested", "region,county"], {"nested": ["region", "county"]}),
    "match to uniform": (["--reference", "uniform"], {"reference": "uniform"}),
    "match, coverage": (["--coverage", "0.7"], {"coverage": 0.7}),
    "match, bounds": (["--at-least", "asian=200", "--at-most", "white=50%"], None),
    "match, counts": (["--count", "people"], None),
    "match from a sample": (["--from-sample", "700"], {"from_sample": 700}),
    "balance": (["--rule", "balance", "--gamma", "0.9"], {"rule": "balance", "gamma": 0.9}),
    "balance, kl": (
        ["--rule", "balance", "--gamma", "0.95", "--penalty", "kl"],
        {"rule": "balance", "gamma": 0.95, "penalty": "kl"},
    ),
    "balance, l2, by county": (
        ["--rule", "balance", "--gamma", "0.9", "--penalty", "l2", "--by", "county"],
        {"rule": "balance", "gamma": 0.9, "penalty": "l2", "by": "county"},
    ),
    "learned": (
        ["--rule", "learned", "--learner", "logistic", "--train-rows", "500"],
        {"rule": "learned", "learner": "logistic", "train_rows": 500},
    ),
}

# How a run differs from the first: the file extension, and further options.
WAYS = {
    "csv": ("csv", []),
    "1 thread": ("csv", ["--threads", "1"]),
    "2 threads": ("parquet", ["--threads", "2"]),
    "5 threads": ("parquet", ["--threads", "5"]),
    "little memory": ("parquet", ["--memory", "1M"]),
    "batches of 100": ("parquet", ["--batch-rows", "100"]),
    "batches of 777": ("csv", ["--batch-rows", "777"]),
    "tsv": ("tsv", []),
    "gz": ("csv.gz", []),
    "zst": ("csv.zst", []),
    "parquet": ("parquet", []),
    "arrow": ("arrow", []),
    "other order": ("reversed.parquet", []),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", type=Path, nargs="+", help="programs to compare, such as a debug and a release build")
    parser.add_argument("--update", action="store_true", help="keep the hashes as they are now")
    parser.add_argument("--results", type=Path, help="where the number of runs goes")
    options = parser.parse_args()
    programs = [program.resolve() for program in options.programs]
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="apportion-same-") as name:
        folder = Path(name)
        base = make_files(programs[0], folder)
        found = {"input": digest_of_input(folder)}
        compared, failures = 0, []
        with ThreadPoolExecutor(2) as pool:
            hashes = dict(pool.map(lambda task: hash_of_run(folder, *task), tasks(programs)))
        for family, (_, python) in FAMILIES.items():
            ways = {way: value for (of, way), value in hashes.items() if of == family}
            if python is not None and (package := python_package()):
                ways["Python package"] = hash_of_package(package, base, python)
            found[family] = next(iter(ways.values()))
            compared += len(ways)
            failures += [f"{family}: {way} has other labels" for way, value in ways.items() if value != found[family]]
    failures += [] if options.update else changed(found)
    if options.update and not failures:
        KEPT.write_text(json.dumps(found, indent=1) + "\n")
    if options.results:
        record = {"date": str(datetime.date.today()), "families": len(FAMILIES), "ways": len(WAYS), "builds": len(programs)}
        record |= {"python": python_package() is not None, "trials": compared, "failures": len(failures)}
        write_results(options.results, record)
    show(compared, failures, time.monotonic() - began)


def tasks(programs):
    """Returns all runs: family, name of the variant, program, file extension, arguments."""
    for family, (words, _) in FAMILIES.items():
        for program in programs:
            for way, (ending, extra) in WAYS.items():
                yield family, f"{program.parent.name}, {way}", program, ending, words + extra


def make_files(program, folder):
    """Writes one file in all formats: simulated voters, half with scores rounded to sixteenths, so that many tie."""
    source = folder / "simulated.csv"
    words = ["simulate", "voters", "--rows", str(ROWS), "--seed", "11", "-o", source, "-q"]
    must_succeed(run(program, words, folder, temporary=folder), "simulate")
    with open(source, newline="") as file:
        rows = list(csv.DictReader(file))
    scores = [[float(row[f"p_{name}"]) for name in CLASSES] for row in rows]
    for number in range(0, len(rows), 2):
        parts = [int(score * 16) for score in scores[number]]
        parts[number % len(CLASSES)] += 16 - sum(parts)
        scores[number] = [part / 16 for part in parts]
    columns = {name: [row[name] for row in rows] for name in ("id", "county")}
    columns["region"] = ["east" if county < "H" else "west" for county in columns["county"]]
    columns["people"] = [1 + int(number) % 4 for number in columns["id"]]
    columns |= {f"p_{name}": [row[place] for row in scores] for place, name in enumerate(CLASSES)}
    table = pa.table(columns)
    write(table, folder)
    return table


def write(table, folder):
    base = folder / "voters"
    for ending, delimiter, codec in (("csv", ",", None), ("tsv", "\t", None), ("csv.gz", ",", "gzip"), ("csv.zst", ",", "zstd")):
        options = pyarrow.csv.WriteOptions(delimiter=delimiter)
        path = f"{base}.{ending}"
        with pa.OSFile(path, "wb") if codec is None else pa.CompressedOutputStream(path, codec) as file:
            pyarrow.csv.write_csv(table, file, options)
    pyarrow.parquet.write_table(table, f"{base}.parquet", row_group_size=1_000)
    pyarrow.feather.write_feather(table, f"{base}.arrow", compression="zstd", chunksize=900)
    backwards = table.take(list(range(table.num_rows - 1, -1, -1)))
    pyarrow.parquet.write_table(backwards, f"{base}.reversed.parquet")


def digest_of_input(folder):
    return hashlib.sha256((folder / "voters.csv").read_bytes()).hexdigest()


def hash_of_run(folder, family, way, program, ending, words):
    out = folder / f"{family}, {way}.csv"
    command = ["label", folder / f"voters.{ending}", "-o", out, "--id", "id", "--only-label", "-q", *words]
    must_succeed(run(program, command, folder, temporary=folder), " ".join(map(str, command)))
    with open(out, newline="") as file:
        rows = list(csv.DictReader(file))
    names = [name for name in rows[0] if name != "id" and not name.endswith("_score")]
    out.unlink()
    return (family, way), hash_of_labels([(row["id"], *(row[name] for name in names)) for row in rows])


def hash_of_labels(rows):
    """Returns a hash of the labels by identifier, independent of the order of the rows."""
    if len(rows) != ROWS:
        raise Failed(f"{len(rows)} of {ROWS} rows")
    lines = [",".join(row) for row in sorted(rows, key=lambda row: int(row[0]))]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def python_package():
    try:
        import apportion
    except ImportError:
        return None
    return apportion


def hash_of_package(package, table, options):
    frame = table.to_pandas()
    labels = package.label(frame, id="id", **options)
    if hasattr(labels, "columns"):
        labels = labels["label"]
    texts = ["Uncoded" if label is None or label != label else str(label) for label in labels]
    return hash_of_labels(list(zip(frame["id"], texts)))


def changed(found):
    if not KEPT.exists():
        return [f"{KEPT.name} does not exist: make it with --update"]
    kept = json.loads(KEPT.read_text())
    return [f"{name}: other labels than the kept ones" for name in kept | found if kept.get(name) != found.get(name)]


def show(compared, failures, seconds):
    package = "with" if python_package() else "without"
    print(f"same labels: {len(FAMILIES)} families of rules, {compared} runs, {package} the Python package, {seconds:.0f} seconds")
    for failure in failures:
        print(f"FAILED {failure}", file=sys.stderr)
    if failures:
        sys.exit("labels changed; if that is meant, say so in CHANGELOG.md and run trust/same.py with --update")


if __name__ == "__main__":
    main()
