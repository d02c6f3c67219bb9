"""Numbers of file formats: what a reader does with files of other releases."""

from __future__ import annotations

from typing import Any

from mechid.errors import DataError, ModelError
from mechid.textfile.words import kind


def check_format(
    what: str, found: object, supported: int, *, where: str = "", remedy: str = ""
) -> None:
    """Check that a file has the format that this release reads.

    Parameters
    ----------
    what : str
        Kind of file, such as "model file".
    found : object
        The number that the file states.
    supported : int
        The number that this release reads and writes.
    where : str
        The file.
    remedy : str
        For an older number, and for what is no number of a format.

    Raises
    ------
    DataError
        If it has another format; of a newer one the remedy is a newer mechid.
    """
    number = found if isinstance(found, int | float) and not isinstance(found, bool) else 0
    if number == supported:
        return
    if number > supported:
        told = f"the {what} has format {kind(found)}, of a newer mechid; this one reads {supported}"
        remedy = "upgrade mechid: pip install --upgrade mechid"
    elif number >= 1:
        told = f"the {what} has format {kind(found)}, this mechid reads {supported}"
    else:
        told = f"the format of the {what} must be {supported}, got {kind(found)}"
    raise DataError(told, where=where, remedy=remedy)


def check_text_format(data: dict[str, Any], key: str, what: str, supported: int) -> None:
    """Check the format of a text file before its entries: those of a newer one are unknown.

    Raises
    ------
    ModelError
        If it has another format.
    """
    try:
        check_format(what, data[key], supported, remedy=f"write {key}: {supported}")
    except DataError as error:
        raise ModelError(error.what, path=(key,), remedy=error.remedy) from None
