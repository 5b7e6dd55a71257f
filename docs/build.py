"""Builds the documentation site with mdBook, and checks links.

    build.py PROGRAM MDBOOK OUTPUT    builds the site in OUTPUT and checks every link and anchor in it
    build.py --check                  checks the links of the Markdown files and the figures; takes a second

The pages of the guide are those in the table of docs/guide/README.md; OTHER_PAGES lists the others. The reference of
commands is made from the help that PROGRAM prints. All files are collected in OUTPUT-source, with rewritten links.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import commands
import figures

ROOT = Path(__file__).resolve().parent.parent
INDEX = "docs/guide/README.md"
OTHER_PAGES = {
    "Python": ["docs/python/README.md", "docs/python/from-other-tools.md"],
    "R": ["docs/r/README.md"],
    "Reference": ["commands", "docs/json.md", "docs/schema", "docs/sql.md", "crates/apportion/docs/joint.md"],
    "Project": ["docs/scores.md", "docs/estimators.md", "docs/trust.md", "COMPARE.md", "SECURITY.md", "CHANGELOG.md"],
}
LINK = re.compile(r"\]\(([^)\s]+)\)")
OUTSIDE = re.compile(r"[a-z]+:|//")


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def resolve(page, link):
    """Returns the path from ROOT of a file that a page links to."""
    return os.path.normpath(os.path.join(os.path.dirname(page), unquote(link)))


def guide_pages():
    """Returns the pages of the guide, in the order of its index."""
    rows = re.findall(r"^\| \[.*?\]\((.*?)\) \|", read(INDEX), re.M)
    return [page for page in (resolve(INDEX, row) for row in rows) if page.startswith("docs/guide/")]


def parts():
    """Returns the pages of the site, by the names of its parts."""
    return {"Introduction": [INDEX], "Guide": guide_pages(), **OTHER_PAGES}


def prose(text):
    """Returns the lines of a page, each with whether it is outside of code blocks."""
    outside = True
    for line in text.splitlines():
        fence = line.lstrip().startswith("```")
        yield line, outside and not fence
        outside ^= fence


def title(text):
    return next(line[2:].strip() for line, outside in prose(text) if outside and line.startswith("# "))


# Checks of the Markdown files


def anchors(text):
    """Returns the anchors of the headings of a page, as GitHub and mdBook make them."""
    found = []
    for line, outside in prose(text):
        if outside and (heading := re.match(r"#+ +(.*)", line)):
            words = re.sub(r"\]\([^)]*\)", "]", heading[1]).lower()
            anchor = re.sub(r"[^\w\- ]", "", words).strip().replace(" ", "-")
            found.append(anchor if anchor not in found else f"{anchor}-{found.count(anchor)}")
    return found


def check_sources():
    """Returns the number of Markdown files, and their broken links and the files that the site lacks."""
    patterns = ["*.md", "docs/**/*.md", "crates/*/docs/*.md", "python/*.md", "r/*.md"]
    pages = sorted(str(file.relative_to(ROOT)) for pattern in patterns for file in ROOT.glob(pattern))
    site = {page for listed in parts().values() for page in listed}
    problems = [f"{page}: not a page of the site; add it to {INDEX} or docs/build.py"
                for page in pages if page.startswith("docs/") and page not in site]
    for page in pages:
        text = "\n".join(line for line, outside in prose(read(page)) if outside)
        for link in LINK.findall(text):
            target, _, anchor = link.partition("#")
            if OUTSIDE.match(target) or target.startswith("crate::"):
                continue
            path = resolve(page, target) if target else page
            if not (ROOT / path).exists():
                problems.append(f"{page}: {link}: there is no such file")
            elif anchor and anchor not in anchors(read(path)):
                problems.append(f"{page}: {link}: there is no such heading")
    return len(pages), problems


# The sources of the site


def site_path(page):
    """Returns the path of a page in the site, or of a file that pages link to."""
    if page == INDEX:
        return "index.md"
    path = page.removeprefix("docs/") if page.startswith("docs/") else os.path.basename(page).lower()
    path = f"{path}/index.md" if page in ("docs/schema", "commands") else path
    return re.sub(r"README\.md$", "index.md", path)


def from_rustdoc(text):
    """Returns the documentation of a Rust module as a page: with a title, without links to items and hidden code."""
    lines = [f"# {text.partition(':')[0]}", ""]
    for line, outside in prose(text):
        if outside:
            line = re.sub(r"\[([^\]]+)\]\(crate::[^)]*\)", r"\1", line)
            lines.append(re.sub("^#", "##", line))
        elif not re.match("# |#$", line):
            lines.append(line)
    return "\n".join(lines)


class Sources:
    """The files from which mdBook builds the site."""

    def __init__(self, folder):
        self.folder, self.summary, self.pages, self.files = folder, ["# Contents", ""], set(), set()

    def write(self, path, text):
        file = self.folder / "src" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def list(self, name, path, depth=0):
        self.summary.append(f"{'  ' * depth}- [{name}]({path})")

    def rewrite(self, link, page):
        """Returns a link of a page as it is in the site, and remembers the file that it leads to."""
        target, mark, anchor = link.partition("#")
        if not target or OUTSIDE.match(target):
            return link
        path = resolve(page, target)
        if path not in self.pages:
            self.files.add(path)
        relative = os.path.relpath(site_path(path), os.path.dirname(site_path(page)) or ".")
        return relative + mark + anchor

    def add(self, page):
        """Writes a page of the repository, with its links rewritten and without comments."""
        text = read(page)
        if not text.startswith("# "):
            text = from_rustdoc(text)
        lines = []
        for line, outside in prose(text):
            if outside:
                line = LINK.sub(lambda link: f"]({self.rewrite(link[1], page)})", line)
            if not (outside and re.fullmatch(r"<!--.*-->", line)):
                lines.append(line)
        self.write(site_path(page), "\n".join(lines) + "\n")
        self.list("Introduction" if page == INDEX else title(text), site_path(page))

    def add_commands(self, program):
        self.list("Commands", "commands/index.md")
        for name, text in commands.pages(program).items():
            path = f"commands/{name.replace(' ', '-')}.md" if name else "commands/index.md"
            self.write(path, text)
            if name:
                self.list(name, path, depth=1 + name.count(" "))

    def add_schemas(self):
        self.list("JSON Schemas", "schema/index.md")
        lines = ["# JSON Schemas", "", "The [JSON](../json.md) of each command as a JSON Schema:", ""]
        for file in sorted((ROOT / "docs/schema").glob("*.json")):
            json.loads(file.read_text(encoding="utf-8"))
            self.files.add(f"docs/schema/{file.name}")
            lines.append(f"- [{file.stem}]({file.name})")
        self.write("schema/index.md", "\n".join(lines) + "\n")

    def add_part(self, name, pages, program):
        if name != "Introduction":
            self.summary += ["", f"# {name}", ""]
        for page in pages:
            if page == "commands":
                self.add_commands(program)
            elif page == "docs/schema":
                self.add_schemas()
            else:
                self.add(page)

    def finish(self):
        """Copies the linked files and writes the table of contents."""
        for path in sorted(self.files):
            file = self.folder / "src" / site_path(path)
            file.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, file)
        self.write("SUMMARY.md", "\n".join(self.summary) + "\n")
        shutil.copyfile(ROOT / "docs/book.toml", self.folder / "book.toml")


def collect(folder, program):
    shutil.rmtree(folder, ignore_errors=True)
    sources = Sources(folder)
    sources.pages = {page for pages in parts().values() for page in pages}
    for name, pages in parts().items():
        sources.add_part(name, pages, program)
    sources.finish()


# Checks of the site


class Page(HTMLParser):
    """The anchors of an HTML page, its links, and the files that it loads."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loads = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.anchors |= {attributes[name] for name in ("id", "name") if attributes.get(name)}
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        elif link := attributes.get("src") or (tag == "link" and attributes.get("href")):
            self.loads.append(link)


def check_site(folder):
    """Returns the number of links within the site, and its broken links."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}
    links, problems = 0, []
    for path, page in pages.items():
        name = path.relative_to(folder)
        problems += [f"{name}: {link}: not part of the site" for link in page.loads if OUTSIDE.match(link)]
        for link in page.links + page.loads:
            target, _, anchor = link.partition("#")
            if OUTSIDE.match(target):
                continue
            links += 1
            file = (path.parent / unquote(target)).resolve() if target else path
            if not file.is_file():
                problems.append(f"{name}: {link}: there is no such file")
            elif anchor and file in pages and unquote(anchor) not in pages[file].anchors:
                problems.append(f"{name}: {link}: there is no such anchor")
    return len(pages), links, problems


def report(problems):
    if problems:
        sys.exit("\n".join(["broken links:", *problems]))


def main():
    count, problems = check_sources()
    report(problems)
    if sys.argv[1:] == ["--check"]:
        figures.check()
        print(f"docs: the links of {count} Markdown files and the figures of the tutorial are right")
        return
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    program, mdbook, output = sys.argv[1:]
    output = Path(output).resolve()
    source = output.with_name(output.name + "-source")
    collect(source, program)
    subprocess.run([mdbook, "build", source, "--dest-dir", output], check=True)
    pages, links, problems = check_site(output)
    report(problems)
    print(f"docs: {pages} pages, {links} links checked; open {output}/index.html")


if __name__ == "__main__":
    main()
