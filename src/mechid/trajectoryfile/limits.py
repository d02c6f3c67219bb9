"""Limits of motions as YAML.

position: {z_r: [0.12, 0.22]}     # m or rad; [lower, upper], null for none
speed: {z_r: 1.5}                 # a number stands for both sides
acceleration: {z_r: 30}
joint: {slider_r: [0.39, 0.49]}   # any joint; joint.coordinate if it has several
distance: {"ground.N_r-strut_bottom_r.L_r": [0.39, null]}
force: {F_z_r: 2000}              # N or N m, with the CAD values
margin: 0.01                      # least distance from singular poses
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from mechid.errors import DataError, MechidError, ModelError
from mechid.excitation.bounds import MotionLimit, Quantity
from mechid.textfile.words import kind
from mechid.textfile.yamlio import FileKind, read_file

_QUANTITIES: tuple[Quantity, ...] = (
    "position",
    "speed",
    "acceleration",
    "joint",
    "distance",
    "force",
)
_KIND = FileKind("file of limits", "position:", "position, speed, force, margin")


def read_limits(path: str | Path) -> tuple[MotionLimit, ...]:
    """Return the limits of a file.

    Raises
    ------
    DataError
        With the file, the line and the entry.
    """
    try:
        data, source = read_file(Path(path), str(path), _KIND)
    except ModelError as error:
        raise _data_error(error) from None
    found: list[MotionLimit] = []
    try:
        for key, value in data.items():
            found += _limits(key, value)
    except ModelError as error:
        raise _data_error(source.locate(error)) from None
    return tuple(found)


def _limits(key: str, value: Any) -> list[MotionLimit]:
    if key == "margin":
        least = _number(value, (key,))
        if least <= 0:
            raise ModelError("a margin must be > 0", path=(key,), remedy="or omit it")
        return [MotionLimit("margin", "", lower=least)]
    for quantity in _QUANTITIES:
        if key == quantity:
            if not isinstance(value, dict):
                raise ModelError(
                    "expected names with bounds",
                    path=(key,),
                    remedy=f"write {key}: {{NAME: [lower, upper]}}",
                )
            return [MotionLimit(quantity, n, *_bounds(b, (key, n))) for n, b in value.items()]
    raise ModelError(
        f"there is no quantity {key}",
        path=(key,),
        remedy=f"choose one of: {', '.join(_QUANTITIES)}, margin",
    )


def _bounds(value: Any, path: tuple[str, ...]) -> tuple[float | None, float | None]:
    if isinstance(value, list):
        if len(value) != 2:
            raise ModelError("expected [lower, upper]", path=path, remedy="null for no bound")
        low, high = (None if v is None else _number(v, path) for v in value)
        if low is None and high is None:
            raise ModelError("at least one bound must be given", path=path, remedy="omit the entry")
        if low is not None and high is not None and low >= high:
            raise ModelError(
                f"the lower bound must be below the upper bound, got {low:g} and {high:g}",
                path=path,
                remedy="write [lower, upper]",
            )
        return low, high
    size = _number(value, path)
    if size <= 0:
        raise ModelError(
            "a single number bounds both sides and must be > 0",
            path=path,
            remedy="or give [lower, upper]",
        )
    return -size, size


def _number(value: Any, path: tuple[str, ...]) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ModelError(
            f"expected a number, got {kind(value)}", path=path, remedy="give it in SI units"
        )
    return float(value)


def _data_error(error: MechidError) -> DataError:
    return DataError(error.what, where=error.where, remedy=error.remedy)
