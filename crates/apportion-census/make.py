#!/usr/bin/env python3
"""Makes the tables in data/ from the files that PROVENANCE.md names. The same files give the same bytes.

    python3 -m venv venv && venv/bin/pip install pandas pyarrow
    venv/bin/python crates/apportion-census/make.py

The source files are looked for beside the checkout, in ../shared/data; --source names another folder. A file whose
SHA-256 is not the one below is refused: look at what has changed first, then bring this script and PROVENANCE.md up to
date together.
"""
import argparse
import hashlib
import pathlib

import pandas as pd

HERE = pathlib.Path(__file__).resolve().parent
COUNTIES = "nc_county_race_2010.csv"
SURNAMES = "census_surnames_2020.parquet"
OUTLINES = "nc_counties.topojson"
SHA256 = {
    COUNTIES: "b471becf1550c422d9b587360b08d2b1e55adc1f2ba94814f1a791edc661a723",
    SURNAMES: "459d41947e7aaa419bb1821e62e87fece10e8636ed5af3d2adca55d66d1c4d1d",
    OUTLINES: "f3a1794903190175b912ea6302276ffbc3b09d8b16e937d3c1a70a30f5ecbc2f",
}

CLASSES = ["white", "black", "hispanic", "asian", "aian", "other"]
COUNTY_COLUMNS = ["n_" + name for name in CLASSES]
# In the order of the classes. "asian" is with Pacific Islanders, "other" is two or more races.
SHARE_COLUMNS = ["pctwhite", "pctblack", "pcthispanic", "pctapi", "pctaian", "pct2prace"]

COVERED = 0.9  # of the people on the list; the names beyond are one row,
MOST_NAMES = 20_000  # as are those beyond this many.
ALL_OTHER_NAMES = "ALL OTHER NAMES"


def checked(folder, name):
    """The path of a source file that is the one we know."""
    path = folder / name
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != SHA256[name]:
        raise SystemExit(f"{path} is not the file that PROVENANCE.md names: its SHA-256 is {found}")
    return path


def counties(path):
    """Rows of (FIPS code, name, people of each class), in the order of the codes."""
    table = pd.read_csv(path, dtype={"county_fips": str}).sort_values("county_fips")
    return list(zip(table.county_fips, table.county, table[COUNTY_COLUMNS].values.tolist()))


def whole_people(count, shares):
    """`count` people by shares (whole numbers, to any total), by largest remainders; the first of equal ones."""
    total = sum(shares)
    people = [count * share // total for share in shares]
    order = sorted(range(len(shares)), key=lambda i: -(count * shares[i] % total))
    for i in order[: count - sum(people)]:
        people[i] += 1
    return people


def surnames(path):
    """Rows of (name, people of each class), the most common first, and the row of all other names."""
    table = pd.read_parquet(path).sort_values(["count", "name"], ascending=[False, True])
    # The list has hundredths of a percent, which single precision blurs.
    shares = (table[SHARE_COLUMNS].astype(float) * 100).round().astype(int).values.tolist()
    counts = table["count"].tolist()
    rows = [(name, whole_people(count, share)) for name, count, share in zip(table.name, counts, shares)]

    covered = 0
    kept = 0
    while kept < MOST_NAMES and covered < COVERED * sum(counts):
        covered += counts[kept]
        kept += 1
    rest = [sum(column) for column in zip(*(people for _, people in rows[kept:]))]
    return rows[:kept] + [(ALL_OTHER_NAMES, rest)]


def write(name, header, rows):
    """Plain CSV: no name needs a quote."""
    lines = [header] + [[*names, *people] for *names, people in rows]
    text = "".join(",".join(map(str, line)) + "\n" for line in lines)
    (HERE / "data" / name).write_text(text, encoding="utf-8", newline="\n")
    print(f"{name}: {len(rows)} rows, {len(text):,} bytes, {sum(sum(row[-1]) for row in rows):,} people")
    print(f"  sha256 {hashlib.sha256(text.encode()).hexdigest()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--source", type=pathlib.Path, default=HERE.parents[2] / "shared" / "data")
    folder = parser.parse_args().source
    write("nc_counties_2010.csv", ["fips", "county", *CLASSES], counties(checked(folder, COUNTIES)))
    write("surnames_2020.csv", ["name", *CLASSES], surnames(checked(folder, SURNAMES)))
    (HERE / "data" / OUTLINES).write_bytes(checked(folder, OUTLINES).read_bytes())


if __name__ == "__main__":
    main()
