"""LICENSES.md: the licence of every package that mechid can bring along, and of vendored files.

python -m tests.package.licences     # write it again, after a change of constraints.txt
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from typing import TypeAlias

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tests.package.build import ROOT
from tests.records import markdown_table, write_tables

PAGE = str(ROOT / "LICENSES.md")
USER_EXTRAS = ("mdf", "mesh", "ros", "studio", "study", "xlsx")
Row: TypeAlias = tuple[str, str, str, str]
# Where the metadata of a package say nothing, or not which, or it is not installed for the tests:
# read in the files that it brings.
_READ = {
    "apsw": "any-OSI",
    "casadi": "GNU Lesser General Public License v3 or later (LGPLv3+)",
    "cmeel-qhull": "Qhull",
    "deflate": "MIT",
    "fmpy": "BSD-2-Clause",
    "isal": "PSF-2.0",
    "scikit-sundae": "BSD-3-Clause",
}
# The list is that of the processor for which all of them have builds, wherever it is made.
_PROCESSOR = {"platform_machine": "x86_64"}
_SHORT = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
# Folder of a part of the package that others wrote: what it is, and its licence.
VENDORED = {
    "src/mechid/view/assets/vendor": ("three.js", "MIT"),
    "src/mechid/report/assets/vendor": ("uPlot", "MIT"),
    "src/mechid/studio/assets/vendor/ace": ("Ace", "BSD-3-Clause"),
    "src/mechid/exporting/fmi": ("headers of FMI 2.0 and 3.0 (*.h)", "BSD-2-Clause"),
    "examples/mjcf/cassie": ("MJCF of Cassie, MuJoCo Menagerie", "MIT"),
    "examples/mjcf/gripper": ("MJCF of a gripper, MuJoCo Menagerie", "BSD-2-Clause"),
    "examples/tx40": ("URDF and measurement of a Stäubli TX40", "Apache-2.0"),
}


def constraints() -> dict[str, str]:
    """Return the versions of constraints.txt by package."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    return dict(line.split("==") for line in lines if "==" in line)


def licence(name: str) -> str:
    """Return what the metadata of an installed package say: SPDX, else its own words."""
    if known := _READ.get(canonicalize_name(name)):
        return known
    about = distribution(name).metadata
    # `in` first: once a test has imported importlib_metadata, what is missing raises KeyError
    if "License-Expression" in about:
        return str(about["License-Expression"])
    if "License" in about and len(about["License"]) < 60 and about["License"] != "UNKNOWN":
        return about["License"]
    found = [
        line.split(" :: ")[-1] for line in about.get_all("Classifier") or [] if "License" in line
    ]
    if not found:
        raise ValueError(f"{name} states no licence; look, and add it to {__file__}")
    return " and ".join(_SHORT.get(word, word) for word in found)


def rows() -> list[Row]:
    """Return package, version, licence and who needs it, of all of constraints.txt."""
    needed = {canonicalize_name(name): role for role in ("development", *USER_EXTRAS, "required")
              for name in _brought(role)}  # fmt: skip
    return [
        (name, version, licence(name), needed.get(canonicalize_name(name), "development"))
        for name, version in constraints().items()
    ]


def tables() -> dict[str, str]:
    """Return the tables of LICENSES.md."""
    heads = ("package", "version", "licence", "needed by")
    found = rows()
    others = [row[:3] for row in found if row[3] == "development"]
    folders = [(f"`{folder}`", *what) for folder, what in VENDORED.items()]
    return {
        "users": markdown_table(heads, [row for row in found if row[3] != "development"]),
        "development": markdown_table(heads[:3], others),
        "vendored": markdown_table(("folder", "what", "licence"), folders),
    }


def _brought(role: str) -> Iterator[str]:
    """Yield the names of packages that an installation for a role brings along."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    first = {"required": project["dependencies"], "development": []}.get(role) or extras.get(
        role, []
    )
    wanted = [Requirement(text) for text in first]
    seen: set[str] = set()
    for one in wanted:  # which grows
        key = canonicalize_name(one.name)
        for extra in one.extras or {""}:
            if f"{key}[{extra}]" in seen:
                continue
            seen.add(f"{key}[{extra}]")
            yield one.name
            for text in _required(one.name):
                below = Requirement(text)
                if below.marker is None or below.marker.evaluate({"extra": extra} | _PROCESSOR):
                    wanted.append(below)


def _required(name: str) -> list[str]:
    """Return what a package requires; those without a build for this processor are not asked."""
    try:
        return distribution(name).requires or []
    except PackageNotFoundError:
        return []


if __name__ == "__main__":
    write_tables(PAGE, tables())
