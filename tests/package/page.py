"""docs/reliability/versions.md: its tables, from the record of the trial."""

from __future__ import annotations

import json
import tomllib
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from tests.package.build import ROOT
from tests.package.steps import difference
from tests.records import DATA, markdown_table, write_tables

PAGE = "versions.md"
RECORD = DATA / "versions.json"


def tables() -> dict[str, str]:
    """Return the tables of the page."""
    record = json.loads(RECORD.read_text("utf-8"))
    trials = record["trials"]
    heads = ("Python", "versions", "steps", "failed", "time, s", "estimate differs by, σ")
    return {
        "trials": markdown_table(heads, [_row(trial, trials[0]) for trial in trials]),
        "dependencies": markdown_table(("package", "lowest", "newest"), _dependencies(trials)),
        "steps": markdown_table(("step", "failed"), _steps(trials)),
        "files": markdown_table(("archive", "files"), record["files"].items()),
    }


def write_page() -> None:
    """Render the tables of the page."""
    write_tables(PAGE, tables())


def _row(trial: dict[str, Any], first: dict[str, Any]) -> tuple[object, ...]:
    steps = trial["steps"]
    there = trial["estimate"]["values"] is not None
    apart = f"{difference(trial['estimate'], first['estimate']):.1g}" if there else "–"
    failed = sum(bool(step["status"]) for step in steps)
    seconds = round(sum(step["seconds"] for step in steps))
    return trial["exact_python"], trial["versions"], len(steps), failed, seconds, apart


def _dependencies(trials: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    """Return the lowest and the newest version of every package that mechid asks for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    asked = {canonicalize_name(Requirement(text).name) for group in groups for text in group}
    found: dict[str, list[Version]] = {}
    for trial in trials:
        for name, version in trial["installed"].items():
            found.setdefault(canonicalize_name(name), []).append(Version(version))
    names = sorted((asked & set(found)) - {"mechid", "hatchling", "pandas", "lxml"})
    return [(name, str(min(found[name])), str(max(found[name]))) for name in names]


def _steps(trials: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the steps, each with the trials in which it failed."""
    found: dict[str, list[str]] = {}
    for trial in trials:
        for step in trial["steps"]:
            where = f"{trial['python']} {trial['versions']}"
            found.setdefault(step["name"], []).extend([where] if step["status"] else [])
    return [(f"`{name}`", ", ".join(failed) or "–") for name, failed in found.items()]
