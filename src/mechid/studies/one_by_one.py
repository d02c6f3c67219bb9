"""Experiments whose cells are computed one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from mechid.errors import MechidError
from mechid.studies.experiment import Outcome, Row

Settings = TypeVar("Settings")


def one_by_one(
    rows: Callable[[Settings], Sequence[Row]],
) -> Callable[[Sequence[Settings]], Iterator[Outcome]]:
    """Return the `run` of an experiment from a function that returns the rows of one cell."""

    def run(cells: Sequence[Settings]) -> Iterator[Outcome]:
        for cell in cells:
            try:
                yield rows(cell)
            except MechidError as error:
                yield error

    return run
