"""Functions with branches, recorded as the selection between the results of all their ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mechid.tape.number import Condition, Recorder, RecordingError, select

MOST_BRANCHES = 6  # one after the other on the longest way


def all_ways(function: Callable[..., Any], recorder: Recorder) -> Callable[..., Any]:
    """Return a function that records every way through a function of numbers.

    It must return a number or a tuple of numbers and change nothing. Sides that are not taken are
    computed as well where the code runs, and may be inf or nan there.
    """

    def recorded(*args: Any) -> Any:
        if recorder.oracle is not None:  # part of a function that is being explored
            return function(*args)
        return _explore(function, args, recorder, ())

    return recorded


class _Undecided(Exception):  # noqa: N818 (not an error: the next question)
    def __init__(self, condition: Condition) -> None:
        self.condition = condition


def _explore(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    recorder: Recorder,
    answers: tuple[bool, ...],
) -> Any:
    if len(answers) > MOST_BRANCHES:
        raise RecordingError("a kernel has too many branches, one after the other")
    rest = list(answers)

    def oracle(condition: Condition) -> bool:
        if not rest:
            raise _Undecided(condition)
        return rest.pop(0)

    recorder.oracle = oracle
    try:
        return function(*args)
    except _Undecided as question:
        condition = question.condition
    finally:
        recorder.oracle = None
    yes = _explore(function, args, recorder, (*answers, True))
    no = _explore(function, args, recorder, (*answers, False))
    if isinstance(yes, tuple):
        return tuple(select(condition, a, b) for a, b in zip(yes, no, strict=True))
    return select(condition, yes, no)
