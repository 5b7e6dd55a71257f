"""Measures the scores of `apportion predict` on people whose classes are known, because they were drawn.

    python run.py PATH/TO/apportion [--people N] [--results FILE.json]

People are drawn from the sources of the built-in tables (tables.py, people.py), and the program scores them by county,
tract, block group and ZIP code. Every score must equal the formula, and the mean score of each class must be within 2% or
three standard errors of the share of the class. People with names that only the voter list has miss the latter for some
classes: this is printed and recorded, and fails only if the error grows.

Also measured: log loss and accuracy, with and without first names; people whose surnames are not on the Census list; the
voter list (voter_list.py); fBISG and the other models (models.py). The results are printed, and written to FILE.json, from which page.py makes docs/scores.md.
"""

import argparse
import datetime
import functools
import json
import subprocess
import tempfile
from pathlib import Path

import numpy
import pyarrow.compute
import pyarrow.parquet

import models
import voter_list
from people import People, made_up_names, read_scores, write
from tables import (
    CLASSES, VOTER_FIRST_NAMES, Surnames, VoterList, adults, first_names, normalized, numbers, require_sources,
    voter_names,
)

# North Carolina: block groups by state, ZIP code areas by their first three digits.
STATE = ["37"]
ZIP_PREFIXES = [str(prefix) for prefix in range(270, 290)]
# Levels of places: the column, the option of the program, and the number of digits of the block group.
LEVELS = {
    "county": ("county", "--county", 5),
    "tract": ("tract", "--tract", 11),
    "block group": ("block_group", "--block-group", 12),
}
ALLOWED_ERROR = 0.02
# People whose names are on the voter list only miss this criterion: the names of the list are more often hispanic than
# unlisted people of the Census are. The known error was up to 4.2% with 2,000,000 people; a larger one fails. This bound was
# set after that measurement, so it finds changes, and does not show that the scores are right.
KNOWN_VOTER_LIST_ERROR = 0.05
# Smaller scores count as this in the log loss. If a name or place excludes the class of a person, the score is 0.
SMALLEST_SCORE = 1e-6
SMALL_VOTER_LIST = 3000


class Program:
    """The program and a folder for its files."""

    def __init__(self, path, folder):
        self.path, self.folder = str(Path(path).resolve()), Path(folder)

    def run(self, *arguments):
        command = [self.path, *map(str, arguments)]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"
        return done.stdout

    def predict(self, people, *options, match=()):
        """Returns the scores of a file of people, and columns with match information."""
        self.run("predict", people, "-o", "scores.parquet", "--force", "-q", "--no-provenance", *options)
        return read_scores(self.folder / "scores.parquet", match)

    @functools.cache
    def export(self, table):
        """Returns the codes and the people by class of a built-in table of places."""
        self.run("tables", "export", table, "-o", "table.parquet", "--force")
        exported = pyarrow.parquet.read_table(self.folder / "table.parquet")
        codes = exported.column(0).to_numpy(zero_copy_only=False).astype(str)
        return codes, numbers(exported, ["n_" + name for name in CLASSES])


class World:
    """The sources, and people who were drawn from them."""

    def __init__(self, program, count):
        self.program, self.count, self.chance = program, count, numpy.random.default_rng(20200401)
        self.surnames = Surnames()
        self.blocks, self.block_adults = adults("us_block_group_2020_adults.parquet", "block_group", STATE)
        self.zctas, self.zcta_adults = adults("us_zcta_2020_adults.parquet", "zcta", ZIP_PREFIXES)
        self.first_names, self.first_given_class = first_names()
        all_voters = voter_names()
        self.made_up = made_up_names(self.chance, 1000, [self.surnames.names, all_voters, self.first_names])
        # Names of one or two letters can be initials, and are not looked up.
        is_unlisted = ~numpy.isin(all_voters, self.surnames.names) & (numpy.char.str_len(all_voters) > 2)
        unlisted = all_voters[is_unlisted]
        if count < 1_000_000:
            unlisted = self.chance.choice(unlisted, SMALL_VOTER_LIST, replace=False)
        self.voters = VoterList(unlisted)
        self.by_block = self.draw(self.block_adults)
        self.by_zip = self.draw(self.zcta_adults)

    def draw(self, places):
        """Draws people with surnames and first names; -1 is an unlisted surname."""
        people = People(self.chance, self.count, places)
        people.surname = people.draw_given_class(self.chance, self.surnames.given_class)
        people.first_name = people.draw_given_class(self.chance, self.first_given_class)
        people.made_up = self.chance.integers(len(self.made_up), size=self.count)
        by_class = self.voters.likelihoods()
        people.voter_name = people.draw_given_class(self.chance, by_class / by_class.sum(axis=0))
        people.likelihoods = numpy.where(
            (people.surname < 0)[:, None], self.surnames.unlisted, self.surnames.given_class[people.surname])
        of_voter_list = by_class[people.voter_name]
        people.with_voter_list = numpy.where((people.surname < 0)[:, None], of_voter_list, people.likelihoods)
        return people

    def columns(self, people, names, first_name=None):
        """Returns the columns of people. `names` are the names of people with unlisted surnames."""
        unlisted, rows = self.made_up, people.made_up
        if names == "voter list":
            unlisted, rows = self.voters.names, people.voter_name
        listed = len(self.surnames.names)
        rows = numpy.where(people.surname < 0, listed + rows, people.surname)
        columns = {"surname": (numpy.concatenate([self.surnames.names, unlisted]), rows)}
        firsts = numpy.append(self.first_names[:-1], self.made_up[0])
        columns["first_name"] = (firsts, people.first_name if first_name is None else first_name)
        if people is self.by_zip:
            return {**columns, "zip": (self.zctas, people.place)}
        for name, _, digits in LEVELS.values():
            codes, own = numpy.unique(self.blocks.astype(f"U{digits}"), return_inverse=True)
            columns[name] = (codes, own[people.place])
        return columns

    def paths(self):
        """Yields each kind of place with the people who are scored by it, and the options of the program."""
        for level, (name, option, _) in LEVELS.items():
            yield level, self.by_block, [option, name]
        yield "ZIP code", self.by_zip, ["--zcta", "zip"]

    def places(self, level):
        """Returns the adults of the place of each person, by the program's own tables."""
        if level == "ZIP code":
            codes, people = self.program.export("zctas-2020")
            return people[numpy.searchsorted(codes, self.zctas)][self.by_zip.place]
        codes, people = self.program.export("block-groups-2020")
        digits = LEVELS[level][2]
        wide, rows = numpy.unique(codes.astype(f"U{digits}"), return_inverse=True)
        sums = numpy.stack([numpy.bincount(rows, column) for column in people.T], axis=1)
        return sums[numpy.searchsorted(wide, self.blocks.astype(f"U{digits}"))][self.by_block.place]


def measured(scores, race):
    """Returns how good scores are: mean scores and shares of the classes, log loss and accuracy."""
    count = len(race)
    own = scores[numpy.arange(count), race]
    errors = numpy.sqrt((scores * (1 - scores)).sum(axis=0)) / count
    return {
        "people": count,
        "share": (numpy.bincount(race, minlength=len(CLASSES)) / count).tolist(),
        "mean": scores.mean(axis=0).tolist(),
        "standard_error": errors.tolist(),
        "log_loss": float(-numpy.log(numpy.maximum(own, SMALLEST_SCORE)).mean()),
        "score_of_zero": int((own == 0).sum()),
        "accuracy": float((scores.argmax(axis=1) == race).mean()),
    }


def missed_classes(found):
    """Returns the classes whose mean score is off by more than 2% and three standard errors."""
    rows = zip(CLASSES, found["share"], found["mean"], found["standard_error"])
    return [name for name, share, mean, error in rows if abs(mean - share) > max(ALLOWED_ERROR * share, 3 * error)]


def check_means(found, what):
    """Fails if the mean score of a class is off by more than 2% and three standard errors."""
    missed = missed_classes(found)
    assert not missed, f"{what}: the mean scores of {', '.join(missed)} are off: {found}"


def check_known_error(found, what):
    """Fails if the mean score of a class is off by more than the known error of the voter list and sampling error."""
    for name, share, mean, error in zip(CLASSES, found["share"], found["mean"], found["standard_error"]):
        within = KNOWN_VOTER_LIST_ERROR * share + 3 * error
        assert abs(mean - share) <= within, f"{what}, {name}: mean score {mean:.5f}, share {share:.5f}"


def show(what, found):
    rows = zip(CLASSES, found["mean"], found["share"])
    off = ", ".join(f"{name} {mean / share - 1:+.1%}" for name, mean, share in rows)
    loss, accuracy, zeros = found["log_loss"], found["accuracy"], found["score_of_zero"]
    print(f"{what}: {off}; log loss {loss:.4f}, accuracy {accuracy:.4f}, scores of zero: {zeros}", flush=True)


def score_names_on_no_list(world):
    """Scores people by surname and place. Unlisted names are on no list."""
    results = []
    for level, people, options in world.paths():
        write(world.program.folder / "people.parquet", world.columns(people, "made up"))
        scores, [match] = world.program.predict("people.parquet", "--model", "bisg", *options, match=["surname_match"])
        assert ((match == "none") == (people.surname < 0)).all(), "only made-up names are on no list"
        expected = normalized(people.likelihoods * world.places(level))
        off = abs(scores - expected).max()
        assert off < 5e-5, f"{level}: a score differs from the formula by {off:.1e}"
        found = measured(scores, people.race)
        show(f"BISG by {level}", found)
        check_means(found, f"BISG by {level}")
        unlisted = people.surname < 0
        found_unlisted = measured(scores[unlisted], people.race[unlisted])
        check_means(found_unlisted, f"unlisted names by {level}")
        results.append({"level": level, "difference": float(off), **found, "unlisted": found_unlisted})
    return results


def score_names_on_the_voter_list(world):
    """Scores the same people; those with unlisted names get names of the voter list."""
    results = []
    for level, people, options in world.paths():
        write(world.program.folder / "people.parquet", world.columns(people, "voter list"))
        scores, [match] = world.program.predict("people.parquet", "--model", "bisg", *options, match=["surname_match"])
        expected = normalized(people.with_voter_list * world.places(level))
        # Some names of the voter list are a name of the Census list with a suffix, such as SMITHJR.
        compared = (match == "voter list") == (people.surname < 0)
        assert compared.mean() > 0.999, f"{level}: {(~compared).sum()} people are matched otherwise"
        exact = world.voters.samples[people.voter_name] < 1000
        off = abs(scores - expected)[compared & ((people.surname >= 0) | exact)].max()
        assert off < 5e-5, f"{level}: a score differs from the formula by {off:.1e}"
        # Shares without a small sample are stored in 4095 parts.
        assert abs(scores - expected)[compared].max() < 0.005
        found = measured(scores, people.race)
        show(f"BISG by {level}, unlisted names on the voter list", found)
        check_known_error(found, f"names on the voter list by {level}")
        if missed := missed_classes(found):
            print(f"  off by more than 2% and three standard errors: {', '.join(missed)}")
        unlisted = people.surname < 0
        results.append({
            "level": level, **found, "missed": missed_classes(found),
            "unlisted": measured(scores[unlisted], people.race[unlisted])})
    return results


def score_first_names(world):
    """Scores people by surname, first name and place; the same people by surname and place are in another table."""
    results = []
    for level, people, options in world.paths():
        write(world.program.folder / "people.parquet", world.columns(people, "made up"))
        scores, _ = world.program.predict("people.parquet", "--model", "bifsg", *options)
        first_names = world.first_given_class[people.first_name]
        expected = normalized(people.likelihoods * first_names * world.places(level))
        off = abs(scores - expected).max()
        assert off < 5e-5, f"{level}: a score differs from the formula by {off:.1e}"
        found = measured(scores, people.race)
        show(f"BIFSG by {level}", found)
        check_means(found, f"BIFSG by {level}")
        results.append({"level": level, "difference": float(off), **found})
    return results


def score_uninformative_first_names(world):
    """Scores people; the first names of some say no more about their class than surname and place.

    The first names of these people are drawn given another class, which is drawn from the scores of BISG.
    """
    people, options = world.by_block, LEVELS["block group"][1::-1]
    path = world.program.folder / "people.parquet"
    write(path, world.columns(people, "made up"))
    scores, _ = world.program.predict(path, "--model", "bisg", *options)
    steps = scores.cumsum(axis=1) < world.chance.random((world.count, 1))
    other_names = people.draw_given_class(world.chance, world.first_given_class, steps[:, :-1].sum(axis=1))
    results = [{"model": "BISG", "uninformative": None, **measured(scores, people.race)}]
    for part in [0, 0.2, 0.4, 0.6]:
        is_other = world.chance.random(world.count) < part
        first_name = numpy.where(is_other, other_names, people.first_name)
        write(path, world.columns(people, "made up", first_name))
        scores, _ = world.program.predict(path, "--model", "bifsg", *options)
        results.append({"model": "BIFSG", "uninformative": part, **measured(scores, people.race)})
        show(f"BIFSG, {part:.0%} of first names uninformative", results[-1])
    return results


def score_as_before(world):
    """Scores the same people as versions before the tables of 2020 did: residents of 2010, listed surnames only."""
    world.program.run("tables", "export", "surnames-2020", "-o", "surnames.parquet", "--force")
    table = pyarrow.parquet.read_table(world.program.folder / "surnames.parquet")
    listed = table.filter(pyarrow.compute.not_equal(table["surname"], "ALL OTHER NAMES"))
    assert len(listed) == len(table) - 1
    pyarrow.parquet.write_table(listed, world.program.folder / "listed.parquet")
    results = []
    for level, people, options in world.paths():
        geography = {"county": "counties-2010", "ZIP code": "zctas-2010"}.get(level)
        if geography is None:
            continue
        write(world.program.folder / "people.parquet", world.columns(people, "made up"))
        options += ["--surnames", "listed.parquet", "--geography", geography, "--model", "bisg"]
        scores, _ = world.program.predict("people.parquet", *options)
        found, unlisted = measured(scores, people.race), people.surname < 0
        show(f"before, by {level}", found)
        results.append({"level": level, **found, "unlisted": measured(scores[unlisted], people.race[unlisted])})
    return results


def score_voter_list_alone(world):
    """Scores people who all have names of the voter list, each name and its likelihoods equally frequent.

    Then the mean scores must be right by class, as P(class) is proportional to adults and likelihoods.
    """
    by_class = world.voters.likelihoods()
    people = People(world.chance, world.count, world.block_adults * by_class.sum(axis=0))
    names = people.draw_given_class(world.chance, by_class / by_class.sum(axis=0))
    path = world.program.folder / "people.parquet"
    write(path, {"surname": (world.voters.names, names), "block_group": (world.blocks, people.place)})
    found = measured(world.program.predict(path)[0], people.race)
    show("names of the voter list only", found)
    check_means(found, "names of the voter list only")
    return found


def check_first_names_of_the_voter_list(world):
    """Compares scores with the formula for first names that only the voter list has."""
    names = voter_names(VOTER_FIRST_NAMES)
    is_unlisted = ~numpy.isin(names, world.first_names) & (numpy.char.str_len(names) > 2)
    voters = VoterList(world.chance.choice(names[is_unlisted], SMALL_VOTER_LIST, replace=False), VOTER_FIRST_NAMES)
    path, people, rows = world.program.folder / "people.parquet", world.by_block, numpy.arange(len(voters.names))
    columns = {name: (texts, own[rows]) for name, (texts, own) in world.columns(people, "made up").items()}
    write(path, {**columns, "first_name": (voters.names, rows)})
    scores, [match] = world.program.predict(path, match=["first_name_match"])
    expected = normalized(people.likelihoods[rows] * voters.likelihoods() * world.places("block group")[rows])
    compared = (match == "voter list") & (voters.samples < 1000)
    assert compared.mean() > 0.8, f"{compared.sum()} of {len(rows)} first names are compared"
    off = abs(scores - expected)[compared].max()
    assert off < 5e-5, f"a first name of the voter list differs from the formula by {off:.1e}"


def check_defaults(world):
    """Without options, first names and the smallest places are used."""
    path = world.program.folder / "people.parquet"
    write(path, world.columns(world.by_block, "voter list"))
    default, _ = world.program.predict(path)
    explicit, _ = world.program.predict(path, "--model", "bifsg", "--block-group", "block_group", "--vintage", "2020")
    assert (default == explicit).all(), "the defaults are BIFSG by block group, with the tables of 2020"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--people", type=int, default=20_000)
    parser.add_argument("--results", type=Path)
    given = parser.parse_args()
    require_sources()
    with tempfile.TemporaryDirectory() as folder:
        world = World(Program(given.program, folder), given.people)
        results = {
            "date": str(datetime.date.today()),
            "version": world.program.run("--version").splitlines()[0],
            "people": given.people,
            "unlisted_rates": world.surnames.unlisted.tolist(),
            "bisg": score_names_on_no_list(world),
            "before": score_as_before(world),
            "voter_list": score_names_on_the_voter_list(world),
            "voter_list_alone": score_voter_list_alone(world),
            "bifsg": score_first_names(world),
            "uninformative": score_uninformative_first_names(world),
            "smoothing": voter_list.measure(world),
            "models": models.check(world),
        }
        check_first_names_of_the_voter_list(world)
        check_defaults(world)
    if given.results:
        given.results.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
