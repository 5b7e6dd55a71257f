"""Makes the reference of commands: a Markdown page for each command of the program, from the help that it prints."""

import re
import subprocess

ENTRY = re.compile(r"^ {2,6}(-\S|<|\[|\w)")


def help_of(program, name):
    run = subprocess.run([program, *name.split(), "--help"], capture_output=True, text=True, check=True)
    return re.sub(r"^Usage: \S+", "Usage: apportion", run.stdout, flags=re.M)


def subcommands(text):
    """Returns the commands that a help lists."""
    listed = re.search(r"^Commands:\n(.*?)\n\n", text, re.M | re.S)
    names = re.findall(r"^  (\S+)", listed[1], re.M) if listed else []
    return [name for name in names if name != "help"]


def escape(text):
    """Returns a text with options as code, and without other Markdown."""
    text = re.sub(r"([\\`*_<>\[\]|])", r"\\\1", text)
    return re.sub(r"(?<![\w-])(--[a-z][\w-]*)", r"`\1`", text)


def entries(lines):
    """Returns the entries of a list of options, arguments or commands: each with its name and the lines about it."""
    found = []
    for line in lines:
        if ENTRY.match(line):
            name, _, words = line.strip().partition("  ")
            found.append((name, [words.strip()] if words.strip() else []))
        elif found:
            found[-1][1].append(line.strip())
    return found


def listed(lines, link):
    """Returns a section of the help as a Markdown list, with possible values as lists below it."""
    result = []
    for name, words in entries(lines):
        values = [word[2:] for word in words if word.startswith("- ")]
        text = " ".join(word for word in words if word and word != "Possible values:" and not word.startswith("- "))
        result.append(f"- {link(name)}: {escape(text)}" + (". Possible values:" if values else ""))
        for value in values:
            value, _, meaning = value.partition(":")
            result.append(f"  - `{value}`" + (f": {escape(meaning.strip())}" if meaning else ""))
    return result


def page(name, text):
    """Returns the page of a command, from its help."""
    about, *rest = re.split(r"\n\n(?=\S)", text.rstrip())
    lines = [f"# {('apportion ' + name).strip()}", "", escape(about), ""]
    prefix = "" if not name else name.replace(" ", "-") + "-"
    for part in rest:
        heading, _, body = part.partition("\n")
        if heading.startswith("Usage: "):
            lines += ["```text", heading.removeprefix("Usage: "), *body.splitlines(), "```"]
        elif heading == "Examples:":
            lines += ["## Examples", "", "```text", *(line[2:] for line in body.splitlines()), "```"]
        elif heading == "Commands:":
            body = [line for line in body.splitlines() if not line.startswith("  help ")]
            lines += ["## Commands", "", *listed(body, lambda own: f"[`{own}`]({prefix}{own}.md)")]
        elif heading.endswith(":") and ENTRY.match(body):
            lines += [f"## {heading[:-1]}", "", *listed(body.splitlines(), lambda own: f"**`{own}`**")]
        else:
            lines += [escape(" ".join(part.split()))]
        lines.append("")
    return "\n".join(lines)


def words(text):
    return set(re.findall(r"[\w-]+", text.replace("\\", "")))


def check(name, text, page):
    """Fails if a word of the help is missing from the page."""
    shown = re.sub(r"^Usage: |^  help .*", "", text, flags=re.M)
    if missing := words(shown) - words(page):
        raise SystemExit(f"docs/commands.py: the page of {name!r} lacks {sorted(missing)}")


def pages(program, name=""):
    """Returns the pages of the program and all its commands, by name."""
    text = help_of(program, name)
    found = {name: page(name, text)}
    check(name, text, found[name])
    for below in subcommands(text):
        found |= pages(program, f"{name} {below}".strip())
    return found
