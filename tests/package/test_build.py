"""Wheel and sdist: what they hold, and that one makes the other."""

from __future__ import annotations

import re
import subprocess
import tarfile
import tomllib
from email import message_from_bytes
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version
from tests.package.build import ROOT, Built, build, contents
from tests.package.environment import LOWEST, PYTHONS
from tests.package.licences import VENDORED

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
_NOT_FOR_USERS = {"bench", "docs", "gpu", "test"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Wheel and sdist; that the sdist makes the same wheel is checked on the way."""
    return build(tmp_path_factory.mktemp("dist"))


def _tracked(*where: str) -> set[str]:
    listed = subprocess.run(
        ["git", "ls-files", *where], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return {name for name in listed.stdout.splitlines() if (ROOT / name).is_file()}


def test_the_wheel_holds_the_package_and_nothing_else(built: Built) -> None:
    inside = set(contents(built.wheel))
    assert {f"src/{name}" for name in inside if name.startswith("mechid/")} == _tracked("src")
    assert {name.split("/")[0].split("-")[0] for name in inside} == {"mechid"}


def test_the_sdist_holds_what_the_tests_need(built: Built) -> None:
    with tarfile.open(built.sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    wanted = _tracked("src", "tests", "docs", "examples", "benchmarks", "*.md", "constraints*.txt")
    assert wanted <= inside
    assert not [name for name in inside if re.search(r"__pycache__|\.nb[ci]$|\.pyc$|\.venv", name)]


@pytest.mark.parametrize(
    "name",
    [
        "modelfile/zoo/four_bar.yaml",
        "importing/templates/four-bar.yaml",
        "studies/library/mobility.yaml",
        "studies/library/mobility.md.j2",
        "report/templates/page.html",
        "report/assets/vendor/LICENSE",
        "view/assets/vendor/three.min.js",
        "studio/assets/index.html",
        "exporting/fmi/fmi3Functions.h",
        "__init__.pyi",
        "py.typed",
    ],
)
def test_data_files(name: str, built: Built) -> None:
    assert contents(built.wheel)[f"mechid/{name}"] == (ROOT / "src/mechid" / name).read_bytes()


def test_metadata(built: Built) -> None:
    files = contents(built.wheel)
    (about,) = (message_from_bytes(text) for name, text in files.items() if "METADATA" in name)
    assert about["Name"] == "mechid"
    assert about["Requires-Python"] == ">=3.11"
    vendored = {f"{folder}/LICENSE" for folder in VENDORED if "/vendor" in folder}
    assert set(about.get_all("License-File")) == {"LICENSE", "LICENSES.md"} | vendored
    for version in PYTHONS:
        assert f"Programming Language :: Python :: {version}" in about.get_all("Classifier")


def test_lowest_versions_are_the_bounds_of_the_dependencies() -> None:
    """What the trial installs as lowest is what pyproject.toml promises, for users' extras too."""
    extras = PROJECT["optional-dependencies"]
    groups = [PROJECT["dependencies"], *(v for k, v in extras.items() if k not in _NOT_FOR_USERS)]
    bounds = {}
    for text in (text for group in groups for text in group):
        requirement = Requirement(text)
        (bound,) = requirement.specifier
        assert bound.operator == ">="
        bounds[requirement.name] = Version(bound.version)
    lines = Path(LOWEST).read_text("utf-8").splitlines()
    lowest = dict(line.split("==") for line in lines)
    assert {name: Version(version) for name, version in lowest.items()} == bounds


def test_the_changelog_leads_with_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    heads = re.findall(r"^## \[(.+?)\]", text, re.MULTILINE)
    assert heads[0] == "Unreleased"
    assert ".dev" in PROJECT["version"] or heads[1] == PROJECT["version"]
