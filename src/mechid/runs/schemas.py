"""What JSON files of results must hold: checked when they are read, since people edit them."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired, TypedDict

import msgspec

# Arrays are checked where they are made; null stands for a number that JSON does not know.


class _Model(TypedDict):
    name: str
    sha256: str


class _Motion(TypedDict):
    name: str
    source: str
    method: str
    cutoff: float | None
    decimation: int
    ignore_below: dict[str, float]
    force_sigma: NotRequired[dict[str, float]]
    forces: list[str]
    notes: list[str]
    warnings: list[str]


class HeadWords(TypedDict):
    """Of run.json."""

    command: str
    model: _Model
    files: list[dict[str, str]]
    versions: dict[str, str]
    stages: Annotated[list[str], msgspec.Meta(min_length=1)]
    dependent: list[str]
    coordinates: list[str]
    motions: Annotated[list[_Motion], msgspec.Meta(min_length=1)]
    warnings: list[str]
    n_logs: NotRequired[Annotated[int, msgspec.Meta(ge=1)]]


class EstimateWords(TypedDict):
    """Of estimate.json and reduced.json."""

    method: str
    parameters: list[str]
    channels: list[str]
    condition: float | None
    known: list[str]
    warnings: list[str]
    agreement: dict[str, float | None] | None
    errors: dict[str, Any] | None
    colour: list[list[float | None]] | None
    tails: NotRequired[float | None]
    resting: list[str]
    unmodelled: NotRequired[list[float | None] | None]
    doubted: NotRequired[list[list[float]] | None]
    found: NotRequired[list[dict[str, Any]]]


class FullWords(TypedDict):
    """Of full.json."""

    parameters: dict[str, float | None]
    difference: float | None
    distance: float | None
    border: list[str]
    missed: NotRequired[dict[str, float | None]]


class ReductionWords(TypedDict):
    """Of reduction.json."""

    rule: str
    natural: int | None
    ranked: bool
    size: int
    why: str
    lower: int | None
    upper: int | None
    rest: str
    complete: bool
    motions: list[str]
    blocks: int


class _Part(TypedDict):
    cells: int
    axes: dict[str, list[Any]]


# Names of files, too.
_PartName = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_-]*$", max_length=200)]


class ResultWords(TypedDict):
    """Of provenance.json of a study."""

    title: str
    size: str
    parts: dict[_PartName, _Part]


def checked(found: Any, kind: type) -> Any:
    """Return the data of a file; a ValueError says what is not as it must be."""
    msgspec.convert(found, kind)
    return found
