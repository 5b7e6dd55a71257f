"""The sources of the built-in tables, and the formulas of the scores, independent of the program.

The sources are Parquet files in ../shared/data, beside the checkout. Let r be a class, s a surname and g a place:

    score_r ∝ P(s | r) · N_gr                                  N: adults by block group or ZIP code area
    P(s | r) = (1 - u_r) · people of class r with name s / people of class r on the Census list
    P(s | r) ∝ u_r                                             a name on no list; u_r is P(unlisted | r) of 2010
    P(s | r) ∝ P'(r | s) / π_r                                 a name on the voter list only, with smoothed shares P'
"""

import os
import sys
from pathlib import Path

import numpy
import pyarrow.parquet

SOURCE = Path(__file__).resolve().parents[4].parent / "shared" / "data"
CLASSES = ["white", "black", "hispanic", "asian", "aian", "other"]
SHARES = ["pctwhite", "pctblack", "pcthispanic", "pctapi", "pctaian", "pct2prace"]
VOTER_SURNAMES, VOTER_FIRST_NAMES = "voter_surnames.parquet", "voter_first_names.parquet"
ALL_OTHERS = ["ALL OTHER NAMES", "ALL OTHER FIRST NAMES"]
# Shares of the classes among the voters of the list: white, black, hispanic, asian, other (with aian).
VOTER_SHARES = numpy.array([0.656992573, 0.227499497, 0.082567264, 0.017141924, 0.015798742])
VOTER_CLASS = [0, 1, 2, 3, 4, 4]
SMOOTHING = 5


def require_sources():
    """Ends the program if there are no sources: successfully, or in CI with an error."""
    if not SOURCE.exists():
        print(f"skipped: the sources of the tables are not beside the checkout, in {SOURCE}")
        sys.exit(1 if "CI" in os.environ else 0)


def read(name, key, columns):
    """Returns the keys of a Parquet file as text, and some columns as numbers, row by row."""
    table = pyarrow.parquet.read_table(SOURCE / name)
    return table[key].to_numpy(zero_copy_only=False).astype(str), numbers(table, columns)


def numbers(table, columns):
    return numpy.stack([table[column].to_numpy().astype(float) for column in columns], axis=1)


def voter_names(file=VOTER_SURNAMES):
    """Returns all names of a voter list."""
    keys, _ = read(file, "name", ["p_white"])
    return keys[~numpy.isin(keys, ALL_OTHERS)]


def names(file):
    """Returns the names of a Census list, and the people of each class by name."""
    keys, values = read(file, "name", ["count", *SHARES])
    return keys, values[:, :1] * values[:, 1:] / values[:, 1:].sum(axis=1, keepdims=True)


def unlisted():
    """Returns P(unlisted | class) of the Census of 2010."""
    keys, people = names("census_surnames_2010.parquet")
    return people[keys == ALL_OTHERS[0]].sum(axis=0) / people.sum(axis=0)


def adults(file, key, prefixes):
    """Returns the places whose codes begin with one of some prefixes, and their adults by class."""
    codes, people = read(file, key, ["n_" + name for name in CLASSES])
    here = numpy.isin(codes.astype(f"U{len(prefixes[0])}"), prefixes)
    return codes[here], people[here]


class Surnames:
    """The surnames of 2020: the Census list, the voter list and unlisted names."""

    def __init__(self):
        self.names, people = names("census_surnames_2020.parquet")
        self.counts = people.sum(axis=1)
        self.shares = people / self.counts[:, None]
        self.unlisted = unlisted()
        # P(name | class); the rest is P(unlisted | class).
        self.given_class = people / people.sum(axis=0) * (1 - self.unlisted)
        # P(class) among all people, listed or not.
        self.margin = people.sum(axis=0) / (1 - self.unlisted)
        self.margin /= self.margin.sum()


class VoterList:
    """A voter list, with the smallest sample of voters that is consistent with the shares of each name."""

    def __init__(self, names, file=VOTER_SURNAMES):
        """Reads the names that are among some names. All others are left out, because finding samples takes time."""
        columns = ["p_white", "p_black", "p_hispanic", "p_asian", "p_other"]
        keys, shares = read(file, "name", columns)
        kept = numpy.isin(keys, names)
        self.names, self.shares = keys[kept], shares[kept]
        self.samples = numpy.full(len(self.names), 1000.0)
        left = numpy.arange(len(self.names))
        for sample in range(1, 1000):
            people = self.shares[left] * sample
            whole = (abs(people - numpy.rint(people)) < 1e-4).all(axis=1)
            self.samples[left[whole]] = sample
            left = left[~whole]

    def likelihoods(self, smoothing=SMOOTHING, least=1):
        """Returns numbers proportional to P(name | class). With `least`, a sample has at least this many voters."""
        samples = (self.samples * numpy.ceil(least / self.samples))[:, None]
        smoothed = (samples * self.shares + smoothing * VOTER_SHARES) / (samples + smoothing)
        return (smoothed / VOTER_SHARES)[:, VOTER_CLASS]


def first_names():
    """Returns the first names of 2020 and P(name | class). The row for all other names is the last."""
    keys, people = names("census_first_names_2020.parquet")
    order = numpy.argsort(numpy.isin(keys, ALL_OTHERS), kind="stable")
    return keys[order], (people / people.sum(axis=0))[order]


def normalized(products):
    return products / products.sum(axis=-1, keepdims=True)
