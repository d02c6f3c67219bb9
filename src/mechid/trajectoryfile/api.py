"""Loading and saving trajectories."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mechid.errors import DataError, ModelError
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
from mechid.outputs import write_text
from mechid.tables.files import SUFFIXES
from mechid.textfile.paths import is_file
from mechid.textfile.yamlio import FileKind, Source, read, read_file, write
from mechid.trajectoryfile.build import build_trajectory
from mechid.trajectoryfile.document import FORMAT_VERSION, validate_trajectory
from mechid.trajectoryfile.expression import Expression
from mechid.trajectoryfile.tabular import table_trajectory


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


YAML_SUFFIXES = (".yaml", ".yml")
_KIND = FileKind("trajectory file", "trajectory: 1", "duration, coordinates")


def load_trajectory(path: str | Path) -> Trajectory:
    """Return the trajectory of a file: coefficients in YAML, or samples in CSV or Parquet.

    Parameters
    ----------
    path : str or Path
        .yaml, .csv or .parquet.

    Raises
    ------
    DataError
        With file, line, entry and remedy.

    Examples
    --------
    >>> import mechid
    >>> from mechid.excitation.families import Constant
    >>> still = mechid.Trajectory.of({"angle": Constant(0.2)}, duration=1.0)
    >>> mechid.save_trajectory(still, "still.yaml")
    >>> mechid.load_trajectory("still.yaml").duration  # s
    1.0
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in (*YAML_SUFFIXES, *SUFFIXES):
        raise DataError(
            f"unknown file type {path.suffix or '(no extension)'}",
            where=str(path),
            remedy="use .yaml, .csv or .parquet",
        )
    if not is_file(path):
        raise DataError("there is no such file", where=str(path))
    if suffix in SUFFIXES:
        return table_trajectory(path)
    try:
        data, source = read_file(path, str(path), _KIND)
    except ModelError as error:
        raise _data_error(error) from None
    return _located(data, source, path.parent)


def loads_trajectory(text: str, *, name: str = "<text>", folder: str | Path = ".") -> Trajectory:
    """Return the trajectory of a file given as text; tables it names lie in `folder`."""
    try:
        data, source = read(text, name, _KIND)
    except ModelError as error:
        raise _data_error(error) from None
    return _located(data, source, Path(folder))


def dumps_trajectory(trajectory: Trajectory) -> str:
    """Return the text of a trajectory file; loading it gives an equal trajectory."""
    return write(document_of(trajectory))


def save_trajectory(trajectory: Trajectory, path: str | Path) -> None:
    """Write a trajectory file, in the form of `dumps_trajectory`.

    Parameters
    ----------
    trajectory : Trajectory
    path : str or Path
        .yaml

    Raises
    ------
    DataError
        If the file cannot be written, or the trajectory cannot be written as text.

    Examples
    --------
    >>> import mechid
    >>> from mechid.excitation.families import Constant
    >>> mechid.save_trajectory(
    ...     mechid.Trajectory.of({"angle": Constant(0.2)}, duration=1.0), "still.yaml"
    ... )
    """
    write_text(path, dumps_trajectory(trajectory))


def _located(data: dict[str, Any], source: Source, folder: Path) -> Trajectory:
    try:
        return build_trajectory(validate_trajectory(data), folder)
    except ModelError as error:
        located = source.locate(error)
        raise _data_error(located) from None


def _data_error(error: Exception) -> DataError:
    assert isinstance(error, ModelError)
    return DataError(error.what, where=error.where, remedy=error.remedy)
