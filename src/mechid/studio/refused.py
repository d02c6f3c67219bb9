"""Requests that are refused: an error with the status of its answer."""

from __future__ import annotations

import re
from typing import Any

from mechid.errors import MechidError

WRONG_INPUT = 422
_LINE = re.compile(r"^(?P<file>.*?):(?P<line>\d+)(?=:|$)")


class RefusedError(MechidError):
    """A request that is not carried out, with the HTTP status that says why."""

    def __init__(self, status: int, what: str, *, where: str = "", remedy: str = "") -> None:
        self.status = status
        super().__init__(what, where=where, remedy=remedy)


def words_of(error: MechidError, shown: str | None = None) -> dict[str, Any]:
    """Return an error as the page gets it.

    Parameters
    ----------
    error : MechidError
    shown : str, optional
        Name of the file in the editor; `line` is given for mistakes in this file only.
    """
    found = _LINE.match(error.where)
    own = found is not None and shown in (None, found["file"])
    return {
        "what": error.what,
        "where": error.where,
        "remedy": error.remedy,
        "line": int(found["line"]) if found is not None and own else None,
    }
