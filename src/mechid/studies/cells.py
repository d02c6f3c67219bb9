"""Cells of a part: the settings of every point of its grid, and a hash of what they compute."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, get_type_hints

import msgspec

from mechid.errors import MechidError, ModelError
from mechid.options import option_value
from mechid.studies import inputs
from mechid.studies.document import PartSpec
from mechid.studies.experiment import Experiment, Value
from mechid.studies.grid import (
    Axis,
    excluded,
    points,
    read_axis,
    read_exclusions,
    select,
    zipped,
)
from mechid.studies.registry import EXPERIMENTS, experiment
from mechid.textfile.words import hint
from mechid.textfile.yamlio import Key

_HASH = 16  # hexadecimal digits: 2⁻⁶⁴ per pair of cells


@dataclass(frozen=True)
class Cell:
    """One point of a grid.

    Attributes
    ----------
    labels : tuple
        Its value on each axis.
    settings : object
        Of the experiment.
    key : str
        Hash of the experiment, the settings and the content of the files that they name: cells of
        the same key have the same rows.
    """

    labels: tuple[Value, ...]
    settings: Any
    key: str


@dataclass(frozen=True)
class Part:
    """A grid of cells of one experiment.

    Attributes
    ----------
    name : str
    experiment : str
        Its name.
    module : str
        Where it is defined.
    axes : mapping axis → tuple of labels
    cells : tuple of Cell
    inputs : mapping text → str
        Hashes of the files and models that settings name.
    excluded : int
        Points of the grid without a cell.
    """

    name: str
    experiment: str
    module: str
    axes: Mapping[str, tuple[Value, ...]]
    cells: tuple[Cell, ...]
    inputs: Mapping[str, str]
    excluded: int


@dataclass(frozen=True)
class _Words:
    """Some settings: as they are used, and as they are hashed."""

    used: dict[str, Any]
    plain: dict[str, Any]


def read_part(name: str, spec: PartSpec, path: Key, folder: Path, *, quick: bool) -> Part:
    """Return a part of a study with all its cells.

    Raises
    ------
    ModelError
        With the path of the entry that is wrong.
    """
    try:
        kind = experiment(spec.experiment)
    except MechidError as error:
        raise ModelError(error.what, path=(*path, "experiment"), remedy=error.remedy) from None
    reader = _Reader(kind, folder)
    base = reader.words(spec.settings, (*path, "settings"))
    if quick:
        changed = reader.words(spec.quick.settings, (*path, "quick", "settings"))
        base = _Words(base.used | changed.used, base.plain | changed.plain)
    full = [read_axis(axis, spec.axes[axis], (*path, "axes", axis)) for axis in spec.axes]
    axes = _quick_axes(full, spec, path) if quick else full
    exclusions = read_exclusions(full, spec.exclude, (*path, "exclude"))
    together = zipped(axes, spec.zip, (*path, "zip"))
    values = [[reader.words(v.settings, v.path) for v in axis.values] for axis in axes]
    _check_once(axes)
    reader.check_complete(base, axes, path)
    head = [spec.experiment, kind.version]
    cells, left_out = [], 0
    for at in points(axes, together):
        labels = tuple(axis.values[k].label for axis, k in zip(axes, at, strict=True))
        if excluded(dict(zip(spec.axes, labels, strict=True)), exclusions):
            left_out += 1
            continue
        used, plain = dict(base.used), dict(base.plain)
        for some, k in zip(values, at, strict=True):
            used |= some[k].used
            plain |= some[k].plain
        text = json.dumps([*head, reader.defaults | plain], sort_keys=True)
        key = hashlib.sha256(text.encode()).hexdigest()[:_HASH]
        cells.append(Cell(labels, reader.settings(used, labels, path), key))
    if not cells:
        raise ModelError("every cell is excluded", path=(*path, "exclude"))
    return Part(
        name,
        spec.experiment,
        EXPERIMENTS[spec.experiment],
        {axis.name: tuple(v.label for v in axis.values) for axis in axes},
        tuple(cells),
        dict(sorted(reader.inputs.items())),
        left_out,
    )


def _quick_axes(full: list[Axis], spec: PartSpec, path: Key) -> list[Axis]:
    where = (*path, "quick", "axes")
    if unknown := [name for name in spec.quick.axes if name not in spec.axes]:
        raise ModelError(
            f"there is no axis {unknown[0]}",
            path=(*where, unknown[0]),
            remedy=hint(unknown[0], spec.axes),
        )
    return [
        select(axis, spec.quick.axes[axis.name], (*where, axis.name))
        if axis.name in spec.quick.axes
        else axis
        for axis in full
    ]


def _check_once(axes: list[Axis]) -> None:
    """Reject two axes that set the same setting: one of them would have no effect."""
    by: dict[str, str] = {}
    for axis in axes:
        for value in axis.values:
            for name in value.settings:
                if by.setdefault(name, axis.name) != axis.name:
                    raise ModelError(
                        f"{name} is set by the axes {by[name]} and {axis.name}", path=value.path
                    )


class _Reader:
    """Settings of an experiment, as study files write them."""

    def __init__(self, kind: Experiment[Any], folder: Path) -> None:
        self.kind, self.folder = kind, folder
        self.inputs: dict[str, str] = {}
        self.kinds = get_type_hints(kind.settings)
        self.required = [
            f.name
            for f in fields(kind.settings)
            if f.default is MISSING and f.default_factory is MISSING
        ]
        self.defaults = {
            f.name: self._plain(f.default if f.default_factory is MISSING else f.default_factory())
            for f in fields(kind.settings)
            if f.name not in self.required
        }

    def words(self, written: Mapping[str, Any], path: Key) -> _Words:
        """Return some settings, converted and checked one by one."""
        used, plain = {}, {}
        for name, value in written.items():
            where = (*path, name)
            if name not in self.kinds:
                raise ModelError(
                    f"there is no setting {name}", path=where, remedy=hint(name, self.kinds)
                )
            try:
                found = option_value(value, self.kinds[name], name)
            except MechidError as error:
                raise ModelError(error.what, path=where, remedy=error.remedy) from None
            used[name] = inputs.located(found, self.folder)
            plain[name] = self._plain(found)
        return _Words(used, plain)

    def _plain(self, value: Any) -> Any:
        """Return a value for the hash: plain data, and the content of what it names."""
        found = inputs.contents(value, self.folder)
        self.inputs |= found
        words = msgspec.to_builtins(value)
        return [words, sorted(found.values())] if found else words

    def check_complete(self, base: _Words, axes: list[Axis], path: Key) -> None:
        """Reject settings without a value."""
        for name in self.required:
            if name not in base.used and not any(
                all(name in v.settings for v in axis.values) for axis in axes
            ):
                raise ModelError(
                    f"setting {name} is missing", path=path, remedy="add it to settings"
                )

    def settings(self, used: Mapping[str, Any], labels: tuple[Value, ...], path: Key) -> Any:
        """Return the settings of a cell, checked together."""
        try:
            return self.kind.settings(**used)
        except MechidError as error:
            cell = ", ".join(map(str, labels))
            raise ModelError(
                f"{error.what} (cell {cell})", path=path, remedy=error.remedy
            ) from None
