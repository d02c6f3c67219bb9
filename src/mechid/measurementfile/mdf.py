"""Measurement files of the automotive industry: ASAM MDF 4."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from mechid.errors import DataError
from mechid.measurementfile.apart import read_apart
from mechid.measurementfile.channels import Channel

_STARTS = (b"MDF     ", b"UnFinMF ")  # the second one was not closed


def read_mdf(path: Path) -> dict[str, Channel]:
    """Return the numeric channels of a file, each with the times of its group and its unit.

    A name that several groups have is written `name@group`, groups counted from 0.
    """
    if find_spec("asammdf") is None:
        raise DataError(
            "reading MDF files needs the package asammdf",
            remedy='install it with: pip install "mechid[mdf]"',
        )
    with path.open("rb") as file:
        if not file.read(8).startswith(_STARTS):
            raise DataError("not an MDF file")
    # The library crashes on some damaged files, and its messages go to the terminal.
    found = read_apart("mdf_process.py", path)
    if isinstance(found, str):
        raise DataError(f"not an MDF file: {found}")
    return {name: Channel(*parts) for name, parts in found.items()}
