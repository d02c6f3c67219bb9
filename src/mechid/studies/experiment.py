"""What a cell of a study computes: settings in, rows of a table out."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from mechid.errors import MechidError

Settings = TypeVar("Settings")
Value: TypeAlias = str | float | int | bool | None
Row: TypeAlias = dict[str, Value]
Outcome: TypeAlias = Sequence[Row] | MechidError


@dataclass(frozen=True)
class Experiment(Generic[Settings]):
    """A kind of experiment.

    Attributes
    ----------
    settings : type
        Frozen dataclass of one cell: plain values with defaults, each with unit and meaning in its
        docstring. Axes of a study name its fields.
    shared : callable
        Key of the work that a cell shares with others: model, motion and base set, for instance.
        Cells of one key are computed in one call, or in few.
    run : callable
        Rows of each of some cells of one key, in their order; or the error that refuses a cell.
        The rows of a cell do not depend on the cells that it is computed with, to the bit. What is
        expensive and shared (designed motions, W and its factors) is kept from call to call in
        the process.
    data : callable
        Key of the data of a cell, for experiments that try several methods on the same data. Of
        the cells of one `shared` key, those of the same data are computed one after the other.
    version : int
        Raised when the same settings give other numbers: results kept before are not used.
    """

    settings: type[Settings]
    shared: Callable[[Settings], Hashable]
    run: Callable[[Sequence[Settings]], Iterator[Outcome]]
    data: Callable[[Settings], Hashable] = lambda _: None
    version: int = 1
