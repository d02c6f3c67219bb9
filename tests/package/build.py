"""Wheel and sdist, and whether both hold what they must."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Built:
    """The files of a release, and how many files each holds."""

    wheel: Path
    sdist: Path
    files: dict[str, int]


def build(place: Path, root: Path = ROOT) -> Built:
    """Build the sdist of a source tree, and the wheel from that sdist.

    Raises
    ------
    ValueError
        If the wheel of the tree and that of the sdist differ in a byte of a file.
    """
    for target in ("wheel", "sdist"):
        _hatch(root, place / "tree", target)
    sdist = next((place / "tree").glob("*.tar.gz"))
    with tarfile.open(sdist) as archive:
        archive.extractall(place / "source", filter="data")
        in_sdist = len(archive.getnames())
    _hatch(next((place / "source").iterdir()), place, "wheel")
    wheel = next(place.glob("*.whl"))
    if contents(wheel) != contents(next((place / "tree").glob("*.whl"))):
        raise ValueError("the wheel made of the sdist is not that made of the source tree")
    return Built(wheel, sdist, {"wheel": len(contents(wheel)), "sdist": in_sdist})


def contents(wheel: Path) -> dict[str, bytes]:
    """Return the files of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _hatch(source: Path, place: Path, target: str) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(place.resolve()), "-t", target]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
