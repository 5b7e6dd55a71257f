"""Untrusted names and values in reports: a page and its Markdown show them as text, whatever they contain.

Every payload goes into every place that a table's author controls: classes, groups, columns, file names, truth, outcomes,
outlines and titles. A trial is one payload in one place of one report.
"""
import csv
import html.parser
import json
import random

from markdown_it import MarkdownIt

RUN = "window.pwned=1"
PAYLOADS = [
    f"<script>{RUN}</script>",
    f"</script><script>{RUN}</script>",
    f"<img src=x onerror={RUN}>",
    f"<svg/onload={RUN}>",
    f"<svg><script>{RUN}</script></svg>",
    f"\" onmouseover=\"{RUN}",
    f"' onfocus='{RUN}' autofocus='",
    f"\"><img src=x onerror={RUN}>",
    f"'><svg onload={RUN}>",
    f"</title><script>{RUN}</script>",
    f"</style><script>{RUN}</script>",
    f"</textarea><img src=x onerror={RUN}>",
    f"--><script>{RUN}</script>",
    f"<!--<script>{RUN}",
    f"]]><script>{RUN}</script>",
    f"<a href=\"javascript:{RUN}\">a</a>",
    "<a href='https://evil.example/'>link</a>",
    f"javascript:{RUN}",
    "<iframe src=//evil.example></iframe>",
    f"<iframe srcdoc='<script>parent.{RUN}</script>'></iframe>",
    f"<object data=\"javascript:{RUN}\"></object>",
    "<embed src=//evil.example>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<base href=//evil.example/>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "<form action=//evil.example><input name=q></form>",
    f"<details open ontoggle={RUN}>",
    f"<video><source onerror={RUN}></video>",
    f"<math><mtext></mtext><script>{RUN}</script></math>",
    "<style>*{display:none}</style>",
    f"&lt;script&gt;{RUN}&lt;/script&gt;",
    f"&#60;script&#62;{RUN}&#60;/script&#62;",
    f"\\u003cscript\\u003e{RUN}\\u003c/script\\u003e",
    f"`${{{RUN}}}`",
    "{{7*7}} {% raw %} ${7*7}",
    "%{x} %{customdata[0]} <extra></extra>",
    "<b>bold</b><br><i>x</i>",
    f"[a](javascript:{RUN})",
    "![x](https://evil.example/x.png)",
    "| a | b |",
    "# heading",
    "``` fence",
    "<https://evil.example>",
    "__proto__",
    "constructor",
    "toString",
    "a\u202etxt.exe",
    "a\u2028b\u2029c",
    "=cmd|' /C calc'!A0",
    "'; DROP TABLE labels; --",
]
CLASSES = 25  # payloads used as classes in one report; all are groups
ROWS = 12  # per group: groups with fewer than five people are hidden
# Finds elements that the page itself does not have; they can only come from a name.
FOREIGN = """() => [...document.querySelectorAll('*')].filter(one => {
    const handlers = [...one.attributes].some(attribute => attribute.name.startsWith('on'));
    const link = one.getAttribute('href') ?? one.getAttribute('xlink:href') ?? one.getAttribute('src') ?? '';
    const away = link && !/^(#|data:image|blob:)/.test(link);
    const kind = ['IFRAME', 'OBJECT', 'EMBED', 'LINK', 'BASE', 'FORM', 'VIDEO', 'AUDIO', 'MATH', 'TEXTAREA'].includes(one.tagName.toUpperCase())
        || one.matches('details') && !one.parentElement.matches('.table[id]');
    const refresh = one.tagName === 'META' && one.httpEquiv.toLowerCase() === 'refresh';
    return handlers || away || kind || refresh; }).map(one => one.outerHTML.slice(0, 120))"""
TAGS = {"h1", "h2", "h3", "h4", "p", "table", "thead", "tbody", "tr", "th", "td", "pre", "code", "em", "strong", "ul", "ol", "li", "br", "hr"}


class Tags(html.parser.HTMLParser):
    """The tags of rendered Markdown, and attributes other than alignment."""

    def __init__(self):
        super().__init__()
        self.foreign, self.text = [], []

    def handle_starttag(self, tag, attrs):
        more = [name for name, value in attrs if name not in ("style", "class") or "url" in (value or "")]
        if tag not in TAGS or more:
            self.foreign.append(self.get_starttag_text())

    def handle_data(self, data):
        self.text.append(data)


def write_table(folder, first):
    """Writes a table whose columns, classes, groups, truth and outcome are payloads. Its classes start at a payload."""
    classes = [PAYLOADS[(first + place) % len(PAYLOADS)] for place in range(CLASSES)]
    names = {"by": PAYLOADS[first % len(PAYLOADS)] + " by", "truth": PAYLOADS[(first + 1) % len(PAYLOADS)] + " truth",
             "outcome": PAYLOADS[(first + 2) % len(PAYLOADS)] + " outcome", "title": PAYLOADS[(first + 3) % len(PAYLOADS)] + " title"}
    draw = random.Random(first)
    path = folder / f"t{first} <img src=x onerror={RUN}> \"'`.csv"
    with open(path, "w", newline="") as target:
        writer = csv.writer(target)
        columns = [names[key] for key in ("by", "truth", "outcome")]
        writer.writerow([f"q_{name}" for name in classes] + columns + ["label"])
        for row in range(ROWS * len(PAYLOADS)):
            parts = [draw.gammavariate(0.6, 1) + 1e-6 for _ in classes]
            scores = [part / sum(parts) for part in parts]
            truth, label = draw.choices(classes, parts)[0], classes[scores.index(max(scores))]
            outcome = PAYLOADS[row % 7]
            writer.writerow([f"{score:.9f}" for score in scores] + [PAYLOADS[row % len(PAYLOADS)], truth, outcome, label])
    outlines = [{"type": "Feature", "properties": {"code": name, name: name}, "geometry": {"type": "Polygon", "coordinates": [
        [[place, 0], [place + 1, 0], [place + 1, 1], [place, 1], [place, 0]]]}} for place, name in enumerate(PAYLOADS)]
    (folder / f"outlines{first}.json").write_text(json.dumps({"type": "FeatureCollection", "features": outlines}))
    return path, classes, names


def commands(path, names, folder, first, ending):
    """Returns every command that writes a report."""
    # Lists of columns are split at commas; no payload contains one.
    table = [path, "--scores", "q_*", "--normalize", "-q", "--force"]
    by = ["--by", names["by"]]
    outlines = ["--geometry", folder / f"outlines{first}.json", "--geometry-key", "code"]
    report = lambda name: ["--report", folder / f"{name}{first}{ending}", f"--title={names['title']}"]
    truth, outcome = ["--truth", names["truth"]], ["--outcome", names["outcome"]]
    yield "compare", ["compare", *table, *by, *truth, *outlines, *report("compare")]
    yield "audit", ["audit", *table, *by, *truth, *outcome, "--label", "label", *report("audit")]
    yield "label", ["label", *table, *by, "-o", folder / f"o{first}.csv", "--as", "new", *report("label")]
    yield "disparity", ["disparity", *table, *by, *outcome, *report("disparity")]


def check_page(page, faults, text_of):
    """Checks that no script ran, no request was made, and the page has no foreign elements."""
    policy = page.get_attribute("meta[http-equiv='Content-Security-Policy']", "content")
    assert policy and policy.startswith("default-src 'none'"), policy
    page.mouse.move(300, 300)
    for chart in page.query_selector_all("figure.chart .plot")[:6]:
        chart.scroll_into_view_if_needed()
        chart.hover(timeout=5000, force=True)
    page.wait_for_timeout(200)
    assert page.evaluate("window.pwned") is None, "a payload ran"
    assert not faults, faults[:3]
    foreign = page.evaluate(FOREIGN)
    assert not foreign, foreign[:3]
    return text_of(page)


def check_markdown(text):
    """Checks that rendered Markdown, with tables and raw HTML enabled, has only the expected tags."""
    tags = Tags()
    tags.feed(MarkdownIt("commonmark", {"html": True, "linkify": False}).enable("table").render(text))
    assert not tags.foreign, tags.foreign[:3]
    return "".join(tags.text)


def shown(text, names):
    """Returns how many of the names appear as text; only these count as trials."""
    plain = lambda words: " ".join(words.split())
    text = plain(text)
    return sum(plain(name) in text for name in names)


def on_injection(checks, browser, program, folder, keep, run, opened):
    """Tries all payloads in every command's page and Markdown; returns how many were shown there."""
    trials = 0
    for first in range(0, len(PAYLOADS), CLASSES):
        path, classes, names = write_table(folder, first)
        places = classes + PAYLOADS + list(names.values()) + [path.name]
        for ending in (".html", ".md"):
            for name, words in commands(path, names, folder, first, ending):
                run(program, *words)
                report = folder / f"{name}{first}{ending}"
                with checks.that(f"injection: {name}{first}{ending}"):
                    if ending == ".md":
                        text = check_markdown(report.read_text())
                    else:
                        faults = []
                        page = opened(browser, report, faults, viewport={"width": 1240, "height": 900})
                        text = check_page(page, faults, lambda page: page.evaluate("document.body.textContent"))
                        page.context.close()
                    own = shown(text, places)
                    assert own >= CLASSES // 2, f"only {own} payloads are shown, so that little was tried"
                    trials += own
    print(f"injection: {trials:,} trials, {len(PAYLOADS)} payloads")
    return trials
