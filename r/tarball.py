"""Writes the source package with all Rust crates: python3 r/tarball.py TARGET. Prints its path.

The package is assembled in TARGET/r-package/apportion: the files of r/, the crates of this repository without their tests in
src/rust/apportion, all other crates in src/rust/vendor.tar.xz, and their authors and licenses in inst/AUTHORS.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CRATES = ["apportion", "apportion-app", "apportion-bisg", "apportion-io", "apportion-paper", "apportion-report"]
#: Sections of manifests that the package does not need.
LEFT_OUT = re.compile(r"^\[\[(?:test|example|bench|bin)\]\]$|^\[dev-dependencies|^\[profile")


def tracked(folder: str) -> list[str]:
    """Returns the files of a folder that belong to the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", folder], cwd=ROOT, check=True, capture_output=True
    )
    return [name for name in listed.stdout.decode().splitlines() if (ROOT / name).is_file()]


def copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_file() and target.read_bytes() == source.read_bytes():
        return  # unchanged files keep their time, so that they are not compiled again
    shutil.copyfile(source, target)
    shutil.copymode(source, target)


def write(path: Path, text: str) -> None:
    if not path.is_file() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def without_sections(manifest: str) -> str:
    """Returns a manifest without tests, examples, profiles and what they depend on."""
    kept, is_kept = [], True
    for line in manifest.splitlines():
        if line.startswith("["):
            is_kept = not LEFT_OUT.match(line)
        if is_kept:
            kept.append(line)
    return "\n".join(kept) + "\n"


def assemble(package: Path) -> None:
    """Copies the files of the package and of the crates, and removes those that no longer exist."""
    wanted: set[Path] = set()
    for name in tracked("r"):
        own = name.removeprefix("r/")
        if own in (".gitignore", "tarball.py", "src/rust/Cargo.toml"):
            continue
        wanted.add(package / own)
        copy(ROOT / name, package / own)
    rust = package / "src/rust"
    manifest = (ROOT / "r/src/rust/Cargo.toml").read_text().replace("../../../crates/", "apportion/crates/")
    write(rust / "Cargo.toml", manifest)
    workspace = without_sections((ROOT / "Cargo.toml").read_text())
    workspace = re.sub(r"^(members) = .*$", r'\1 = ["crates/*"]', workspace, flags=re.M)
    workspace = re.sub(r"^(?:default-members|exclude) = .*\n", "", workspace, flags=re.M)
    write(rust / "apportion/Cargo.toml", workspace)
    wanted |= {rust / "Cargo.toml", rust / "apportion/Cargo.toml"}
    for crate in CRATES:
        for name in tracked(f"crates/{crate}"):
            own = name.removeprefix(f"crates/{crate}/")
            if own.split("/")[0] in ("tests", "examples", "benches"):
                continue
            target = rust / "apportion" / name
            wanted.add(target)
            if own == "Cargo.toml":
                write(target, without_sections((ROOT / name).read_text()))
            else:
                copy(ROOT / name, target)
    for path in package.rglob("*"):
        if path.is_file() and path not in wanted and path.name not in ("vendor.tar.xz", "AUTHORS", ".vendored"):
            path.unlink()


def vendor(package: Path, cache: Path) -> None:
    """Writes all other crates to vendor.tar.xz, and their authors and licenses, unless the lock file is unchanged."""
    rust, archive = package / "src/rust", package / "src/rust/vendor.tar.xz"
    lock = (rust / "Cargo.lock").read_bytes()
    stamp = cache / "Cargo.lock"
    if archive.exists() and stamp.exists() and stamp.read_bytes() == lock:
        return
    folder = cache / "vendor"
    shutil.rmtree(folder, ignore_errors=True)
    command = ["cargo", "vendor", "--quiet", "--locked", "--versioned-dirs", "--manifest-path", rust / "Cargo.toml", folder]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    for path in folder.rglob("*"):
        # Crates for other systems must exist, but are not compiled.
        if path.is_file() and is_not_needed(path.relative_to(folder)):
            path.unlink()
    for checksums in folder.glob("*/.cargo-checksum.json"):
        content = json.loads(checksums.read_text())
        content["files"] = {name: value for name, value in content["files"].items() if (checksums.parent / name).exists()}
        checksums.write_text(json.dumps(content))
    write(package / "inst/AUTHORS", authors(rust))
    tar = ["tar", "--sort=name", "--mtime=2020-01-01", "--owner=0", "--group=0", "--numeric-owner", "-C", cache, "-cf", "-", "vendor"]
    packed = subprocess.run(tar, check=True, stdout=subprocess.PIPE).stdout
    archive.write_bytes(subprocess.run(["xz", "-6", "--stdout"], input=packed, check=True, stdout=subprocess.PIPE).stdout)
    shutil.rmtree(folder)
    stamp.write_bytes(lock)


def is_not_needed(path: Path) -> bool:
    """Returns whether a file is a binary library, a makefile, or source that is only compiled on Windows."""
    is_windows = path.parts[0].startswith(("windows", "winapi", "ntapi"))
    is_left_out = path.suffix in (".a", ".lib", ".dll") or path.name == "Makefile"
    return is_left_out or is_windows and path.parts[1:2] == ("src",) and path.name != "lib.rs"


def authors(rust: Path) -> str:
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--manifest-path", rust / "Cargo.toml"]
    metadata = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    lines = ["Rust crates in this package, with their authors and licenses:", ""]
    for crate in sorted(metadata["packages"], key=lambda own: (own["name"], own["version"])):
        if crate["source"] is None:
            continue
        names = [re.sub(r" <.*>", "", name) for name in crate["authors"]] or [f"the authors of {crate['name']}"]
        license = crate["license"] or f"see {crate['license_file']}"
        lines.append(f"{crate['name']} {crate['version']}: {', '.join(names)}. License: {license}. {crate['repository'] or ''}".rstrip())
    return "\n".join(lines) + "\n"


def main() -> None:
    target = Path(sys.argv[1]).resolve() / "r-package"
    package, cache = target / "apportion", target / "cache"
    cache.mkdir(parents=True, exist_ok=True)
    assemble(package)
    vendor(package, cache)
    # R builds the vignettes with the package, whose crates are compiled in the directory that installing it also uses.
    environment = {**os.environ, "APPORTION_R_TARGET": os.environ.get("APPORTION_R_TARGET", str(target.parent / "r"))}
    subprocess.run(["R", "CMD", "build", "--no-manual", "apportion"], cwd=target, check=True, env=environment)
    print(max(target.glob("apportion_*.tar.gz"), key=lambda path: path.stat().st_mtime))


if __name__ == "__main__":
    main()
