"""HDF5 files, and MATLAB files of version 7.3, which are such."""

from __future__ import annotations

from pathlib import Path

from mechid.errors import DataError
from mechid.measurementfile.apart import read_apart
from mechid.measurementfile.channels import Channel, columns_of

_START = b"\x89HDF\r\n\x1a\n"
_HEADS = (0, 512)  # where it stands; MATLAB writes a head of its own before it


def is_hdf5(path: Path) -> bool:
    """Return whether a file starts as one of HDF5."""
    with path.open("rb") as file:
        start = file.read(_HEADS[-1] + len(_START))
    return any(start[k:].startswith(_START) for k in _HEADS)


def read_hdf5(path: Path, *, separator: str = "/", transposed: bool = False) -> dict[str, Channel]:
    """Return the numeric datasets of a file; an attribute `unit` or `units` states the unit.

    Parameters
    ----------
    path : Path
    separator : str
        Between the names of groups and datasets.
    transposed : bool
        MATLAB writes matrices by columns.
    """
    if not is_hdf5(path):
        raise DataError("not an HDF5 file")
    # The library crashes on some damaged files, and never returns from others.
    read = read_apart("hdf5_process.py", path)
    if isinstance(read, str):
        raise DataError(read[:200])
    found: dict[str, Channel] = {}
    for name, values, unit in read:
        label = name.replace("/", separator)
        found |= columns_of(label, values.T if transposed else values, unit)
    return found
