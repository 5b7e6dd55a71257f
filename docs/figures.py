"""Draws the figures of the tutorial from the output that the page shows: figures.py [--check].

The commands of the page run as tests, so its output is that of the program. The figures are written to
docs/guide/figures. With --check, nothing is written; figures that differ are an error.
"""

import re
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
PAGE = DOCS / "guide" / "tutorial.md"
FOLDER = DOCS / "guide" / "figures"
CLASSES = ["white", "black", "hispanic", "asian", "aian", "other"]
NAMES = {"white": "White", "black": "Black", "hispanic": "Hispanic", "asian": "Asian", "aian": "AIAN", "other": "Other"}

STYLE = """
  text { font: 14px system-ui, 'Segoe UI', 'DejaVu Sans', 'Liberation Sans', sans-serif; fill: #24292f }
  .title { font-weight: 600; font-size: 15px }
  .small { font-size: 12px; fill: #57606a }
  .end { text-anchor: end }
  .middle { text-anchor: middle }
  .page { fill: #ffffff; stroke: #d0d7de }
  .line { stroke: #d0d7de }
  .axis { stroke: #8c959f }
  .truth { fill: #6e7781; stroke: #6e7781 }
  .scores { fill: #4c9f70; stroke: #4c9f70 }
  .argmax { fill: #d9730d; stroke: #d9730d }
  .match { fill: #2f7fc1; stroke: #2f7fc1 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .small { fill: #9da7b3 }
    .page { fill: #161b22; stroke: #30363d }
    .line { stroke: #30363d }
  }
"""


class Figure:
    """The elements of an SVG image."""

    def __init__(self, width, height, description):
        self.width, self.height, self.description, self.elements = width, height, description, []

    def add(self, element):
        self.elements.append("  " + element)

    def text(self, x, y, words, kind=""):
        words = str(words).replace("&", "&amp;").replace("<", "&lt;")
        self.add(f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{words}</text>')

    def bar(self, x, y, width, height, kind):
        size = f'width="{width:.1f}" height="{height:.1f}"'
        self.add(f'<rect x="{x:.1f}" y="{y:.1f}" {size} class="{kind}" stroke-width="0"/>')

    def line(self, x, y, to_x, to_y, kind="line", width=1, dashed=False):
        ends = f'x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}"'
        dash = ' stroke-dasharray="4 4"' if dashed else ""
        self.add(f'<line {ends} class="{kind}" stroke-width="{width}"{dash}/>')

    def dot(self, x, y, kind, radius=5):
        self.add(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" class="{kind}" stroke-width="0"/>')

    def legend(self, x, y, entries):
        """Draws a colored square and a text for each pair of a kind and a text, in one row."""
        for kind, words in entries:
            self.bar(x, y - 10, 12, 12, kind)
            self.text(x + 18, y, words)
            x += 18 + 7.6 * len(words) + 22

    def svg(self):
        size = f'viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}"'
        page = f'  <rect x="0.5" y="0.5" width="{self.width - 1}" height="{self.height - 1}" rx="6" class="page"/>'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">\n  <title>{self.description}</title>'
        return "\n".join([head, f"  <style>{STYLE}  </style>", page, *self.elements, "</svg>", ""])


def stop(message):
    sys.exit(f"docs/figures.py: {message}")


def read_page():
    """Returns the checked outputs of each section of the page, by the number of the section."""
    sections = {}
    for number, body in re.findall(r"^## (\d)\.(.*?)(?=^## |\Z)", PAGE.read_text(encoding="utf-8"), re.M | re.S):
        sections[int(number)] = re.findall(r"^<!-- checked -->\n```text\n(.*?)^```$", body, re.M | re.S)
    return sections


def number(cell):
    digits = re.match(r"[-+−]?[\d,]*\.?\d+", cell.strip())
    return float(digits[0].replace(",", "").replace("−", "-")) if digits else None


def tables(output, first):
    """Returns the tables of an output with this heading of the first column: for each, its rows by name and column."""
    found, columns = [], None
    for line in output.splitlines():
        cells = re.split(r"\s{2,}", re.sub(r"points\s+", "points ", line.strip()))
        if cells[0] == first:
            columns = cells[1:]
            found.append({})
        elif columns and len(cells) == len(columns) + 1:
            found[-1][cells[0]] = dict(zip(reversed(columns), reversed([number(cell) for cell in cells[1:]])))
        else:
            columns = None
    return found


def column(table, name):
    """Returns the values of a column for all classes."""
    missing = [row for row in CLASSES if table.get(row, {}).get(name) is None]
    if missing:
        stop(f'tutorial.md shows no number in column "{name}" for {", ".join(missing)}')
    return {row: table[row][name] for row in CLASSES}


def undercount(sections):
    rows = [[float(cell) for cell in line.split()] for line in sections[1][1].splitlines()]
    figure = Figure(760, 360, "Expected Black voters by Black score, and how many of them argmax labels Black")
    left, bottom, wide, high, top = 70, 290, 64, 210, 800
    if max(row[1] for row in rows) > top:
        stop(f"undercount: the axis ends at {top}")
    figure.text(20, 30, "Expected Black voters by their Black score", "title")
    lost = sum(row[1] - row[2] for row in rows)
    legend = [("match", "in rows labeled Black by argmax"), ("argmax", f"in rows with another label: {lost:,.0f}")]
    figure.legend(20, 56, legend)
    for tick in range(0, top + 1, 200):
        y = bottom - high * tick / top
        figure.line(left, y, left + 10 * wide, y)
        figure.text(left - 8, y + 5, f"{tick:,}", "small end")
    for index, (low, expected, labeled) in enumerate(rows):
        x = left + index * wide
        figure.bar(x + 4, bottom - high * labeled / top, wide - 8, high * labeled / top, "match")
        figure.bar(x + 4, bottom - high * expected / top, wide - 8, high * (expected - labeled) / top, "argmax")
        figure.text(x, bottom + 20, f"{low:.1f}", "small middle")
    figure.text(left + 10 * wide, bottom + 20, "1.0", "small middle")
    figure.text(left + 5 * wide, bottom + 46, "Black score", "middle")
    return figure


def panels(figure, top, series, show):
    """Draws one small bar chart for each class, with its own scale: a bar for each pair of a kind and its values."""
    wide, high, gap = 224, 118, 62
    for index, name in enumerate(CLASSES):
        x, y = 30 + (index % 3) * (wide + 18), top + (index // 3) * (high + gap)
        largest = max(values[name] for _, values in series)
        figure.text(x, y, NAMES[name], "title")
        figure.line(x, y + 12 + high, x + wide, y + 12 + high, "axis")
        slot = wide / len(series)
        for place, (kind, values) in enumerate(series):
            height = (high - 20) * values[name] / largest
            figure.bar(x + place * slot + 6, y + 12 + high - height, slot - 12, height, kind)
            figure.text(x + (place + 0.5) * slot, y + 8 + high - height, show(values[name]), "small middle")


def counts(sections, with_truth):
    labeled = tables(sections[2][0], "class")[0]
    scores, argmax, match = (column(labeled, name) for name in ["scores sum to", "argmax", "match"])
    series = [("scores", scores), ("argmax", argmax), ("match", match)]
    legend = [("scores", "sum of the scores"), ("argmax", "most likely class (argmax)"), ("match", "match")]
    if with_truth:
        series.insert(0, ("truth", column(tables(sections[5][0], "class")[0], "truth")))
        legend.insert(0, ("truth", "truth"))
    for kind, values in series:
        if abs(sum(values.values()) - 20_000) > 1:
            stop(f'the counts of "{kind}" do not sum to 20,000 voters')
    figure = Figure(760, 430, "Voters of each class by each way of counting: argmax undercounts most classes")
    figure.text(20, 30, "20,000 voters: how many are there of each class?", "title")
    figure.legend(20, 58, legend)
    panels(figure, 96, series, lambda value: f"{value:,.0f}")
    return figure


def counties(sections):
    figure = Figure(760, 410, "Percent nonwhite in ten counties by labels and by scores")
    figure.text(20, 30, "Nonwhite voters, in percent: the ten counties with the largest error", "title")
    figure.legend(20, 58, [("scores", "by the scores"), ("match", "by the labels")])
    for index, (title, output) in enumerate(zip(["matched statewide", "matched by county"], sections[3], strict=True)):
        left, wide, top = 120 + 380 * index, 230, 96
        figure.text(left, top, title, "title")
        rows = list(tables(output, "group")[0].items())
        for tick in range(0, 101, 25):
            x = left + wide * tick / 100
            figure.line(x, top + 12, x, top + 22 + 26 * len(rows))
            figure.text(x, top + 40 + 26 * len(rows), tick, "small middle")
        for place, (name, row) in enumerate(rows):
            y = top + 28 + 26 * place
            by_labels, by_scores = (left + wide * row[by] / 100 for by in ["% by labels", "% by scores"])
            figure.text(left - 12, y + 5, name, "small end")
            figure.line(by_scores, y, by_labels, y, "match", 2)
            figure.dot(by_scores, y, "scores", 6)
            figure.dot(by_labels, y, "match", 4)
    return figure


def population(sections):
    residents, voters = (tables(output, "class")[0] for output in sections[4])
    series = [
        ("truth", column(voters, "margin, %")),
        ("argmax", column(residents, "mean score, %")),
        ("match", column(voters, "mean score, %")),
    ]
    figure = Figure(760, 430, "Percent of voters in each class: known shares, scores of residents, scores of voters")
    figure.text(20, 30, "Voters of each class, in percent", "title")
    legend = [("truth", "known share"), ("argmax", "scores of residents"), ("match", "scores with --margin")]
    figure.legend(20, 58, legend)
    panels(figure, 96, series, lambda value: f"{value:.1f}")
    return figure


def parts(sections):
    usual = [table for table in tables(sections[5][0], "class") if "miscalibration" in table["white"]]
    audits = usual + tables(sections[5][1], "class")
    titles = ["usual practice", "match", "match, scores of voters"]
    figure = Figure(760, 380, "The error of each count, divided into the part of the scores and the part of the labels")
    figure.text(20, 30, "Error of each count, in percent of the true count", "title")
    legend = [("argmax", "due to the scores (miscalibration)"), ("match", "due to the labels (discretization)")]
    figure.legend(20, 58, legend)
    for index, (title, table) in enumerate(zip(titles, audits, strict=True)):
        left, wide, top = 96 + 222 * index, 200, 96
        scale, middle = wide / 240, left + wide / 2
        figure.text(left, top, title, "title")
        for tick in [-100, -50, 0, 50, 100]:
            x = middle + scale * tick
            figure.line(x, top + 12, x, top + 232, "axis" if tick == 0 else "line")
            figure.text(x, top + 252, f"{tick:+d}" if tick else "0", "small middle")
        for place, name in enumerate(CLASSES):
            y = top + 22 + 36 * place
            if index == 0:
                figure.text(left - 10, y + 16, NAMES[name], "end")
            for offset, kind, part in [(0, "argmax", "miscalibration"), (11, "match", "discretization")]:
                size = scale * column(table, part)[name]
                figure.bar(min(middle, middle + size), y + offset, max(abs(size), 0.8), 9, kind)
    return figure


def turnout(sections):
    estimate = r"([\d.]+) \[([\d.]+), ([\d.]+)\]"
    rows = re.findall(rf"^(\w[\w ]*?) +{estimate} +{estimate}", sections[6][0], re.M)
    shown = {name: [float(value) for value in values] for name, *values in rows}
    names = {"truth": "truth", "argmax": "argmax labels", "your labels": "match by county"}
    names |= {"weighted": "weighted by scores", "BIRDiE": "BIRDiE"}
    figure = Figure(760, 330, "Estimated turnout of white and Black voters, with 95% intervals")
    figure.text(20, 30, "Turnout in percent, with 95% intervals", "title")
    figure.legend(20, 58, [("argmax", "Black voters"), ("match", "white voters")])
    missing = [name for name in names if name not in shown]
    if missing:
        stop(f"tutorial.md shows no estimate by {', '.join(missing)}")
    values = [value for name in names for value in shown[name]]
    low, high = 2 * int(min(values) // 2), 2 * int(max(values) // 2 + 1)
    left, wide, top = 190, 520, 80

    def place(value):
        return left + wide * (value - low) / (high - low)

    for tick in range(low, high + 1, 2):
        figure.line(place(tick), top, place(tick), top + 196)
        figure.text(place(tick), top + 218, tick, "small middle")
    for index, (name, words) in enumerate(names.items()):
        y = top + 22 + 38 * index
        figure.text(left - 14, y + 5, words, "end")
        for kind, first in [("match", 0), ("argmax", 3)]:
            middle, start, end = map(place, shown[name][first : first + 3])
            figure.line(start, y, end, y, kind, 3)
            figure.dot(middle, y, kind, 6)
            if name == "truth":
                figure.line(middle, y, middle, top + 196, kind, 1, dashed=True)
    return figure


def price(sections):
    prices, voter = (line.split(",") for line in sections[7][0].splitlines())
    scores, prices = [float(cell) for cell in voter[1:]], [float(cell) for cell in prices]
    figure = Figure(760, 330, "Score and price of one voter for each class")
    figure.text(20, 30, f"One voter, surname {voter[0].title()}: score plus price of each class", "title")
    figure.legend(20, 58, [("scores", "score"), ("match", "price")])
    left, wide, top = 110, 560, 80
    best = max(range(len(CLASSES)), key=lambda index: scores[index] + prices[index])
    for tick in range(0, 8, 1):
        x = left + wide * tick / 7
        figure.line(x, top, x, top + 206)
        figure.text(x, top + 226, f"{tick / 10:.1f}", "small middle")
    for index, name in enumerate(CLASSES):
        y, score, own = top + 10 + 33 * index, wide * scores[index] / 0.7, wide * prices[index] / 0.7
        figure.text(left - 12, y + 16, NAMES[name], "end title" if index == best else "end")
        figure.bar(left, y, score, 22, "scores")
        figure.bar(left + score, y, own, 22, "match")
        if index == best:
            figure.text(left + score + own + 8, y + 16, "label", "title")
    return figure


def draw():
    """Returns the figures by the names of their files."""
    sections = read_page()
    figures = {
        "undercount": undercount(sections),
        "counts": counts(sections, with_truth=False),
        "counts-and-truth": counts(sections, with_truth=True),
        "counties": counties(sections),
        "population": population(sections),
        "parts": parts(sections),
        "turnout": turnout(sections),
        "price": price(sections),
    }
    return {f"{name}.svg": figure.svg() for name, figure in figures.items()}


def differing(figures):
    """Returns the names of figures that differ from their files."""
    stored = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.svg")}
    return sorted(name for name in figures.keys() | stored.keys() if figures.get(name) != stored.get(name))


def check():
    if names := differing(draw()):
        stop(f"{', '.join(names)}: not drawn from what tutorial.md shows; run python3 docs/figures.py")


def write():
    FOLDER.mkdir(exist_ok=True)
    figures = draw()
    for name in differing(figures):
        if name in figures:
            (FOLDER / name).write_text(figures[name], encoding="utf-8")
        else:
            (FOLDER / name).unlink()


if __name__ == "__main__":
    check() if sys.argv[1:] == ["--check"] else write()
