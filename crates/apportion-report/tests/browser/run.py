"""Opens reports in a headless browser: they are drawn, make no network requests, and agree with --json.

    run.py PROGRAM [--keep FOLDER]

The browser is Debian's chromium. It must be installed: `make test-report` sees to that.
"""
import argparse
import contextlib
import csv
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

import axe_playwright_python
from playwright.sync_api import sync_playwright

from injection import on_injection

AXE = pathlib.Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text()
GROUPS = 3143
# The area inside the margins of A4, in pixels.
PAPER = {"width": 703, "height": 1016}
HOSTILE = "<script>window.pwned=1</script>"
# Names that a page, a chart or a table might interpret as markup.
NAMES = {0: HOSTILE, 1: "<b>bold</b> & <a href='https://example.org'>link</a>", 2: "مقاطعة", 3: "北京市", 4: "%{x} ${y}"}


# Reads the cells of rows: a number is in an attribute if the text is not the whole number.
READ = """all => all.map(row => [...row.cells].map(cell => cell.dataset.value !== undefined ? Number(cell.dataset.value)
    : cell.matches('td:not(.t)') && /\\d/.test(cell.textContent) ? Number(cell.textContent.replaceAll(',', '').replace('−', '-'))
    : cell.textContent))"""


class Checks:
    """Counts passed and failed checks, and continues after a failure."""

    def __init__(self):
        self.passed, self.failed = 0, 0

    @contextlib.contextmanager
    def that(self, what):
        try:
            yield
            self.passed += 1
        except Exception as error:  # pylint: disable=broad-except
            self.failed += 1
            print(f"FAILED: {what}: {error}", file=sys.stderr)


def run(program, *words):
    """Runs the program and returns its output."""
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{words}: {done.stderr}"
    return done.stdout


def squares(groups):
    """Makes a map of squares, one per group, that spans the United States from coast to coast."""
    def feature(place):
        x, y = place % 60, place // 60
        ring = [[x, y], [x + 1, y], [x + 1, y + 1], [x, y + 1], [x, y]]
        ring = [[-124 + a * 0.95, 24.5 + b * 0.45] for a, b in ring]
        return {"type": "Feature", "properties": {"code": groups[place]}, "geometry": {"type": "Polygon", "coordinates": [ring]}}

    return {"type": "FeatureCollection", "features": [feature(place) for place in range(len(groups))]}


def many_groups(program, folder):
    """Makes a table of 3,143 groups with unusual names, its map, and its report."""
    voters = folder / "made.csv"
    run(program, "simulate", "voters", "--rows", 6 * GROUPS + 200, "-o", voters, "-q", "--force")
    names = [NAMES.get(group, f"{1001 + group:05}") for group in range(GROUPS)]
    with open(voters, newline="") as source, open(folder / "many.csv", "w", newline="") as target:
        rows = csv.DictReader(source)
        writer = csv.DictWriter(target, rows.fieldnames + ["place"])
        writer.writeheader()
        for number, row in enumerate(rows):
            writer.writerow({**row, "place": names[number % GROUPS]})
    (folder / "squares.json").write_text(json.dumps(squares(names)))
    words = ["compare", folder / "many.csv", "--by", "place", "--truth", "race", "-q", "--geometry", folder / "squares.json"]
    classes = f"white,{HOSTILE},<i>hispanic</i>,asian,aian,other"
    # The truth's values are mapped to classes with other names, which contain markup.
    mapped = f"black={HOSTILE},hispanic=<i>hispanic</i>"
    words += ["--classes", classes, "--truth-map", mapped, "--report", folder / "many.html", "--json", "--force"]
    return json.loads(run(program, *words))


def opened(browser, path, faults, **context):
    """Opens a page, waits until it is drawn, and collects errors."""
    page = browser.new_context(**context).new_page()
    page.on("console", lambda message: faults.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    here = path.as_uri()
    page.on("request", lambda request: None if request.url.startswith((here, "data:", "blob:")) else faults.append(request.url))
    page.goto(here)
    page.wait_for_selector("html[data-ready=yes]", state="attached", timeout=120_000)
    return page


def check_drawn(page, least=5):
    """Checks the number of charts, and that every chart has marks and keeps its text inside."""
    ids = page.eval_on_selector_all("figure.chart", "all => all.map(one => one.id)")
    assert len(ids) >= least, ids
    for chart in ids:
        drawn = page.evaluate(
            """id => { const plot = document.querySelector(`#${id} .plot`), box = plot.getBoundingClientRect();
            const marks = plot.querySelectorAll('path.point, g.point path, g.points path, .choroplethlayer path, path.js-line').length;
            const texts = [...plot.querySelectorAll('.main-svg text')].filter(text => text.textContent.trim());
            const out = texts.filter(text => { const own = text.getBoundingClientRect();
                return own.width && (own.left < box.left - 1 || own.right > box.right + 1 || own.top < box.top - 1 || own.bottom > box.bottom + 1); });
            return { marks, height: box.height, out: out.map(text => text.textContent), texts: texts.length }; }""",
            chart,
        )
        assert drawn["marks"] > 0 and drawn["height"] > 100 and drawn["texts"] > 0, (chart, drawn)
        assert not drawn["out"], f"cut off in {chart}: {drawn['out']}"
    wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert wide <= 0, f"the page is {wide} wider than the window"


def check_apart(page):
    """Checks that no texts of a chart overlap."""
    over = page.evaluate(
        """() => [...document.querySelectorAll('figure.chart')].flatMap(figure => {
        const texts = [...figure.querySelectorAll('.plot .main-svg text')].filter(text => text.textContent.trim());
        const boxes = texts.map(text => [text.textContent, text.getBoundingClientRect()]).filter(([, box]) => box.width);
        const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
        return boxes.flatMap(([name, box], place) => boxes.slice(place + 1).filter(([, other]) => meet(box, other))
            .map(([other]) => `${figure.id}: ${name} / ${other}`)); })"""
    )
    assert not over, over[:10]


def check_tight(page):
    """Checks that labels of an axis keep a distance, and that there is no large gap above a legend."""
    close = page.evaluate(
        """() => [...document.querySelectorAll('figure.chart')].flatMap(figure => {
        const ticks = [...figure.querySelectorAll('.plot .xtick text')].map(text => [text.textContent, text.getBoundingClientRect()]);
        const near = (a, b) => Math.abs(a.top - b.top) < 4 && b.left > a.left && b.left - a.right < 5;
        return ticks.flatMap(([name, box]) => ticks.filter(([, other]) => near(box, other)).map(([other]) => `${figure.id}: ${name} / ${other}`)); })"""
    )
    assert not close, close[:10]
    gaps = page.evaluate(
        """() => [...document.querySelectorAll('figure.chart')].filter(figure => figure.querySelector('.plot g.legend')).map(figure => {
        const legend = figure.querySelector('.plot g.legend').getBoundingClientRect().top;
        const above = [...figure.querySelectorAll('.plot [class^=g-x] text')].map(text => text.getBoundingClientRect().bottom);
        return [figure.id, Math.round(legend - Math.max(...above))]; })"""
    )
    assert gaps and all(0 <= gap <= 30 for _, gap in gaps), gaps


def check_phone(page):
    """Checks that the key figures are visible on a phone without scrolling: the class or group, its count and its error."""
    for table, columns in (("classes", 4), ("groups-table", 4), ("rules-table", 2), ("stop-counts", 4)):
        hidden = page.evaluate(
            """([id, columns]) => [...document.querySelectorAll(`#${id} tbody tr`)].filter(row => row.checkVisibility()).slice(0, 8)
            .flatMap(row => [...row.cells].slice(0, columns)).filter(cell => cell.getBoundingClientRect().right > innerWidth - 14)
            .map(cell => cell.textContent)""",
            [table, columns],
        )
        assert not hidden, (table, hidden)


def check_printed(page):
    """Checks that each chart fits a printed page and nothing is wider. The window must be as wide as paper."""
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    # The page's security policy forbids the browser's own wait function.
    drawn = """[...document.querySelectorAll('.plot')].every(plot => plot._fullLayout
        ? plot._fullLayout.width === 650 && plot.offsetHeight <= plot._fullLayout.height + 1
        : plot.querySelector('svg').getAttribute('width') === '650')"""
    for _ in range(300):
        if page.evaluate(drawn):
            break
        page.wait_for_timeout(200)
    page.wait_for_timeout(500)
    wide = page.evaluate(
        """() => [...document.querySelectorAll('main *')].filter(one => one.offsetParent && !one.closest('.plot, .hidden') && one.getBoundingClientRect().right > 704)
        .map(one => `${one.closest('[id]').id}: ${one.tagName} ${one.textContent.slice(0, 40)}`)"""
    )
    assert not wide, wide[:5]
    tall = page.evaluate("[...document.querySelectorAll('figure.chart')].filter(one => one.offsetHeight > 1016).map(one => one.id)")
    assert not tall, tall
    check_apart(page)


def check_alone(page, faults):
    """Checks that there were no requests, no console messages, and no elements injected by a name."""
    assert not faults, faults
    assert page.evaluate("window.pwned") is None
    assert page.evaluate("document.querySelectorAll('main b, main i, main a').length") == 0
    assert page.evaluate("[...document.querySelectorAll('.plot a')].length") == 0


def check_slider(page, frontier, counts_at):
    """Checks that the slider's numbers are those of the frontier, that the axes stay, and that its command gives these counts."""
    points = frontier["points"]
    assert int(page.get_attribute("#stop", "max")) == len(points) - 1
    ranges = "(layout => JSON.stringify([layout.xaxis.range, layout.yaxis.range]))(document.querySelector('#chart-trade .plot')._fullLayout)"
    before = page.evaluate(ranges)
    for place in (0, len(points) // 3, len(points) - 1):
        page.eval_on_selector("#stop", "(one, place) => { one.value = place; one.dispatchEvent(new Event('input')); }", place)
        point = points[place]
        shown = {name: float(page.inner_text(f"#{name}").replace("−", "-")) for name in ("gamma", "accuracy", "fidelity")}
        assert point["from_gamma"] <= shown["gamma"] <= point["to_gamma"], (shown, point)
        assert [shown["accuracy"], shown["fidelity"]] == [round(point[name], 4) for name in ("accuracy", "fidelity")], shown
        counts = page.eval_on_selector_all("#stop-counts tbody tr", "all => all.map(row => Number(row.cells[1].dataset.value))")
        assert counts == point["counts"], (counts, point)
        page.wait_for_timeout(100)
        assert page.evaluate(ranges) == before, "the axes moved"
        command = page.inner_text("#command")
        assert command.startswith("apportion label … --rule balance --gamma "), command
        # Balance uses the exact reference and the frontier the rounded targets, so counts can differ by one person per class.
        counts = zip(counts_at(command.rsplit(" ", 1)[1]), point["counts"])
        assert all(abs(label - frontier) <= 1 for label, frontier in counts), command
    page.focus("#stop")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert page.input_value("#stop") == "1" and page.get_attribute("#stop", "aria-valuetext")


def contrast(one, other):
    """Returns the contrast of two CSS colors, by WCAG 2."""
    def luminance(color):
        parts = [float(part) / 255 for part in re.findall(r"[\d.]+", color)[:3]]
        parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def check_tips(page):
    """Checks that terms and marks have tooltips with enough contrast."""
    term = page.locator("#answer .lead .term").first
    term.focus()
    assert page.locator("#tip").is_visible()
    wanted = page.evaluate("id => document.getElementById(id).textContent", term.get_attribute("aria-describedby"))
    assert page.inner_text("#tip") == wanted, wanted
    colors = page.evaluate("(style => [style.color, style.backgroundColor])(getComputedStyle(document.getElementById('tip')))")
    assert contrast(*colors) >= 4.5, colors
    page.keyboard.press("Escape")
    assert not page.locator("#tip").is_visible()
    for chart, mark in (("counts", "g.point path"), ("trade", "path.point"), ("groups", "path.point")):
        plot = page.locator(f"#chart-{chart} .plot")
        plot.scroll_into_view_if_needed()
        box = plot.locator(mark).first.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.wait_for_timeout(300)
        colors = page.evaluate(
            """id => [...document.querySelectorAll(`#${id} g.hovertext`)].map(tip =>
            [getComputedStyle(tip.querySelector('text')).fill, getComputedStyle(tip.querySelector('path')).fill])""",
            f"chart-{chart}",
        )
        assert colors and all(contrast(*pair) >= 4.5 for pair in colors), (chart, colors)
        page.mouse.move(2, 2)


def check_rules(page, rules):
    """Checks that three rules are shown, and all on demand."""
    rows = "[...document.querySelectorAll('#rules-table tbody tr')].filter(row => row.checkVisibility()).map(row => row.cells[0].textContent)"
    bars = "document.querySelector('#chart-counts-percent .plot').data[0].y.length"
    main = page.evaluate(rows)
    assert page.inner_text("#all-rules") == f"Show {rules - 3} more rules"
    spans = "[...document.querySelectorAll('#groups-table .spans > *')].filter(one => one.checkVisibility()).reduce((sum, one) => sum + one.colSpan, 0)"
    heads = "[...document.querySelectorAll('#groups-table thead tr:last-child th')].filter(one => one.checkVisibility()).length"
    assert page.evaluate(spans) == page.evaluate(heads)
    assert main == ["argmax", "match", "match by group"] and page.evaluate(bars) == 3, main
    page.click("#all-rules")
    page.wait_for_timeout(500)
    assert page.evaluate(rows)[:3] == main and len(page.evaluate(rows)) == rules and page.evaluate(bars) == rules
    assert page.get_attribute("#all-rules", "aria-pressed") == "true"
    assert page.evaluate(spans) == page.evaluate(heads)
    check_drawn(page)
    page.click("#all-rules")
    page.wait_for_timeout(500)
    assert page.evaluate(rows) == main and page.evaluate(bars) == 3


def check_map(page):
    """Checks that choosing another class changes the colors of the map, and that it can be saved."""
    fills = "[...document.querySelectorAll('#chart-map path')].map(path => path.getAttribute('fill')).join()"
    before = page.evaluate(fills)
    page.select_option("#map-view", index=1)
    page.wait_for_timeout(200)
    assert page.evaluate(fills) != before
    chosen = page.eval_on_selector("#map-view", "view => view.selectedOptions[0].textContent")
    assert f" {chosen} " in page.inner_text("#map .lead"), page.inner_text("#map .lead")
    page.select_option("#map-view", index=0)
    page.wait_for_timeout(200)
    assert page.evaluate(fills) == before
    with page.expect_download() as waiting:
        page.locator("#chart-map .save").click()
    text = pathlib.Path(waiting.value.path()).read_text()
    assert text.startswith("<svg") and text.count("<path") > 100 and "match by group" in text, text[:80]


def check_numbers(page, compared):
    """Checks that the tables agree with --json."""
    heads = page.eval_on_selector_all("#rules-table thead th", "all => all.map(head => head.textContent.trim())")
    rules = {row[0]: dict(zip(heads, row)) for row in page.eval_on_selector_all("#rules-table tbody tr", READ)}
    counts = {row[0]: row[1:] for row in page.eval_on_selector_all("#counts-table tbody tr", READ)}
    assert len(rules) == len(compared), (list(rules), len(compared))
    for own in compared:
        row = rules[own["rule"]]
        for head, value in [
            ("Accuracy", own["accuracy"]),
            ("Expected accuracy", own["expected_accuracy"]),
            ("Fidelity to the scores", own["fidelity"]["posterior"]),
            ("Fidelity to the truth", own["fidelity"]["truth"]),
            ("Fidelity within groups", own["fidelity"]["posterior_in_groups"]),
        ]:
            assert row[head] == value, (own["rule"], head, row[head], value)
        below = own["frontier_gap"]
        assert row["Frontier gap"] == ("–" if below is None else below), (own["rule"], row, below)
        assert counts[own["rule"]] == own["counts"] + [own["people"] - own["labeled"]], own["rule"]


def check_table(page, groups, word):
    """Checks that the table of groups sorts in both directions and can be searched."""
    rows = lambda: [row[:2] for row in page.eval_on_selector_all("#groups-table tbody tr:not([hidden])", READ)]
    assert len(rows()) == groups
    sort = page.locator("#groups-table thead .sort").nth(1)
    for way, reverse in (("descending", True), ("ascending", False)):
        sort.focus()
        page.keyboard.press("Enter")
        people = [people for _, people in rows()]
        assert people == sorted(people, reverse=reverse), way
        assert page.locator("#groups-table thead tr:last-child th").nth(1).get_attribute("aria-sort") == way
    page.fill("#groups-table-search", word)
    found = [name for name, _ in rows()]
    assert found and all(word.lower() in name.lower() for name in found), found
    assert page.inner_text("#groups-table .found").startswith(str(len(found)))
    page.fill("#groups-table-search", "")
    assert len(rows()) == groups


def check_classes(page, audit, told):
    """Checks figures by class and county against `audit --json`, and that very small groups are hidden."""
    near = lambda a, b: a == b if None in (a, b) else abs(a - b) < 1e-7
    rows = {(row[0].removesuffix(" °"), row[1]): row[2:] for row in page.eval_on_selector_all("#groups-classes tbody tr", READ)}
    assert len(rows) == len(told) * len(audit["classes"]), len(rows)
    for group in told:
        for place, name in enumerate(audit["classes"]):
            truth, scores, *errors = rows[group["group"], name]
            labels, people = group["counts"][place], group["people"]
            assert truth == group["truth_counts"][place], (group["group"], name)
            assert errors[0] == labels - truth, (group["group"], name)
            assert near(scores / people, labels / people - group["bias"]["posterior"][place]), (group["group"], name)
            # The rules are in the same order for both references: argmax is the first.
            assert abs(errors[len(errors) // 2] - (labels - scores)) <= 0.5, (group["group"], name)
    # All classes but the largest, together.
    focus = audit["classes"].index(audit["focus"])
    others = lambda counts: sum(counts) - counts[focus]
    rows = {row[0].removesuffix(" °"): row for row in page.eval_on_selector_all("#groups-table tbody tr", READ)}
    for group in told:
        _, people, truth, _, error, *_ = rows[group["group"]]
        wanted = [group["people"], others(group["truth_counts"]), others(group["counts"]) - others(group["truth_counts"])]
        assert [people, truth, error] == wanted, group["group"]
    # The first sentence names the group with the largest error in people.
    errors = [(abs(labels - truth), group["group"]) for group in told for labels, truth in zip(group["counts"], group["truth_counts"])]
    assert f" argmax are {max(errors)[1]} (" in page.inner_text("#groups .lead"), (max(errors), page.inner_text("#groups .lead"))
    for table, reference in (("bias-truth", "truth"), ("bias-scores", "posterior")):
        rules = {row[0]: row[1:] for row in page.eval_on_selector_all(f"#{table} tbody tr", READ)}
        assert all(near(own / 100, bias) for own, bias in zip(rules["argmax"], audit["bias"][reference])), table


def check_views(page):
    """Checks that the points, the first sentence, the axis and the note follow the chosen view."""
    where = "document.querySelector('#chart-groups .plot').data[0].y.slice(0, 20).join()"
    before, lead = page.evaluate(where), page.inner_text("#groups .lead")
    views = page.eval_on_selector_all("#groups-view option", "all => all.map(option => [option.textContent, option.parentElement.label])")
    index = views.index(["match by group", "compared with the scores"])
    page.select_option("#groups-view", index=index)
    page.wait_for_timeout(300)
    assert page.evaluate(where) != before
    assert page.inner_text("#groups .lead").startswith("Compared with the scores, match by group"), page.inner_text("#groups .lead")
    assert page.locator("#groups .lead .term").count() > 0
    assert page.text_content("#chart-groups .plot .ytitle") == "labels minus scores, points"
    # Triangles at the edge stand for groups beyond the axis, which the note counts.
    note, beyond = page.inner_text("#chart-groups .note-of-view"), page.evaluate("[1, 2].flatMap(trace => document.querySelector('#chart-groups .plot').data[trace].y).length")
    assert beyond > 0 and note.startswith(f"Triangles at the edge: {beyond} count"), (beyond, note)
    page.select_option("#groups-view", index=0)
    page.wait_for_timeout(300)
    assert page.evaluate(where) == before and page.inner_text("#groups .lead") == lead


def check_keyboard(page):
    """Checks that Tab reaches every control."""
    controls = "button, select, input, a[href], summary, [tabindex='0']"
    count = page.evaluate("list => [...document.querySelectorAll(list)].filter(one => one.checkVisibility() || one.closest('.skip')).length", controls)
    page.evaluate("document.activeElement.blur(); window.scrollTo(0, 0); window.reached = new Set();")
    for _ in range(count + 5):
        page.keyboard.press("Tab")
        page.evaluate("window.reached.add(document.activeElement)")
    missed = page.evaluate(
        "list => [...document.querySelectorAll(list)].filter(one => (one.checkVisibility() || one.closest('.skip')) && !window.reached.has(one)).map(one => one.outerHTML.slice(0, 80))",
        controls,
    )
    assert not missed, missed


def check_axe(page):
    """Checks that axe finds no serious violation outside of the charts."""
    page.evaluate(AXE)
    result = page.evaluate("axe.run({ exclude: [['.plot']] }, { resultTypes: ['violations'] })")
    serious = [own for own in result["violations"] if own["impact"] in ("serious", "critical")]
    told = [(own["id"], [node["html"][:90] for node in own["nodes"][:3]]) for own in serious]
    assert not serious, told


def check_save(page):
    """Checks that a chart can be saved as SVG."""
    with page.expect_download() as waiting:
        page.locator("#chart-trade .save").click()
    text = pathlib.Path(waiting.value.path()).read_text()
    assert text.startswith("<svg") and "expected accuracy" in text, text[:80]


def look(page, folder, name, **options):
    """Saves a screenshot, if requested."""
    if folder:
        page.screenshot(path=folder / f"{name}.png", full_page=True, **options)


def on_demo(checks, browser, program, folder, keep):
    """Checks the demo's report: wide and narrow, light and dark, and in print."""
    demo = folder / "demo"
    run(program, "demo", "--rows", 20000, "--folder", demo, "--figures", folder / "figures")
    words = [demo / "voters.parquet", "--truth", "race", "-q", "--json"]
    compared = json.loads(run(program, "compare", *words, "--by", "county"))
    frontier = json.loads(run(program, "frontier", *words, "--points", 200))
    # The page is about argmax, so it is compared with an audit of argmax.
    run(program, "label", demo / "voters.parquet", "--rule", "argmax", "-o", folder / "argmax.parquet", "-q")
    words = ["audit", folder / "argmax.parquet", "--label", "label", "--truth", "race", "--by", "county", "-q", "--json"]
    audit = json.loads(run(program, *words))
    told = [own for own in audit["groups"] if own["rows"] >= 5]
    report, faults = demo / "report.html", []
    print(f"demo: {report.stat().st_size:,} bytes")
    with checks.that("the demonstration's page is no larger than 1.6 MB"):
        assert report.stat().st_size <= 1_600_000, report.stat().st_size
    counts_at = lambda gamma: json.loads(
        run(program, "label", demo / "voters.parquet", "--rule", "balance", "--gamma", gamma, "-o", folder / "at.csv", "-q", "--json", "--force")
    )["counts"]
    page = opened(browser, report, faults, viewport={"width": 1240, "height": 900}, color_scheme="light")
    look(page, keep, "light")
    with checks.that("charts are drawn"):
        check_drawn(page)
    with checks.that("the slider goes along the frontier"):
        check_slider(page, frontier, counts_at)
    with checks.that("numbers are those of --json"):
        check_numbers(page, compared)
    with checks.that("no text lies over another"):
        check_apart(page)
    with checks.that("labels keep a distance, legends do not"):
        check_tight(page)
    with checks.that("the table sorts and filters"):
        check_table(page, len(told), "dur")
    with checks.that("classes in counties are those of the audit"):
        check_classes(page, audit, told)
    with checks.that("views change"):
        check_views(page)
    with checks.that("the map shows one class of several"):
        check_map(page)
    with checks.that("three rules are shown, and all on demand"):
        check_rules(page, len(compared))
    with checks.that("tooltips explain terms and can be read"):
        check_tips(page)
    with checks.that("controls are reached by keyboard"):
        check_keyboard(page)
    with checks.that("axe finds nothing serious, light"):
        check_axe(page)
    with checks.that("charts are saved as SVG"):
        check_save(page)
    with checks.that("the figures are there, fit for Plotly"):
        for spec in (folder / "figures").glob("*.json"):
            own = json.loads(spec.read_text())
            assert own["data"] and own["layout"] and spec.with_suffix(".csv").stat().st_size > 20, spec
    with checks.that("nobody's identifier or surname is in the page"):
        text = report.read_text()
        with_surnames = run(program, "label", demo / "voters.parquet", "-o", "-", "-q")
        surnames = {row["surname"] for row in csv.DictReader(with_surnames.splitlines()[:300])}
        shown = [name for name in surnames if len(name) > 5 and name in text]
        assert not shown, shown
    with checks.that("the page is alone"):
        check_alone(page, faults)
    if keep:
        page.emulate_media(media="print")
        page.pdf(path=keep / "printed.pdf", format="A4", print_background=True)
    for name, width, scheme in (("dark", 1240, "dark"), ("narrow", 390, "light")):
        page = opened(browser, report, faults, viewport={"width": width, "height": 850}, color_scheme=scheme)
        look(page, keep, name)
        with checks.that(f"charts are drawn, {name}"):
            check_drawn(page)
        with checks.that(f"no text lies over another, {name}"):
            check_apart(page)
        with checks.that(f"axe finds nothing serious, {name}"):
            check_axe(page)
        with checks.that(f"labels keep a distance, legends do not, {name}"):
            check_tight(page)
        if name == "narrow":
            with checks.that("key figures are visible on a phone"):
                check_phone(page)
        if scheme == "dark":
            with checks.that("tooltips explain terms and can be read, dark"):
                check_tips(page)
    page = opened(browser, report, faults, viewport={"width": 1400, "height": 900})
    with checks.that("the page is no higher than 7,560 pixels"):
        height = page.evaluate("document.documentElement.scrollHeight")
        print(f"demo: {height:,} pixels high")
        assert height <= 7560, height
    page = opened(browser, report, faults, viewport=PAPER, color_scheme="dark")
    with checks.that("printed"):
        check_printed(page)
    with checks.that("the pages are alone"):
        check_alone(page, faults)


LONG = [
    "White neither Hispanic nor Latino", "Black or African American alone", "MiddleEasternOrNorthAfricanAlone", "Puerto Rican",
    "American Indian & Alaska Native",
]


def on_classes(checks, browser, program, folder, keep):
    """Checks that nothing overlaps or is cut off with twenty long class names, on a screen, a phone and in print."""
    classes = [LONG[place] if place < len(LONG) else f"The class number {place + 1} of twenty" for place in range(20)]
    draw = random.Random(1)
    with open(folder / "classes.csv", "w", newline="") as target:
        writer = csv.writer(target)
        writer.writerow([f"p_{place}" for place in range(20)] + ["truth", "county"])
        for row in range(2000):
            parts = [draw.gammavariate(1.5 * 0.75**place, 1) + 1e-9 for place in range(20)]
            truth = draw.choices(classes, parts)[0]
            writer.writerow([f"{part / sum(parts):.9f}" for part in parts] + [truth, f"County {row % 25}"])
    report, faults = folder / "classes.html", []
    words = ["compare", folder / "classes.csv", "--classes", ",".join(classes), "--truth", "truth", "--by", "county"]
    run(program, *words, "--report", report, "-q", "--normalize")
    for name, width in (("classes", 1240), ("classes-narrow", 390)):
        page = opened(browser, report, faults, viewport={"width": width, "height": 900}, color_scheme="light")
        look(page, keep, name)
        with checks.that(f"twenty classes: charts are drawn, {name}"):
            check_drawn(page, least=10)
        with checks.that(f"twenty classes: no text lies over another, {name}"):
            check_apart(page)
        with checks.that(f"twenty classes: axe finds nothing serious, {name}"):
            check_axe(page)
    with checks.that("twenty classes: all names are in the page"):
        text = page.inner_text("main")
        assert all(name in text for name in classes), [name for name in classes if name not in text]
    page = opened(browser, report, faults, viewport=PAPER, color_scheme="light")
    with checks.that("twenty classes: printed"):
        check_printed(page)
    if keep:
        page.pdf(path=keep / "classes-printed.pdf", format="A4", print_background=True)
    with checks.that("twenty classes: the page is alone"):
        check_alone(page, faults)


FONTS = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>{fonts}</dir><cachedir>{cache}</cachedir></fontconfig>"""


def on_fonts(checks, browser, program, folder, keep):
    """Checks that pages with six and twenty classes fit on paper with one family of fonts installed, whichever it is."""
    for family in ("dejavu", "liberation"):
        fonts = pathlib.Path("/usr/share/fonts/truetype") / family
        if not fonts.is_dir():
            print(f"printing with {family} fonts is not tested: they are not installed")
            continue
        config = folder / f"{family}.conf"
        config.write_text(FONTS.format(fonts=fonts, cache=folder / family))
        environment = {**os.environ, "FONTCONFIG_FILE": str(config)}
        own = browser.browser_type.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"], env=environment)
        for report in (folder / "demo" / "report.html", folder / "classes.html"):
            faults = []
            page = opened(own, report, faults, viewport=PAPER, color_scheme="light")
            with checks.that(f"printed with {family} fonts: {report.name}"):
                check_printed(page)
        own.close()


def on_many(checks, browser, program, folder, keep):
    """Checks a report of 3,143 groups, with hostile names."""
    compared, faults = many_groups(program, folder), []
    page = opened(browser, folder / "many.html", faults, viewport={"width": 1240, "height": 900})
    look(page, keep, "many")
    with checks.that("3,143 groups: charts are drawn"):
        check_drawn(page)
    with checks.that("3,143 groups: numbers are those of --json"):
        check_numbers(page, compared)
    with checks.that("3,143 groups: the table sorts and filters"):
        check_table(page, GROUPS, "<script>")
    with checks.that("3,143 groups: the page is alone, and names stay text"):
        check_alone(page, faults)


def on_paper(checks, browser, program, folder, keep):
    """Checks the page of the reproduced paper."""
    paper, faults = folder / "paper", []
    run(program, "reproduce", "-o", paper, "-q", "--datasets", 4, "--rows", 500, "--voters", 2000)
    for name, width, scheme in (("paper", 1240, "light"), ("paper-dark", 1240, "dark"), ("paper-narrow", 390, "light")):
        page = opened(browser, paper / "report.html", faults, viewport={"width": width, "height": 900}, color_scheme=scheme)
        look(page, keep, name)
        with checks.that(f"charts are drawn, {name}"):
            check_drawn(page, least=4)
        with checks.that(f"axe finds nothing serious, {name}"):
            check_axe(page)
        with checks.that(f"the page is alone, {name}"):
            check_alone(page, faults)


def main():
    """Checks all pages in one browser."""
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for pictures")
    parser.add_argument("--injection", type=pathlib.Path, help="a file for the number of injection trials, which alone are run")
    args = parser.parse_args()
    if args.keep:
        args.keep.mkdir(parents=True, exist_ok=True)
    checks, begin = Checks(), time.monotonic()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for part in () if args.injection else (on_demo, on_classes, on_fonts, on_many, on_paper):
            part(checks, browser, args.program, pathlib.Path(folder), args.keep)
        trials = on_injection(checks, browser, args.program, pathlib.Path(folder), args.keep, run, opened)
        browser.close()
    if args.injection:
        args.injection.write_text(json.dumps({"failures": checks.failed, "trials": trials}, indent=2) + "\n")
    print(f"in {time.monotonic() - begin:.0f} s")
    print(f"{checks.passed} passed, {checks.failed} failed")
    sys.exit(1 if checks.failed else 0)


if __name__ == "__main__":
    main()
