"""From a `Trajectory` to the data of a trajectory file."""

from __future__ import annotations

from typing import Any

from mechid.errors import DataError
from mechid.excitation.families import (
    BSpline,
    Chirp,
    Constant,
    Family,
    Fourier,
    Scaled,
    Sine,
    Sum,
    Tabulated,
)
from mechid.excitation.trajectory import Trajectory
from mechid.trajectoryfile.document import FORMAT_VERSION
from mechid.trajectoryfile.expression import Expression


def document_of(trajectory: Trajectory) -> dict[str, Any]:
    """Return the plain data of a trajectory; floats keep every digit.

    Raises
    ------
    DataError
        For a function of Python, which no file can hold.
    """
    coordinates = {}
    for name, family in zip(trajectory.names, trajectory.families, strict=True):
        try:
            coordinates[name] = _family(family)
        except DataError as error:
            raise error.located(name) from None
    return {
        "trajectory": FORMAT_VERSION,
        **({"name": trajectory.name} if trajectory.name else {}),
        "duration": float(trajectory.duration),
        **({} if trajectory.rate is None else {"rate": float(trajectory.rate)}),
        "coordinates": coordinates,
    }


def _family(family: Family) -> dict[str, Any]:
    match family:
        case Fourier():
            words = _floats(family, "frequency", "offset")
            return {"fourier": {**words, "a": _row(family.a), "b": _row(family.b)}}
        case BSpline():
            words = {"length": float(family.length), "degree": family.degree, "ends": family.ends}
            return {"bspline": {**words, "values": _row(family.values)}}
        case Sine():
            return {"sine": _floats(family, "amplitude", "frequency", "phase", "offset")}
        case Chirp():
            ends = _floats(family, "start_frequency", "end_frequency", "length")
            return {"chirp": {**_floats(family, "amplitude"), **ends,
                              **_floats(family, "phase", "offset")}}  # fmt: skip
        case Constant():
            return {"constant": float(family.value)}
        case Expression():
            words = {"text": family.text}
            if family.parameters:
                words["parameters"] = {name: float(x) for name, x in family.parameters}
            if family.repeats is not None:
                words["period"] = float(family.repeats)
            return {"expression": words}
        case Tabulated():
            names = ("time", "positions", "speeds", "accelerations")
            rows = {n: _row(getattr(family, n)) for n in names if getattr(family, n)}
            return {"table": {**rows, **({"periodic": True} if family.periodic else {})}}
        case Sum():
            return {"sum": [_family(term) for term in family.terms]}
        case Scaled():
            return {"scaled": {"signal": _family(family.signal), "factor": float(family.factor)}}
    raise DataError(
        "a Python function cannot be written to a file",
        remedy="write it as an expression, or export the trajectory as a table",
    )


def _floats(family: Family, *names: str) -> dict[str, Any]:
    return {name: float(getattr(family, name)) for name in names}


def _row(values: tuple[float, ...]) -> list[float]:
    return [float(x) for x in values]
