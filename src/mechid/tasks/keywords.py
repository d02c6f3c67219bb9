"""Options as keywords: functions that take the fields of a record show them in their signature."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def keywords_of(record: type, *without: str) -> Callable[[F], F]:
    """Return a decorator: `**words` of a function become the fields of a record, for completion.

    What the function itself names, and `without`, is left out.
    """

    def shown(function: F) -> F:
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        taken = {p.name for p in own} | set(without)
        more = [
            inspect.Parameter(
                f.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=f.default if f.default_factory is MISSING else f.default_factory(),
                annotation=f.type,
            )
            for f in fields(record)
            if f.name not in taken
        ]
        function.__signature__ = signature.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
        return function

    return shown
