"""What `mechid excite` is told: goals, given motions, limits, files to write."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mechid.errors import DataError

if TYPE_CHECKING:
    from mechid.excitation.bounds import MotionLimit
    from mechid.excitation.families import Family
    from mechid.kinematics.model import KinematicModel

# What people write for the criteria.
_ALIASES = {"cond": "condition-equilibrated", "cond-raw": "condition", "i": "prediction"}


def criterion_name(word: str) -> str:
    """Return the name of a criterion."""
    return _ALIASES.get(word, word)


def check_files(
    evaluate: Path | None,
    output: Path | None,
    table: Path | None,
    rate: float | None,
    max_seconds: float | None,
) -> None:
    """Refuse what would only be noticed after the work is done."""
    from mechid.tables.files import SUFFIXES
    from mechid.trajectoryfile.api import YAML_SUFFIXES

    for path, suffixes in ((output, YAML_SUFFIXES), (table, SUFFIXES)):
        if path is None:
            continue
        if evaluate is not None:
            raise DataError(
                "a motion that is judged is not written",
                where=str(path),
                remedy="leave out --evaluate, or --output and --table",
            )
        if path.suffix.lower() not in suffixes:
            raise DataError(
                f"the ending {path.suffix or '(none)'} does not say how the file is stored",
                where=str(path),
                remedy=f"use {' or '.join(suffixes)}",
            )
        if path.is_dir() or not path.absolute().parent.is_dir():
            raise DataError(
                "cannot write the file: there is no such folder, or it is one", where=str(path)
            )
    if rate is not None and table is None:
        raise DataError("--rate is that of a table", remedy="add --table FILE")
    for name, value in (("--rate", rate), ("--max-seconds", max_seconds)):
        if value is not None and not value > 0:
            raise DataError(f"{name} is {value:g}", remedy="give a positive number")


def goals_of(goal: list[str] | None) -> dict[str, float]:
    """Return goals, criterion → value."""
    found = {}
    for text in goal or []:
        name, _, value = text.partition("=")
        try:
            found[criterion_name(name.strip())] = float(value)
        except ValueError:
            raise DataError(
                f'"{text}" is no goal', remedy="write CRITERION=VALUE, as prediction=0.01"
            ) from None
    return found


def fixed_of(fix: list[str] | None) -> dict[str, Family]:
    """Return given motions, coordinate → expression."""
    from mechid.trajectoryfile import Expression

    found: dict[str, Family] = {}
    for text in fix or []:
        name, equals, formula = text.partition("=")
        if not equals:
            raise DataError(f'"{text}" gives no motion', remedy="write NAME=EXPRESSION, as z=0.1*t")
        if name.strip() in found:
            raise DataError(f"the motion of {name.strip()} is given twice")
        found[name.strip()] = Expression(formula.strip())
    return found


def limits_of(path: Path | None, ready: KinematicModel) -> tuple[MotionLimit, ...] | None:
    """Return the limits of a file; what is wrong with them names the file."""
    from mechid.excitation.bounds import check_limits
    from mechid.trajectoryfile.limits import read_limits

    if path is None:
        return None
    found = read_limits(path)
    try:
        check_limits(found, ready.mechanism)
    except DataError as error:
        raise error.located(str(path)) from None
    return found
