"""Draws people from the adults of North Carolina: a place and class, and a surname and first name
given the class. Given the class, names and place are independent.
"""

import numpy
import pyarrow
import pyarrow.parquet

from tables import CLASSES

# Without vowels, so that they are on no list.
CONSONANTS = numpy.array(list("BCDFGHJKLMNPQRSTVWXZ"))


class People:
    """People with their classes, places, surnames and first names, as row numbers of tables."""

    def __init__(self, chance, count, places):
        """Draws the place and class of each person in proportion to the adults by place and class."""
        cells = draw(chance, places.ravel(), count)
        self.place, self.race = numpy.divmod(cells, len(CLASSES))

    def draw_given_class(self, chance, given_class, race=None):
        """Draws a row of a table for each person from P(row | class), or -1 with the remaining probability."""
        race = self.race if race is None else race
        rows = numpy.full(len(race), -1)
        for index in range(len(CLASSES)):
            own = numpy.flatnonzero(race == index)
            rest = max(0, round(1 - given_class[:, index].sum(), 9))
            found = draw(chance, numpy.append(given_class[:, index], rest), len(own))
            rows[own] = numpy.where(found == len(given_class), -1, found)
        return rows


def draw(chance, weights, count):
    """Draws row numbers in proportion to weights."""
    sums = numpy.cumsum(weights)
    rows = numpy.searchsorted(sums, chance.random(count) * sums[-1], side="right")
    return numpy.minimum(rows, len(weights) - 1)


def made_up_names(chance, count, lists):
    """Returns names that are on none of some lists."""
    letters = CONSONANTS[chance.integers(len(CONSONANTS), size=(count, 9))]
    made_up = numpy.unique(["Q" + "".join(row) + "Q" for row in letters])
    return made_up[~numpy.isin(made_up, numpy.concatenate(lists))]


def write(path, columns):
    """Writes people to a Parquet file, each column as texts or as (texts, row numbers)."""
    arrays = {"id": pyarrow.array(numpy.arange(1, 1 + len(next(iter(columns.values()))[1])))}
    for name, (texts, rows) in columns.items():
        arrays[name] = pyarrow.DictionaryArray.from_arrays(pyarrow.array(rows, pyarrow.int32()), pyarrow.array(texts))
    pyarrow.parquet.write_table(pyarrow.table(arrays), path)


def read_scores(path, match=()):
    """Returns the scores of a file that the program wrote, row by row, and columns with match information."""
    names = ["p_" + name for name in CLASSES]
    table = pyarrow.parquet.read_table(path, columns=["id", *names, *match])
    assert (table["id"].to_numpy() == numpy.arange(1, 1 + len(table))).all(), "every row, in order"
    scores = numpy.stack([table[name].to_numpy() for name in names], axis=1)
    assert abs(scores.sum(axis=1) - 1).max() < 1e-9 and scores.min() >= 0, "scores are probabilities"
    return scores, [table[name].to_numpy(zero_copy_only=False).astype(str) for name in match]
