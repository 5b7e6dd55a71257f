"""The input files of trials, and the commands that they disturb."""

import gzip
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from support import Work, fresh, must_succeed, run

CLASSES = ["white", "black", "hispanic", "asian", "aian", "other"]
SHARES = [0.64, 0.2, 0.09, 0.03, 0.01, 0.03]
FBISG = ["--model", "fbisg", "--burn-in", "3", "--sweeps", "5"]
BLOCK = 5_000  # rows per row group
TARGET = 0.3  # seconds per run


class Lab:
    """A program, a folder, input files, and works with known right output."""

    def __init__(self, program, folder, quick):
        self.program, self.folder, self.quick = Path(program).resolve(), Path(folder), quick
        self.files = self.folder / "files"
        self.files.mkdir(parents=True)
        self.rows = 3_000 if quick else self._rows_of_target()
        self._make_files()
        self.works = {work.name: work for work in self._works()}
        with ThreadPoolExecutor(2) as pool:
            times = 1 if quick else 2
            list(pool.map(lambda work: work.learn(self.program, self.folder / "reference", times), self.works.values()))

    def make(self, *words):
        must_succeed(run(self.program, words, self.files, temporary=self.folder), words[0])

    def _rows_of_target(self):
        """Returns the number of rows for which labeling a CSV file takes about the target time on this machine."""
        rows = 4_000
        while rows < 1_000_000:
            self.make("simulate", "voters", "--rows", str(rows), "-o", "trial.csv", "--force", "-q")
            place = fresh(self.folder / "trial")
            seconds = min(run(self.program, ["label", self.files / "trial.csv", "-o", f"{n}.csv"], place).seconds for n in "ab")
            if seconds > TARGET * 0.7:
                break
            rows *= 2
        (self.files / "trial.csv").unlink()
        return rows

    def _make_files(self):
        rows = str(self.rows)
        self.make("simulate", "voters", "--rows", rows, "-o", "voters.csv", "-q")
        people = str(self.rows if self.quick else 4 * self.rows)  # a row is faster than loading the Census tables
        self.make("simulate", "voters", "--rows", people, "--seed", "5", "--no-scores", "-o", "people.csv", "-q")
        self.make("fit", "voters.csv", "-o", "decision.json", "-q")
        margin = "class,share\n" + "".join(f"{name},{share}\n" for name, share in zip(CLASSES, SHARES))
        (self.files / "margin.csv").write_text(margin)
        (self.files / "reference.csv").write_text(margin)
        for name in ("voters", "people"):
            write_as(read_csv(self.files / f"{name}.csv"), self.files / name)
        many = self.files / "many"
        many.mkdir()
        lines = (self.files / "voters.csv").read_text().splitlines(keepends=True)
        for number in range(8 if self.quick else 24):
            (many / f"part{number:02}.csv").write_text("".join([lines[0], *lines[1 + number * 40 : 41 + number * 40]]))

    def _works(self):
        file = lambda name: self.files / name  # noqa: E731
        old = {"out.csv": b"old\n"}
        quiet = ["-q"]
        return [
            Work("label csv", ["label", file("voters.csv"), "-o", "out.csv", *quiet]),
            Work("label parquet", ["label", file("voters.csv"), "-o", "out.parquet", *quiet]),
            Work("label arrow", ["label", file("voters.csv"), "-o", "out.arrow", *quiet]),
            Work("label gz", ["label", file("voters.csv"), "-o", "out.csv.gz", *quiet]),
            Work("label parquet copy", ["label", file("voters.parquet"), "-o", "out.parquet", *quiet]),
            Work("label folder", ["label", file("many"), "-o", "out/", *quiet], folder="out"),
            Work(
                "label folder over old",
                ["label", file("many"), "-o", "out/", "--force", *quiet],
                folder="out",
                old={"out/part03.csv": b"old\n"},
            ),
            Work("label force", ["label", file("voters.csv"), "-o", "out.csv", "--force", *quiet], old=old),
            Work("label stdin", ["label", "-", "-o", "out.csv", *quiet], stdin=file("voters.csv")),
            Work("label spill", ["label", file("voters.parquet"), "-o", "out.csv", "--memory", "1M", *quiet]),
            Work("predict bisg", ["predict", file("people.csv"), "-o", "out.csv", *quiet]),
            Work("predict fbisg", ["predict", file("people.csv"), "-o", "out.parquet", *FBISG, *quiet]),
            Work("fit", ["fit", file("voters.csv"), "-o", "out.json", *quiet]),
            Work(
                "apply",
                ["apply", file("voters.csv"), "--decision", file("decision.json"), "-o", "out.csv", *quiet],
            ),
            Work(
                "report",
                ["label", file("voters.csv"), "-o", "out.csv", "--truth", "race", "--report", "page.html", *quiet],
                first="out.csv",
            ),
            Work(
                "figures",
                ["label", file("voters.csv"), "-o", "out.csv", "--truth", "race", "--figures", "figures", *quiet],
                folder="figures",
                first="out.csv",
            ),
        ]


def read_csv(path):
    """Reads a table with identifiers and codes as text."""
    text = {name: pa.string() for name in ("id", "county", "county_fips", "surname", "race")}
    return pyarrow.csv.read_csv(path, convert_options=pyarrow.csv.ConvertOptions(column_types=text))


def write_as(table, base):
    """Writes the table as Parquet, Arrow and gzip, so that the same rows in another order have the same size."""
    table = table.combine_chunks()  # otherwise the chunks of the reader would split blocks
    plain = {"compression": "none", "use_dictionary": False, "write_statistics": False}
    pyarrow.parquet.write_table(table, f"{base}.parquet", row_group_size=BLOCK, **plain)
    pyarrow.feather.write_feather(table, f"{base}.arrow", compression="uncompressed", chunksize=BLOCK)
    text = pa.BufferOutputStream()
    options = pyarrow.csv.WriteOptions(quoting_style="none")
    pyarrow.csv.write_csv(table, text, options)
    Path(f"{base}.csv").write_bytes(text.getvalue())
    Path(f"{base}.csv.gz").write_bytes(gzip.compress(text.getvalue(), compresslevel=0, mtime=0))
