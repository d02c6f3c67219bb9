"""Limits of motions as YAML.

position: {z_r: [0.12, 0.22]}     # m or rad; [lower, upper], null for none
speed: {z_r: 1.5}                 # a number stands for both sides
acceleration: {z_r: 30}
joint: {slider_r: [0.39, 0.49]}   # any joint; joint.coordinate if it has several
distance: {"ground.N_r-strut_bottom_r.L_r": [0.39, null]}
force: {F_r: 2000}                # N or N m, with the CAD values
margin: 0.01                      # least distance from singular poses
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from mechid.errors import DataError
from mechid.excitation.limits import MotionLimit, Quantity

_QUANTITIES: tuple[Quantity, ...] = (
    "position",
    "speed",
    "acceleration",
    "joint",
    "distance",
    "force",
)


def read_limits(path: str | Path) -> tuple[MotionLimit, ...]:
    """Return the limits of a file.

    Raises
    ------
    DataError
        With the file and the entry.
    """
    path = Path(path)
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", where=str(path)) from error
    except yaml.YAMLError as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        where = str(path) if line is None else f"{path}:{line + 1}"
        raise DataError("this is no YAML", where=where, remedy="check the indentation") from error
    if not isinstance(data, dict):
        raise DataError(
            "limits are a table of quantities", where=str(path), remedy="see `mechid excite --help`"
        )
    found: list[MotionLimit] = []
    for key, value in data.items():
        where = f"{path}: {key}"
        if key == "margin":
            found.append(MotionLimit("margin", "", lower=_number(value, where)))
        elif key in _QUANTITIES:
            if not isinstance(value, dict):
                raise DataError("expected names with bounds", where=where)
            found += [
                MotionLimit(key, str(name), *_bounds(bounds, f"{where}: {name}"))
                for name, bounds in value.items()
            ]
        else:
            raise DataError(
                f"there is no quantity {key}",
                where=str(path),
                remedy=f"use {', '.join(_QUANTITIES)} or margin",
            )
    return tuple(found)


def _bounds(value: Any, where: str) -> tuple[float | None, float | None]:
    if isinstance(value, list):
        if len(value) != 2:
            raise DataError("expected [lower, upper]", where=where)
        low, high = (None if v is None else _number(v, where) for v in value)
        return low, high
    size = _number(value, where)
    if size <= 0:
        raise DataError(
            "a bound for both sides must be positive", where=where, remedy="or give [lower, upper]"
        )
    return -size, size


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DataError(f"expected a number, got {value!r}", where=where, remedy="SI units")
    return float(value)
