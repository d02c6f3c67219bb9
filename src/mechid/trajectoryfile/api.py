"""Loading and saving trajectories."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mechid.errors import DataError, ModelError
from mechid.excitation.trajectory import Trajectory
from mechid.outputs import write_text
from mechid.tables.files import SUFFIXES
from mechid.textfile.paths import is_file
from mechid.textfile.yamlio import FileKind, Source, read, read_file, write
from mechid.trajectoryfile.build import build_trajectory
from mechid.trajectoryfile.document import validate_trajectory
from mechid.trajectoryfile.dump import document_of
from mechid.trajectoryfile.tabular import table_trajectory

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
