"""The build backend: maturin, after a check that Rust is installed. Nothing is installed unasked."""

import os
import re
import subprocess
import sys
from pathlib import Path

import maturin
from maturin import (  # noqa: F401, the hooks that pip calls
    build_editable,
    build_sdist,
    build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

os.environ["MATURIN_NO_INSTALL_RUST"] = "1"


def get_requires_for_build_wheel(config_settings=None):
    check_rust()
    return maturin.get_requires_for_build_wheel(config_settings)


def get_requires_for_build_editable(config_settings=None):
    check_rust()
    return maturin.get_requires_for_build_editable(config_settings)


def get_requires_for_build_sdist(config_settings=None):
    check_rust()
    return maturin.get_requires_for_build_sdist(config_settings)


def check_rust():
    """Ends the build with a message if Rust is missing or too old."""
    needed, found = needed_rust(), installed_rust()
    if found is None or found < needed:
        have = "Rust was not found" if found is None else f"found Rust {found[0]}.{found[1]}"
        sys.exit(
            f"error: building apportion needs Rust {needed[0]}.{needed[1]} or later; {have}.\n"
            "Install it from https://rustup.rs or update it with `rustup update`, and run this command again."
        )


def needed_rust():
    """Returns the minimum version, from the manifest of the workspace."""
    here = Path(__file__).resolve().parent
    manifests = [folder / "Cargo.toml" for folder in (here.parent, here)]
    texts = [path.read_text(encoding="utf-8") for path in manifests if path.exists()]
    found = re.search(r'^rust-version = "(\d+)\.(\d+)', "\n".join(texts), re.M)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def installed_rust():
    """Returns the version of Rust, or None if it cannot be run."""
    try:
        subprocess.run(["cargo", "--version"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        said = subprocess.run(["rustc", "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    found = re.match(r"rustc (\d+)\.(\d+)", said)
    return (int(found[1]), int(found[2])) if found else None
