"""What mechid imports is among its dependencies: nothing works by the luck of another package."""

from __future__ import annotations

import ast
import sys
import tomllib
from importlib.metadata import packages_distributions

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tests.package.build import ROOT

# Parts of dependencies that are packages of their own, tied to one version of them; and what only
# a user who has it uses: tables as frames of pandas, CuPy under several names.
_TIED = {"pydantic-core": "pydantic", "llvmlite": "numba"}
_OF_THE_USER = {"pandas", "cupy"}


def test_every_import_is_a_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    groups = [project["dependencies"], *(v for k, v in extras.items() if k not in ("test", "docs"))]
    asked = {canonicalize_name(Requirement(text).name) for group in groups for text in group}
    asked |= {"distributed"}  # dask[distributed]
    # Without a build for every processor: it may not be installed.
    where = {"sksundae": ["scikit-sundae"]} | packages_distributions()
    for module in _imported() - _OF_THE_USER:
        names = {canonicalize_name(name) for name in where[module]}
        assert {_TIED.get(name, name) for name in names} & asked, module


def _imported() -> set[str]:
    """Return the modules of other packages that the sources import."""
    found = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names) - {"mechid"}
