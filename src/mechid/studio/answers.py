"""Bodies of requests, and answers as JSON."""

from __future__ import annotations

import json
import math
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from mechid.errors import MechidError
from mechid.studio.refused import WRONG_INPUT, RefusedError, words_of

MOST_BODY = 8 * 2**20  # bytes of a request in JSON


async def body_of(request: Request) -> dict[str, Any]:
    """Return the JSON object that a request brings.

    Raises
    ------
    RefusedError
        If it is something else, or too large.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise RefusedError(415, "the request must be application/json")
    data = bytearray()
    async for part in request.stream():
        data += part
        if len(data) > MOST_BODY:
            raise RefusedError(413, "the request is too large")
    try:
        found = json.loads(data, parse_int=_integer)
        # Python reads more than it can write: NaN, 1e400, halves of surrogate pairs.
        json.dumps(found, allow_nan=False, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise RefusedError(400, "the request has text with half a surrogate pair") from None
    except (ValueError, RecursionError) as error:
        raise RefusedError(400, f"the request is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise RefusedError(400, "the request must be a JSON object")
    return found


def _integer(text: str) -> float:
    """Return a whole number; infinity where it is beyond the range of real ones."""
    return int(text) if math.isfinite(float(text)) else math.inf


def word(values: dict[str, Any], name: str) -> str:
    """Return a text of a request.

    Raises
    ------
    RefusedError
        If it is missing or not text.
    """
    value = values.get(name)
    if not isinstance(value, str) or not value:
        raise RefusedError(WRONG_INPUT, f"{name} is missing")
    return value


async def not_found(request: Request, error: Exception) -> Response:
    """Answer for addresses and methods that there are not."""
    assert isinstance(error, HTTPException)
    words = RefusedError(error.status_code, error.detail, where=request.url.path)
    return JSONResponse(
        {"error": words_of(words)}, status_code=error.status_code, headers=error.headers
    )


async def refused(request: Request, error: Exception) -> Response:
    """Answer with an error: what, where, remedy, and the line if it lies in a file."""
    assert isinstance(error, MechidError)
    status = getattr(error, "status", WRONG_INPUT)
    return JSONResponse({"error": words_of(error)}, status_code=status)
