"""Tests that untrusted names and values in exported SQL remain names and string literals.

Every payload is used as a class, a group, a value of one of two group columns, a score column and a group column. A trial
is one payload in one role in one database: another table in the database must keep its rows, and every label must equal
the label from `apply`. PostgreSQL is tested if its programs are installed.
"""

import csv
import io
import os
import shutil
import sqlite3
import subprocess
import tempfile
from pathlib import Path

import duckdb

PAYLOADS = [
    "'; DROP TABLE canary; --",
    "'); DROP TABLE canary; --",
    "' OR '1'='1",
    "'' OR ''=''",
    "\"; DROP TABLE canary; --",
    "\"\"; DROP TABLE canary; --",
    "`; DROP TABLE canary; --",
    "]; DROP TABLE canary; --",
    "\\'; DROP TABLE canary; --",
    "\\\\'; DROP TABLE canary; --",
    "\\",
    "'\\",
    "' END; DELETE FROM canary; --",
    "' THEN 'x' END, (SELECT 1) --",
    "*/ DROP TABLE canary; /*",
    "/* comment",
    "-- comment",
    "# comment",
    "x'; UPDATE canary SET n = 0; --",
    "' || (SELECT group_concat(n) FROM canary) || '",
    "' || (SELECT count(*) FROM canary) || '",
    "$$; DROP TABLE canary; $$",
    "$1",
    "?",
    ":name",
    "%s %d %(x)s",
    "{0} ${x}",
    "line\nbreak'; DROP TABLE canary; --",
    "cr\rlf\n-- \nDROP TABLE canary;",
    "tab\there",
    "NULL",
    "null",
    "0",
    "1e400",
    "0x27",
    "CHAR(39)",
    "U&'\\0027'",
    "E'\\''",
    "N'x'",
    "ünïcödé ’; DROP TABLE canary; --",
    "ʼ; DROP TABLE canary; --",
    "＇; DROP TABLE canary; --",
    "a / b'; DROP TABLE canary; --",
    "a /",
    "/ b",
    "a / b / c",
    "\"a / b\"",
    "emoji 🗳'",
    " leading and trailing ",
    "CASE WHEN 1 THEN 2 END",
]
CANARY = [(1, "one"), (2, "two"), (3, "three")]
CLASSES = 5


def quoted(name):
    """Returns a name in double quotes, which all three databases accept when a table is created."""
    return '"' + name.replace('"', '""') + '"'


class DuckDb:
    name, dialect = "DuckDB", "duckdb"

    def __init__(self):
        self.connection = duckdb.connect()

    def run(self, text):
        return [tuple(row) for row in self.connection.execute(text).fetchall()]

    def fill(self, table, kinds, rows):
        columns = ", ".join(f"{quoted(name)} {kind}" for name, kind in kinds)
        self.connection.execute(f"DROP TABLE IF EXISTS {table}")
        self.connection.execute(f"CREATE TABLE {table} ({columns})")
        self.connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(kinds))})", rows)

    def close(self):
        self.connection.close()


class Sqlite(DuckDb):
    name, dialect = "SQLite", "sqlite"

    def __init__(self):  # pylint: disable=super-init-not-called
        self.connection = sqlite3.connect(":memory:")

    def run(self, text):
        # Runs all statements, because a driver that runs only one would hide a second one.
        self.connection.executescript(f"DROP TABLE IF EXISTS found; CREATE TEMP TABLE found AS {text}")
        return self.connection.execute("SELECT * FROM found").fetchall()


class PostgreSql:
    """A separate server in a temporary directory, queried by psql."""
    name, dialect = "PostgreSQL", "postgresql"

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp())
        self.data = self.folder / "data"
        # The server refuses to run as root.
        self.user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        if self.user:
            shutil.chown(self.folder, "postgres")
        self.call("initdb", "-D", self.data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8")
        options = f"-c listen_addresses='' -k {self.folder} -c fsync=off"
        self.call("pg_ctl", "-D", self.data, "-w", "-o", options, "-l", self.folder / "log", "start")

    @staticmethod
    def is_there():
        return all(shutil.which(name) for name in ("initdb", "pg_ctl", "psql"))

    def call(self, *words, text=None):
        words = [*self.user, *map(str, words)]
        done = subprocess.run(words, input=text and text.encode(), capture_output=True, cwd="/", check=False)
        assert done.returncode == 0, f"{words}: {done.stderr.decode()}"
        return done.stdout.decode()

    def psql(self, text):
        return self.call("psql", "-h", self.folder, "-U", "postgres", "-q", "-v", "ON_ERROR_STOP=1", "--csv", "-t",
                         "-P", "null=<null>", text=text)

    def run(self, text):
        rows = csv.reader(io.StringIO(self.psql(text + ";"), newline=""))
        return [tuple(None if value == "<null>" else value for value in row) for row in rows]

    def fill(self, table, kinds, rows):
        columns = ", ".join(f"{quoted(name)} {'float8' if kind == 'DOUBLE' else 'text' if kind == 'VARCHAR' else kind}"
                            for name, kind in kinds)
        literal = lambda value: "NULL" if value is None else repr(value) if not isinstance(value, str) else \
            "'" + value.replace("'", "''") + "'"
        values = ", ".join("(" + ", ".join(map(literal, row)) + ")" for row in rows)
        self.psql(f"DROP TABLE IF EXISTS {table}; CREATE TABLE {table} ({columns}); INSERT INTO {table} VALUES {values};")

    def close(self):
        self.call("pg_ctl", "-D", self.data, "-m", "immediate", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)


def cases():
    """Yields classes, score columns, group columns and group values, five payloads at a time."""
    for first in range(0, len(PAYLOADS), CLASSES):
        some = PAYLOADS[first:first + CLASSES]
        yield {"classes": some, "columns": [f"s{place} {name}" for place, name in enumerate(some)],
               "groups": [f"g {some[0]}", f"h {some[1]}"]}


def write(path, case):
    """Writes rows of every group as CSV, and returns them."""
    k, rows = len(case["classes"]), []
    for number, one in enumerate(PAYLOADS):
        for second in (PAYLOADS[(number * 7 + 3) % len(PAYLOADS)], "plain"):
            for row in range(4):
                parts = [1 + (number * 31 + row * 17 + place * 13) % 97 / 97 + place * 1e-4 for place in range(k)]
                scores = [round(part / sum(parts), 6) for part in parts[:-1]]
                rows.append((*scores, round(1 - sum(scores), 6), one, second))
    with open(path, "w", newline="") as target:
        writer = csv.writer(target)
        writer.writerow([*case["columns"], *case["groups"]])
        writer.writerows(rows)
    return rows


def on_injection(test):
    """Runs every case in every database. Returns the number of trials of each."""
    engines = [DuckDb(), Sqlite()]
    if PostgreSql.is_there():
        engines.append(PostgreSql())
    else:
        print("injection: PostgreSQL is not installed: not tried")
    trials = dict.fromkeys((engine.name for engine in engines), 0)
    for case in cases():
        path = test.folder / "hostile.csv"
        rows = write(path, case)
        prices = [{"group": group_name(pair), "prices": [(place * 7 + number * 3) % 11 / 64 for place in range(CLASSES)]}
                  for number, pair in enumerate(sorted({row[-2:] for row in rows}))]
        expected = [best(row, prices, case["classes"]) for row in rows]
        decision = {"version": 2, "classes": case["classes"], "seed": 0, "rule": {"prices": prices},
                    "fit_info": {"scores": case["columns"], "groups": case["groups"], "people": len(rows), "tied": 0}}
        (test.folder / "hostile.json").write_text(test.json(decision))
        test.apportion("apply", "hostile.csv", "--decision", "hostile.json", "-o", "labeled.csv", "--as", "apportion_label",
                       "--force", "-q")
        with open(test.folder / "labeled.csv", newline="") as source:
            applied = [row[-2] for row in list(csv.reader(source))[1:]]
        test.check(applied == expected, f"injection: apply differs: {case['classes']}")
        for engine in engines:
            kinds = [(name, "DOUBLE") for name in case["columns"]] + [(name, "VARCHAR") for name in case["groups"]]
            engine.fill("canary", [("n", "INTEGER"), ("word", "VARCHAR")], CANARY)
            engine.fill("people", [("row", "INTEGER"), *kinds], [(place, *row) for place, row in enumerate(rows)])
            test.apportion("export", "hostile.json", "--sql", engine.dialect, "-o", "hostile.sql", "--force", "-q")
            sql = (test.folder / "hostile.sql").read_bytes().decode()  # keeps line breaks unchanged
            found = engine.run(f"SELECT (\n{sql}) AS label FROM people ORDER BY row")
            labels = [row[0] for row in found]
            test.apportion("export", "hostile.json", "--sql", engine.dialect, "--table", "people", "--id", "row", "-o", "hostile.sql", "--force", "-q")
            statement = (test.folder / "hostile.sql").read_bytes().decode()
            found = engine.run(statement.strip().removesuffix(";"))
            whole = [row[-1] for row in sorted(found, key=lambda row: int(row[0]))]
            test.check(whole == labels, f"injection: {engine.name}: the statement gives other labels than the expression")
            differ = [place for place, label in enumerate(labels) if label != expected[place]]
            test.check(len(labels) == len(rows) and not differ,
                       f"injection: {engine.name}: {len(differ)} labels differ, such as {[(labels[p], expected[p], rows[p]) for p in differ[:1]]}")
            left = engine.run("SELECT n, word FROM canary ORDER BY n")
            test.check([(int(n), word) for n, word in left] == CANARY, f"injection: {engine.name}: the canary is {left}")
            trials[engine.name] += len(PAYLOADS) + 2 * CLASSES + 2
    for engine in engines:
        engine.close()
    for name, number in trials.items():
        print(f"injection: {name}: {number:,} trials, {len(PAYLOADS)} payloads")
    return trials


def group_name(values):
    """Returns the name of a group, implemented independently: ambiguous values are quoted."""
    def one(value):
        ambiguous = " / " in value or value.endswith(" /") or value.startswith('"')
        return quoted(value) if ambiguous else value
    return " / ".join(map(one, values))


def best(row, prices, classes):
    """Returns the class with the largest score + price, on the grid of 2^-40."""
    own = next(group["prices"] for group in prices if group["group"] == group_name(row[-2:]))
    values = [round(score * 2**40) + round(price * 2**40) for score, price in zip(row, own)]
    assert sorted(values)[-1] > sorted(values)[-2], row
    return classes[values.index(max(values))]
