"""Runs exported SQL in databases, and compares its labels with those of `apportion apply`.

    python run.py PATH/TO/apportion

Every rule that has an expression runs in DuckDB and in SQLite, on simulated voters in single and double precision and on
a small table of edge cases. A row that is not tied must have the same label as from `apply`. Ties are determined here,
from the scores and the JSON of the decision. sqlglot must parse the SQL of all dialects, which must name the same groups
and classes.
"""

import argparse
import json
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import sqlglot
from sqlglot import exp

from injection import on_injection
from ties import on_ties

ROWS = 50_000
TIED = 1e-9  # two values closer than this are tied
DIALECTS = {
    "duckdb": "duckdb",
    "postgresql": "postgres",
    "sqlite": "sqlite",
    "bigquery": "bigquery",
    "snowflake": "snowflake",
    "spark": "spark",
}
RULES = {  # the options of fit, and the group columns
    "argmax": (["--rule", "argmax"], []),
    "threshold": (["--rule", "threshold", "--at", "0.8,black=0.5"], []),
    "match": (["--rule", "match"], []),
    "match by county": (["--rule", "match"], ["county"]),
    "match by county and race": (["--rule", "match"], ["county_fips", "race"]),
    "match with coverage": (["--rule", "match", "--coverage", "0.7"], []),
    "match, a class never given": (["--rule", "match", "--at-most", "aian=0"], []),
    "balance": (["--rule", "balance", "--gamma", "0.9"], []),
    "match from a sample": (["--rule", "match", "--from-sample", "5000"], []),
    "learned by svm": (["--rule", "learned"], []),
    "learned by logistic regression": (["--rule", "learned", "--learner", "logistic"], []),
    "balance by county with coverage": (["--rule", "balance", "--coverage", "0.7", "--penalty", "kl"], ["county"]),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=Path)
    parser.add_argument("--injection", type=Path, help="a file for the number of injection trials, which alone are run")
    options = parser.parse_args()
    program = options.program.resolve()
    with tempfile.TemporaryDirectory() as folder:
        test = Test(program, Path(folder))
        if options.injection:
            trials = sum(on_injection(test).values())
            options.injection.write_text(json.dumps({"failures": test.failures, "trials": trials}, indent=2) + "\n")
            sys.exit("failed" if test.failures else None)
        for precision in ["single", "double"]:
            path = Path(folder) / f"{precision}.parquet"
            double = ["--double"] if precision == "double" else []
            test.apportion("simulate", "voters", "--rows", str(ROWS), *double, "-o", path.name, "-q")
            for name, (fit, by) in RULES.items():
                test.rule(f"{name}, {precision}", path, fit, by, single=precision == "single")
        test.awkward()
        test.wide()
        on_ties(test)
        on_injection(test)
    sys.exit("failed" if test.failures else None)


class Test:
    def __init__(self, program, folder):
        self.program, self.folder, self.failures = program, folder, 0
        self.duckdb = duckdb.connect()

    def apportion(self, *args):
        done = subprocess.run([self.program, *args], cwd=self.folder, capture_output=True, text=True)
        assert done.returncode == 0, f"apportion {' '.join(args)}: {done.stderr}"
        return done.stdout

    json = staticmethod(json.dumps)

    def check(self, holds, problem):
        if not holds:
            self.failures += 1
            print(f"FAILED: {problem}")

    def rule(self, name, path, fit, by, single, scores=None, more=()):
        """Fits, applies, exports, runs and compares."""
        by_options = ["--by", ",".join(by)] if by else []
        score_options = ["--scores", ",".join(scores)] if scores else []
        table = [path.name, *by_options, *score_options, "-q"]
        self.apportion("fit", *table, *fit, "-o", "decision.json", "--force")
        applied = ["--decision", "decision.json", "--as", "apportion_label", "-o", "applied.parquet", "--force"]
        self.apportion("apply", *table, *applied)
        decision = json.loads((self.folder / "decision.json").read_text())
        columns = scores or [f"p_{each}" for each in decision["classes"]]
        options = [*by_options, *score_options, *(["--single"] if single else []), *more]
        sql = {each: self.apportion("export", "decision.json", "--sql", each, *options) for each in DIALECTS}
        for dialect, text in sql.items():
            self.parse(f"{name}: {dialect}", dialect, text, decision)

        applied = self.folder / "applied.parquet"
        rows = self.duckdb.sql(f"SELECT * FROM '{applied}'")
        names, rows = rows.columns, rows.fetchall()
        tied = self.tied(decision, columns, by, names, rows, percent="--percent" in more)
        expected = [row[names.index("apportion_label")] for row in rows]
        for engine, run in [("DuckDB", self.run_duckdb), ("SQLite", self.run_sqlite), ("SQLite, text", self.run_sqlite_text)]:
            found = run(sql[engine.split(",")[0].lower()], applied, names, rows)
            differ = [row for row in range(len(rows)) if found[row] != expected[row]]
            untied = [row for row in differ if not tied[row]]
            print(f"{name}: {engine}: {len(rows):,} rows, {sum(tied):,} tied, of which {len(differ) - len(untied):,} "
                  f"differ; {len(untied)} of the others differ")
            self.check(len(found) == len(rows) > 0, f"{name}: {engine}: {len(found)} rows of {len(rows)}")
            for row in untied[:5]:
                self.check(False, f"{name}: {engine}: row {row}: {found[row]!r}, not {expected[row]!r}: {rows[row]}")
        # If all rows are tied, nothing is tested.
        self.check(sum(tied) <= len(rows) // 4, f"{name}: {sum(tied)} of {len(rows)} rows are tied")

    def run_duckdb(self, expression, path, names, rows):
        return [label for (label,) in self.duckdb.sql(f"SELECT (\n{expression}) FROM '{path}'").fetchall()]

    def run_sqlite_text(self, expression, path, names, rows):
        """Stores all columns as text, like a table imported from CSV."""
        return self.run_sqlite(expression, path, names, rows, " TEXT")

    def run_sqlite(self, expression, path, names, rows, kind=""):
        with sqlite3.connect(":memory:") as connection:
            connection.execute(f"CREATE TABLE t ({', '.join(quoted(name) + kind for name in names)})")
            connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(names))})", rows)
            return [label for (label,) in connection.execute(f"SELECT (\n{expression}) FROM t ORDER BY rowid")]

    def tied(self, decision, columns, by, names, rows, percent):
        """Returns for each row whether two classes are tied. Implemented independently of the SQL."""
        rule, k = decision["rule"], len(columns)
        places = [names.index(column) for column in columns]
        groups = [names.index(column) for column in by]
        if isinstance(rule, dict) and "prices" in rule:
            prices = {group.get("group"): group["prices"] for group in rule["prices"]}
        else:
            prices = {None: [0.0] * k}
        planes = rule["learned"]["planes"] if isinstance(rule, dict) and "learned" in rule else []
        grouped = None not in prices
        result = []
        for row in rows:
            group = " / ".join("" if row[place] is None else str(row[place]) for place in groups) if grouped else None
            scores = [row[place] / (100 if percent else 1) for place in places] + [0.0]
            values = sorted(score + price for score, price in zip(scores, prices[group]) if price is not None)
            if planes:
                values = sorted(plane["intercept"] + sum(weight * score for weight, score in zip(plane["weights"], scores))
                                for plane in planes if plane)
            result.append(len(values) > 1 and values[-1] - values[-2] <= TIED)
        return result

    def parse(self, name, dialect, text, decision):
        """Checks that sqlglot parses the expression, and that its string literals are those of the decision."""
        tree = sqlglot.parse_one(text, dialect=DIALECTS[dialect])
        self.check(isinstance(tree, exp.Case), f"{name}: it is a {type(tree).__name__}")
        texts = {literal.this for literal in tree.find_all(exp.Literal) if literal.is_string}
        rule = decision["rule"]
        priced = rule["prices"] if isinstance(rule, dict) and "prices" in rule else []
        groups = {group["group"] for group in priced if "group" in group}
        classes = {name for group in priced for name, price in zip(decision["classes"], group["prices"])
                   if price is not None} or set(decision["classes"])
        if isinstance(rule, dict) and "learned" in rule:
            classes = {name for name, plane in zip(decision["classes"], rule["learned"]["planes"]) if plane}
        missing = (classes | groups) - texts
        self.check(not missing, f"{name}: these texts are not in it: {missing}")
        options = ["--sql", dialect, "--table", "t"]
        statement = sqlglot.parse_one(self.apportion("export", "decision.json", *options), dialect=DIALECTS[dialect])
        self.check(isinstance(statement, exp.Select), f"{name}: it is no statement")

    def awkward(self):
        """Names with quotes, missing or numeric groups, scores equal to a threshold, and rows with invalid scores."""
        path = self.folder / "awkward.parquet"
        scores = ['p "a"', "it's", "back\\slash `c`"]
        values = ["O'Brien", 'a "b"', "back\\slash", "two\nlines", "tab\tand `ticks`", "ünïcödé", "", None]
        floats = ", ".join(f"{quoted(each)} FLOAT" for each in scores)
        self.duckdb.execute(f"CREATE TABLE raw ({floats}, g VARCHAR, n INTEGER)")
        for row in range(2000):
            # Thousandths, so that some scores equal a threshold; one class leads by a margin that differs by row.
            first, second = 700 - row % 13 * 17, 100 + row % 7 * 13
            parts = [first, second, 1000 - first - second]
            parts = parts[row % 3:] + parts[:row % 3]
            self.duckdb.execute("INSERT INTO raw VALUES (?, ?, ?, ?, ?)",
                                [*(part / 1000 for part in parts), values[row % 8], None if row % 5 == 0 else row % 5])
        self.duckdb.execute(f"COPY raw TO '{path}'")
        for name, fit in [("threshold", ["--rule", "threshold", "--at", "0.7"]), ("argmax", ["--rule", "argmax"])]:
            self.rule(f"awkward {name}", path, fit, [], single=True, scores=scores)
        # The margin differs in every row; otherwise hundreds of rows would be tied.
        spread = self.folder / "spread.parquet"
        first, second, third = map(quoted, scores)
        self.duckdb.execute(
            f"COPY (SELECT {first} - row_number() OVER () * 1e-6 AS {first}, {second} + row_number() OVER () * 1e-6 "
            f"AS {second}, {third}::DOUBLE AS {third}, g, n FROM raw) TO '{spread}'")
        for by in [["g"], ["n"], ["g", "n"]]:
            self.rule(f"awkward by {' and '.join(by)}", spread, ["--rule", "match"], by, single=False, scores=scores)
        hundred = self.folder / "hundred.parquet"
        shares = ", ".join(f"{each} * 100 AS {each}" for each in map(quoted, scores))
        self.duckdb.execute(f"COPY (SELECT {shares}, g, n FROM '{spread}') TO '{hundred}'")
        self.rule("awkward percentages", hundred, ["--rule", "match"], ["g"], False, scores, more=["--percent"])

        # Rows that apply would refuse, or whose group is unknown, have no label; the valid row does.
        named = ["--by", "g", "--scores", ",".join(scores)]
        self.apportion("fit", spread.name, *named, "-o", "decision.json", "--force", "-q")
        inf, nan = float("inf"), float("nan")
        rows = [(0.6, 0.3, 0.1, "O'Brien", 1)] + [
            (*row, "O'Brien", 1) for row in [(None, 0.9, 0.1), (0.9, None, 0.1), (0.9, 0.1, None), (None, None, None),
                                             (nan, 0.9, 0.1), (0.9, 0.1, nan), (inf, 0.5, 0.5), (inf, -inf, 1.0),
                                             (-0.1, 1.0, 0.1), (60.0, 30.0, 10.0), (0.6, 0.3, 0.0)]
        ] + [(0.6, 0.3, 0.1, "unknown", 1)]
        self.duckdb.execute("CREATE TABLE bad AS SELECT * REPLACE (" + ", ".join(
            f"{each}::DOUBLE AS {each}" for each in map(quoted, scores)) + ") FROM raw LIMIT 0")
        self.duckdb.executemany("INSERT INTO bad VALUES (?, ?, ?, ?, ?)", rows)
        bad = self.folder / "bad.parquet"
        self.duckdb.execute(f"COPY bad TO '{bad}'")
        for engine, run in [("duckdb", self.run_duckdb), ("sqlite", self.run_sqlite)]:
            sql = self.apportion("export", "decision.json", "--sql", engine, *named)
            found = run(sql, bad, [*scores, "g", "n"], rows)
            print(f"rows that are none of scores: {engine}: {found.count(None)} of {len(rows)} have no label")
            self.check(found[0] is not None and found[1:] == [None] * (len(rows) - 1), f"{engine}: {found}")

    def wide(self):
        """The maximum number of classes, and thousands of groups."""
        classes = [f"c{place}" for place in range(250)]
        one = [{"prices": [place * 2.0**-12 for place in range(250)]}]
        many = [{"group": f"g{place}", "prices": [place * 2.0**-13, 0.25]} for place in range(3000)]
        for name, groups in [("250 classes", one), ("3,000 groups", many)]:
            few = classes[:len(groups[0]["prices"])]
            decision = {"version": 2, "classes": few, "seed": 0, "rule": {"prices": groups}}
            (self.folder / "wide.json").write_text(json.dumps(decision))
            rows = [tuple(0.75 if place == row % len(few) else 0.25 / (len(few) - 1) for place in range(len(few)))
                    + (f"g{row * 7 % 3000}",) for row in range(1000)]
            names = [*(f"p_{each}" for each in few), "g"]
            if len(groups) == 1:
                expected = [few[row % 250] for row in range(1000)]
            else:
                expected = [few[0] if score + row * 7 % 3000 * 2.0**-13 >= other + 0.25 else few[1]
                            for row, (score, other, _) in enumerate(rows)]
            doubles = ", ".join(f"{each} DOUBLE" for each in names[:-1])
            self.duckdb.execute(f"CREATE OR REPLACE TABLE wide ({doubles}, g VARCHAR)")
            self.duckdb.executemany(f"INSERT INTO wide VALUES ({', '.join('?' * len(names))})", rows)
            path = self.folder / "wide.parquet"
            self.duckdb.execute(f"COPY wide TO '{path}'")
            for engine, run in [("duckdb", self.run_duckdb), ("sqlite", self.run_sqlite)]:
                by = [] if len(groups) == 1 else ["--by", "g"]
                sql = self.apportion("export", "wide.json", "--sql", engine, *by)
                found = run(sql, path, names, rows)
                print(f"{name}: {engine}: {len(sql):,} characters, {len(found):,} rows")
                self.check(found == expected, f"{name}: {engine}: labels differ")


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


if __name__ == "__main__":
    main()
