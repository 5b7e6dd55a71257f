"""Tests that SQL with a column of IDs divides tied rows among their classes, so that the counts are those of the fit.

Scores are rounded to tenths, so that most rows are tied. Labels of other rows must be those of `apply`; the label of a tied
row must be one of its tied classes, which are determined here; and the counts of each class in each group may differ from
those of `apply` only by chance. PostgreSQL is tested if its programs are installed.
"""

import json
import math

from injection import DuckDb, PostgreSql, Sqlite, quoted

ROWS = 20_000
CLASSES = ["white", "black", "it's \"other\""]
COUNTIES = ["ALAMANCE", "O'Brien \"x\" / 1", "WAKE"]
SIGMAS = 6  # over some 100 comparisons, chance exceeds this in fewer than one of a million runs


def on_ties(test):
    """Compares SQL with `apply` in every database, overall and by group, as an expression and as a statement."""
    rows = people()
    path = test.folder / "tied.csv"
    columns = [*(f"p_{name}" for name in CLASSES), "county", "id"]
    header = ",".join(quoted(name) for name in columns)
    path.write_text("\n".join([header, *(",".join(map(text, row)) for row in rows)]) + "\n")
    engines = [DuckDb(), Sqlite(), *([PostgreSql()] if PostgreSql.is_there() else [])]
    for by in ([], ["county"]):
        named = ["--id", "id", "--scores", ",".join(f'"{name}"' if "," in name else name for name in columns[:3]),
                 *(["--by", "county"] if by else [])]
        test.apportion("fit", path.name, *named, "-o", "tied.json", "--force", "-q")
        test.apportion("apply", path.name, *named, "--decision", "tied.json", "--as", "found", "-o", "tied_labels.csv",
                       "--only-label", "--force", "-q")
        decision = json.loads((test.folder / "tied.json").read_text())
        expected = labels_of(test.folder / "tied_labels.csv", decision["classes"])
        tied = [tied_classes(row, decision) for row in rows]
        for engine in engines:
            kinds = [*((name, "DOUBLE") for name in columns[:3]), ("county", "VARCHAR"), ("id", "INTEGER")]
            engine.fill("people", kinds, rows)
            for form, options in forms(by):
                sql = test.apportion("export", "tied.json", "--sql", engine.dialect, "--id", "id", *options, "--force", "-q")
                if "--prices" in options:
                    fill_prices(engine, test.folder / "tied_prices.csv")
                if "--table" in options:
                    found = sorted((int(row[-2]), row[-1]) for row in engine.run(sql.strip().rstrip(";")))
                    found = [label for _, label in found]
                else:
                    found = [row[0] for row in engine.run(f"SELECT (\n{sql}) AS label FROM people ORDER BY id")]
                name = f"ties {'by county' if by else 'overall'}: {engine.name}, {form}"
                compare(test, name, rows, expected, found, tied)
    for engine in engines:
        engine.close()


def forms(by):
    yield "expression", []
    yield "statement", ["--table", "people"]
    if by:
        yield "statement with a table of prices", ["--table", "people", "--prices", "tied_prices.csv"]


def people():
    """Returns people with scores in tenths, which are the same for many of them."""
    patterns = [(0.5, 0.4, 0.1), (0.6, 0.4, 0.0), (0.4, 0.3, 0.3), (0.7, 0.2, 0.1), (0.2, 0.7, 0.1), (0.3, 0.3, 0.4)]
    return [(*patterns[(place * 7919 // 13) % 6], COUNTIES[(place * 31 // 7) % 3], place) for place in range(ROWS)]


def text(value):
    return quoted(value) if isinstance(value, str) else repr(value)


def labels_of(path, classes):
    """Returns the labels in a CSV file of IDs and labels, by ID."""
    found = {}
    for line in path.read_text().splitlines()[1:]:
        own, label = line.split(",", 1)
        found[int(own)] = label[1:-1].replace('""', '"') if label.startswith('"') else label
    assert set(found.values()) <= set(classes), set(found.values())
    return [found[own] for own in sorted(found)]


def tied_classes(row, decision):
    """Returns the classes with the largest score + price, on the grid of 2^-40."""
    prices = decision["rule"]["prices"]
    own = next(group for group in prices if group.get("group") in (None, row[3], quoted(row[3])))["prices"]
    units = [round(score * 2**40) + round(price * 2**40) if price is not None else -(2**60)
             for score, price in zip(row, own)]
    return {decision["classes"][place] for place, value in enumerate(units) if value == max(units)}


def fill_prices(engine, path):
    """Loads the table of prices, as a user would."""
    lines = path.read_text().splitlines()
    names = lines[0].split(",")
    rows = []
    for line in lines[1:]:
        group, numbers = line[1:].rsplit('",', 1)
        rows.append((group.replace('""', '"'), *map(float, numbers.split(","))))
    engine.fill("tied_prices", [(names[0], "VARCHAR"), *((name, "DOUBLE") for name in names[1:])], rows)


def compare(test, name, rows, expected, found, tied):
    test.check(len(found) == len(rows), f"{name}: {len(found)} rows of {len(rows)}")
    wrong = [place for place in range(len(rows)) if found[place] not in tied[place]]
    test.check(not wrong, f"{name}: {len(wrong)} labels are not among the best classes, such as row {wrong[:1]}")
    number = sum(len(own) > 1 for own in tied)
    test.check(number > len(rows) // 10, f"{name}: only {number} rows are tied, so nothing is tested")
    largest = 0
    for county in sorted({row[3] for row in rows}):
        places = [place for place, row in enumerate(rows) if row[3] == county]
        chance = math.sqrt(sum(len(tied[place]) > 1 for place in places)) / 2
        for label in CLASSES:
            counts = [sum(labels[place] == label for place in places) for labels in (expected, found)]
            largest = max(largest, abs(counts[0] - counts[1]))
            test.check(abs(counts[0] - counts[1]) <= SIGMAS * chance * math.sqrt(2) + 1,
                       f"{name}: {label} in {county}: {counts[1]} people, {counts[0]} by apply")
    differ = sum(one != other for one, other in zip(expected, found))
    print(f"{name}: {number:,} of {len(rows):,} rows tied, {differ:,} other labels, largest difference of a count {largest}")
