"""Writes the results of `make validate-scores` into docs/scores.md, between markers.

    python page.py [--check]

The text around the tables is written by hand. The results are those of results.json. With --check, nothing is written,
and the script fails if the page does not show them.
"""

import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[3] / "docs" / "scores.md"
MARKED = re.compile(r"(<!-- table: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
CLASSES = ["white", "black", "hispanic", "asian", "aian", "other"]


def main():
    results, page = json.loads((HERE / "results.json").read_text()), PAGE.read_text()
    latest = MARKED.sub(lambda mark: mark[1] + TABLES[mark[2]](results) + mark[3], page)
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if latest == page else f"docs/scores.md is out of date with results.json; run {Path(__file__).name}")
    PAGE.write_text(latest)


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "".join("| " + " | ".join(map(str, line)) + " |\n" for line in lines)


def run(results):
    return f"{results['people']:,} people in each draw; {results['version']}, {results['date']}.\n"


def offs(found):
    """Returns the relative errors of the mean scores."""
    return [f"{100 * (mean / share - 1):+.1f}" for mean, share in zip(found["mean"], found["share"])]


def quality(found):
    return [f"{found['log_loss']:.3f}", f"{100 * found['accuracy']:.1f}"]


def means(results):
    rows = [["class share, %", "", *(f"{100 * share:.2f}" for share in results["bisg"][0]["share"]), "", ""]]
    rows += [[one["level"], "now", *offs(one), *quality(one)] for one in results["bisg"]]
    rows += [[one["level"], "before", *offs(one), *quality(one)] for one in results["before"]]
    return table(["by", "", *CLASSES, "log loss", "accuracy, %"], rows)


def unlisted(results):
    rows = []
    for version, found in (("now", results["bisg"]), ("before", results["before"])):
        for one in found:
            black, own = CLASSES.index("black"), one["unlisted"]
            shares = [f"{100 * own[name][black]:.2f}" for name in ("share", "mean")]
            rows.append([one["level"], version, f"{own['people']:,}", *shares, *offs(own)])
    return table(["by", "", "people", "black, %", "mean score of black, %", *CLASSES], rows)


def on_voter_list(results):
    rows = [["all people", one["level"], *offs(one), *quality(one)] for one in results["voter_list"]]
    unlisted = [(one["level"], one["unlisted"]) for one in results["voter_list"]]
    rows += [["unlisted", level, *offs(one), *quality(one)] for level, one in unlisted]
    alone = results["voter_list_alone"]
    rows.append(["names of the list only", "block group", *offs(alone), *quality(alone)])
    return table(["people", "by", *CLASSES, "log loss", "accuracy, %"], rows)


def first_names(results):
    rows = []
    for bisg, bifsg in zip(results["bisg"], results["bifsg"]):
        rows.append([bisg["level"], *quality(bisg), *quality(bifsg), *offs(bifsg)])
    return table(["by", "log loss, BISG", "accuracy, %", "log loss, BIFSG", "accuracy, %", *CLASSES], rows)


def uninformative(results):
    rows = []
    for one in results["uninformative"]:
        part = "not used" if one["uninformative"] is None else f"{one['uninformative']:.0%}"
        rows.append([one["model"], part, *quality(one), *offs(one)])
    return table(["model", "uninformative first names", "log loss", "accuracy, %", *CLASSES], rows)


def smoothing(results):
    found, rows = results["smoothing"], []
    for half, losses in found["halves"].items():
        values = ["infinite" if loss is None else f"{loss:.3f}" for loss in losses["with"]]
        name = "rarer half" if half == "rarer" else "all"
        rows.append([name, f"{losses['names']:,}", f"{losses['without']:.3f}", *values, f"{losses['census']:.3f}"])
    kappas = [f"κ = {smoothing}" for smoothing in found["smoothings"]]
    return table(["names", "number", "without the list", *kappas, "Census shares"], rows)


def gibbs(results):
    found = results["models"]["enumeration"]
    return (
        f"{found['people']} people in a place of few adults, {found['sweeps']:,} sweeps: the scores differ from the "
        f"exact posterior by at most {found['difference']:.4f}. The smallest score is {found['smallest']:.1e}.\n"
    )


TABLES = {
    "run": run,
    "means": means,
    "unlisted": unlisted,
    "on-voter-list": on_voter_list,
    "first-names": first_names,
    "uninformative": uninformative,
    "smoothing": smoothing,
    "gibbs": gibbs,
}


if __name__ == "__main__":
    main()
