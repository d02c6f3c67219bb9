"""Every package that mechid can bring along, and every file of others, has its licence listed."""

from __future__ import annotations

import re
import tomllib

import importlib_metadata
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tests.package.build import ROOT
from tests.package.licences import PAGE, VENDORED, constraints, licence, rows, tables
from tests.records import stale_tables

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
NOT_INSTALLED = {"cupy-cuda13x"}  # needs a GPU; its licence stands in the text of LICENSES.md


def test_the_list_is_that_of_the_installed_packages() -> None:
    assert not stale_tables(PAGE, tables()), "run: python -m tests.package.licences"


def test_missing_fields_under_the_backport_of_the_standard_library() -> None:
    """A package that a test imports may put importlib_metadata in the standard one's place."""
    assert importlib_metadata.distribution("pyyaml").metadata.get_all("License-Expression") is None
    assert licence("pyyaml") == "MIT"


def test_every_direct_dependency_has_an_entry() -> None:
    groups = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    direct = {canonicalize_name(Requirement(text).name) for group in groups for text in group}
    listed = {canonicalize_name(name) for name in constraints()}
    assert direct - listed == {"mechid", *NOT_INSTALLED}


def test_copyleft_is_told() -> None:
    text = (ROOT / "LICENSES.md").read_text("utf-8").partition("## Packages for users")[0]
    found = {name: role for name, _, words, role in rows() if re.search("GPL|EUPL|CDDL", words)}
    assert found == {"asammdf": "mdf", "casadi": "development", "python-flint": "required"}
    assert all(f"`{name}`" in text for name in (*found, *NOT_INSTALLED))
    for name, _, words, role in rows():
        assert role == "development" or "MPL" not in words, name


def test_files_of_others_have_an_entry_and_a_licence() -> None:
    folders = {path.parent for path in ROOT.glob("src/**/vendor/**/*") if path.is_file()}
    folders |= {path.parent for path in ROOT.glob("src/**/*.h") if "Copyright" in path.read_text()}
    folders |= {path.parent for path in ROOT.glob("examples/**/LICENSE*")}
    assert {str(folder.relative_to(ROOT)) for folder in folders} == set(VENDORED)
    for folder in folders:
        headers = [path.read_text() for path in folder.glob("fmi*.h")]
        assert list(folder.glob("LICENSE*")) or headers
        assert all("Copyright" in text and "Redistribution" in text for text in headers)


@pytest.mark.parametrize("folder", [folder for folder in VENDORED if "vendor" in folder])
def test_vendored_scripts_say_their_version(folder: str) -> None:
    """README.md beside them says which version they are, and how to fetch them again."""
    text = (ROOT / folder / "README.md").read_text("utf-8")
    assert re.search(r"\d+\.\d+\.\d+", text)
    assert "npm" in text
