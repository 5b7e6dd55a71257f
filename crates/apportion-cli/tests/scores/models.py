"""Checks the models other than BISG: fBISG against all outcomes, and voter, rake and fBISG by ZIP code."""

import itertools

import numpy

from people import write
from tables import CLASSES, normalized

# A small place: few people in the tables, so that the people of the file change each other's scores. No asian, no aian.
PLACE = [6, 3, 1, 0, 0, 1]
# Three on the Census list, and one on no list.
SURNAMES = ["SMITH", "WASHINGTON", "NGUYEN", "QXZQXZQ"]
SWEEPS = 60_000
NOISE = 1e-8
MARGIN = [0.70, 0.20, 0.04, 0.02, 0.01, 0.03]


def check(world):
    by_zip = [score_by_zip(world, model) for model in ("voter", "rake", "fbisg")]
    return {"enumeration": enumerate_small_place(world), "zip": by_zip}


def exact_posterior(likelihoods, counts):
    """Returns P(class of each person), by summing over the classes of all people.

    Classes are drawn from Dirichlet-multinomial proportions with parameters N_r + 1, and names from P(name | class).
    """
    people = len(likelihoods)
    sums = numpy.zeros((people, len(CLASSES)))
    for classes in itertools.product(range(len(CLASSES)), repeat=people):
        weights = numpy.array(counts, float) + 1
        joint = 1.0
        for person, own in enumerate(classes):
            joint *= weights[own] * likelihoods[person][own]
            weights[own] += 1
        for person, own in enumerate(classes):
            sums[person, own] += joint
    return normalized(sums)


def enumerate_small_place(world):
    """Compares fBISG with the exact posterior of four people in one place."""
    folder, surnames = world.program.folder, world.surnames
    header = ",".join(["county_fips", *("n_" + name for name in CLASSES)])
    (folder / "place.csv").write_text(f"{header}\n37063,{','.join(map(str, PLACE))}\n")
    rows = numpy.arange(len(SURNAMES))
    write(folder / "small.parquet", {"surname": (SURNAMES, rows), "county_fips": (["37063"], 0 * rows)})
    likelihoods = []
    for name in SURNAMES:
        found = numpy.flatnonzero(surnames.names == name)
        likelihoods.append((surnames.given_class[found[0]] if len(found) else surnames.unlisted) + NOISE)
    expected = exact_posterior(likelihoods, PLACE)
    options = ["--model", "fbisg", "--geography", "place.csv", "--burn-in", "500", "--sweeps", str(SWEEPS)]
    scores, _ = world.program.predict("small.parquet", *options)
    off = float(abs(scores - expected).max())
    print(f"fBISG differs from the exact posterior by at most {off:.4f}", flush=True)
    # Over these sweeps, the standard error of a mean of probabilities is below 0.001.
    assert off < 0.004 and scores.min() > 0, f"{scores}\n{expected}"
    alone = normalized(numpy.array(likelihoods) * (numpy.array(PLACE) + 1))
    assert abs(alone - expected).max() > 0.02, "the people of this place change each other's scores"
    return {"people": len(SURNAMES), "sweeps": SWEEPS, "difference": off, "smallest": float(scores.min())}


def score_by_zip(world, model):
    """Scores people by ZIP code within the state with a model."""
    folder, people = world.program.folder, world.by_zip
    kept = numpy.arange(min(world.count, 20_000))
    columns = world.columns(people, "voter list")
    columns = {name: (texts, rows[kept]) for name, (texts, rows) in columns.items() if name != "first_name"}
    write(folder / "zip.parquet", columns)
    lines = "\n".join(f"{name},{share}" for name, share in zip(CLASSES, MARGIN))
    (folder / "margin.csv").write_text(f"class,share\n{lines}\n")
    options = ["--model", model, "--within", "NC"]
    options += ["--burn-in", "20", "--sweeps", "60"] if model == "fbisg" else ["--margin", "margin.csv"]
    scores, [place] = world.program.predict("zip.parquet", *options, match=["place_used"])
    assert (place == "zcta").all(), f"{model}: {numpy.unique(place)}"
    plain = normalized(people.with_voter_list[kept] * world.places("ZIP code")[kept])
    exact = world.voters.samples[people.voter_name[kept]] < 1000
    exact |= people.surname[kept] >= 0
    if model == "voter":
        codes, adults = world.program.export("states-2020")
        adults = adults[codes == "37"][0]
        off = abs(scores - normalized(plain * MARGIN / adults))[exact]
        assert numpy.quantile(off, 0.999) < 5e-5, f"voter: {off.max()}"
    elif model == "rake":
        off = abs(scores.mean(axis=0) - MARGIN)
        assert off.max() < 1e-9, f"rake: {scores.mean(axis=0)}"
        # Raking multiplies the scores of all people by one weight per class.
        weights = scores[exact][0] / plain[exact][0]
        assert numpy.quantile(abs(scores - normalized(plain * weights))[exact], 0.999) < 1e-3
    else:
        # Places have thousands of adults and few of these people, so the scores are nearly those of BISG.
        off = abs(scores - plain)
        assert scores.min() > 0 and off.mean() < 0.01, f"fbisg: {off.mean()}"
    print(f"{model} by ZIP code within NC: correct", flush=True)
    return {"model": model, "people": len(kept), "smallest": float(scores.min())}
