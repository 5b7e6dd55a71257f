"""Builds the files of a release: python .ci/dist.py [--target TRIPLE]

Writes to target/dist-files, for the machine's own target or TRIPLE: an archive of the program with its manual pages,
completions and licenses, a wheel, the source distribution of the Python package, the SBOM and SHA256SUMS. Programs and
wheels for Linux need glibc 2.28 (2018) or later. Tools are installed in .tools.
"""

import argparse
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / ".tools"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
FILES = TARGET / "dist-files"
GLIBC = "2.28"
CYCLONEDX = "0.5.9"
SHELLS = {"bash": "apportion.bash", "zsh": "_apportion", "fish": "apportion.fish", "powershell": "apportion.ps1"}
THIRD_PARTY = ROOT / "python/LICENSE-THIRD-PARTY"  # a license file of the wheel, by its name
IS_LICENSE = re.compile(r"(un)?licen[sc]e|copying|notice|copyright", re.IGNORECASE)


def run(*command, **options):
    """Runs a command, which must succeed, and shows it."""
    print("+", *command, flush=True)
    return subprocess.run([str(word) for word in command], check=True, cwd=options.pop("cwd", ROOT), **options)


def output(*command):
    """Returns what a command prints."""
    return subprocess.run([str(word) for word in command], check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout


def installed_tools():
    """Installs the Python tools if they are missing, and returns the folder of their programs."""
    venv, requirements = TOOLS / "dist", ROOT / ".ci/dist-requirements.txt"
    programs = venv / ("Scripts" if os.name == "nt" else "bin")
    stamp = venv / "installed"
    if not stamp.exists() or stamp.read_text() != requirements.read_text():
        run(sys.executable, "-m", "venv", venv)
        run(programs / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements)
        stamp.write_text(requirements.read_text())
    os.environ["PATH"] = f"{programs}{os.pathsep}{os.environ['PATH']}"
    return programs


def built_program(target):
    """Builds the program, and returns its path."""
    build = ["--profile", "dist", "--locked", "-p", "apportion-cli", "--target"]
    if "linux-gnu" in target:
        run("cargo-zigbuild", "zigbuild", *build, f"{target}.{GLIBC}")
    else:
        run("cargo", "build", *build, target)
    return TARGET / target / "dist" / ("apportion.exe" if "windows" in target else "apportion")


def third_party_licenses(target):
    """Returns the licenses of all crates in the program and the wheel."""
    metadata = json.loads(output("cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target))
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    roots = [key for key, package in packages.items() if package["name"] in ("apportion-cli", "apportion-python")]
    linked, pending = set(roots), roots
    while pending:
        for dependency in nodes[pending.pop()]["deps"]:
            is_linked = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            if is_linked and dependency["pkg"] not in linked:
                linked.add(dependency["pkg"])
                pending.append(dependency["pkg"])
    others = sorted((packages[key] for key in linked if packages[key]["source"]), key=lambda package: package["name"])
    names_of = {}
    for package in others:
        folder = Path(package["manifest_path"]).parent
        files = sorted(path for path in folder.iterdir() if path.is_file() and IS_LICENSE.match(path.name))
        for path in files:
            text = path.read_text(encoding="utf-8", errors="replace").strip()
            names_of.setdefault(text, []).append(f"{package['name']} {package['version']}")
    plotly = ROOT / "crates/apportion-report/src/page/plotly/LICENSE"
    names_of.setdefault(plotly.read_text(encoding="utf-8").strip(), []).append("plotly.js")
    lines = ["apportion contains these packages. Their licenses follow.", ""]
    lines += [f"{package['name']} {package['version']}: {package['license']}" for package in others]
    lines.append("plotly.js: MIT")
    for text, names in names_of.items():
        lines += ["", "=" * 80, *dict.fromkeys(names), "=" * 80, "", text]
    return "\n".join(lines) + "\n"


def write_archive(program, target, version):
    """Writes the program and what belongs to it to an archive. Its content depends on the sources only."""
    name = f"apportion-{version}-{target}"
    files = {program.name: program.read_bytes(), THIRD_PARTY.name: THIRD_PARTY.read_bytes()}
    for document in ["README.md", "CHANGELOG.md", "SECURITY.md", "CITATION.cff", "LICENSE-MIT", "LICENSE-APACHE"]:
        files[document] = (ROOT / document).read_bytes()
    for shell, file in SHELLS.items():
        files[f"completions/{file}"] = output(program, "completions", shell).encode()
    pages = TARGET / "man"
    shutil.rmtree(pages, ignore_errors=True)
    run(program, "man", "--output", pages)
    files.update({f"man/{page.name}": page.read_bytes() for page in sorted(pages.iterdir())})
    if "windows" in target:
        with zipfile.ZipFile(FILES / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for path, content in files.items():
                archive.writestr(zipfile.ZipInfo(f"{name}/{path}"), content, zipfile.ZIP_DEFLATED)
        return
    with tarfile.open(FILES / f"{name}.tar.gz", "w:gz", compresslevel=9) as archive:
        for path, content in files.items():
            entry = tarfile.TarInfo(f"{name}/{path}")
            entry.size, entry.mode = len(content), 0o755 if path == program.name else 0o644
            archive.addfile(entry, io.BytesIO(content))


def write_wheel_and_sdist(target):
    """Writes the wheel of the Python package, and its source distribution."""
    build = ["maturin", "build", "--profile", "dist", "--target", target, "--out", FILES]
    portable = ["--zig", "--compatibility", f"manylinux_{GLIBC.replace('.', '_')}"] if "linux-gnu" in target else []
    run(*build, *portable, cwd=ROOT / "python")
    THIRD_PARTY.unlink()  # sources do not contain other packages
    run("maturin", "sdist", "--out", FILES, cwd=ROOT / "python")


def write_sbom(version, target):
    """Writes the list of all crates in the program as CycloneDX JSON."""
    program = TOOLS / "bin/cargo-cyclonedx"
    if not program.with_suffix(".exe" if os.name == "nt" else "").exists():
        run("cargo", "install", "--locked", "--root", TOOLS, "cargo-cyclonedx", "--version", CYCLONEDX)
    manifest = ROOT / "crates/apportion-cli/Cargo.toml"
    file = f"apportion-{version}-{target}.cdx"
    run(program, "cyclonedx", "--manifest-path", manifest, "--format", "json", "--target", target,
        "--no-build-deps", "--override-filename", file)
    for made in ROOT.glob(f"*/**/{file}.json"):
        if made.parent == manifest.parent:
            shutil.move(made, FILES / made.name)
        elif FILES not in made.parents:
            made.unlink()


def main():
    host = re.search(r"^host: (.*)$", output("rustc", "-vV"), re.M).group(1)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", default=host)
    target = parser.parse_args().target
    metadata = json.loads(output("cargo", "metadata", "--format-version", "1", "--no-deps", "--locked"))
    version = next(package["version"] for package in metadata["packages"] if package["name"] == "apportion-cli")
    shutil.rmtree(FILES, ignore_errors=True)
    FILES.mkdir(parents=True)
    installed_tools()
    program = built_program(target)
    THIRD_PARTY.write_text(third_party_licenses(target), encoding="utf-8")
    write_archive(program, target, version)
    write_wheel_and_sdist(target)
    write_sbom(version, target)
    names = sorted(path.name for path in FILES.iterdir())
    sums = [f"{hashlib.sha256((FILES / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
    (FILES / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")
    print(f"\n{program}: {program.stat().st_size / 1e6:.1f} MB")
    for name in names:
        print(f"{FILES / name}: {(FILES / name).stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
