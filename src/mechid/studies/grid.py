"""Axes of a grid and its points: all combinations, less those that are zipped or excluded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from mechid.errors import ModelError
from mechid.studies.experiment import Value
from mechid.textfile.words import hint, kind
from mechid.textfile.yamlio import Key

_SPAN = {"from", "count"}
MOST_CELLS = 50_000  # of a part, those that are excluded included


@dataclass(frozen=True)
class AxisValue:
    """One value of an axis.

    Attributes
    ----------
    label : str, number, bool or None
        What the column of the axis holds.
    settings : mapping setting → value
        What it sets, as written.
    path : tuple
        Where it stands in the study file.
    """

    label: Value
    settings: Mapping[str, Any]
    path: Key


@dataclass(frozen=True)
class Axis:
    """An axis of a grid: its name and its values."""

    name: str
    values: tuple[AxisValue, ...]

    def index(self, label: Any, path: Key) -> int:
        """Return the place of a value, or say which there are."""
        for k, value in enumerate(self.values):
            if value.label == label and isinstance(value.label, bool) == isinstance(label, bool):
                return k
        known = [str(v.label) for v in self.values]
        raise ModelError(
            f"axis {self.name} has no value {kind(label)}",
            path=path,
            remedy=hint(str(label), known),
        )


def read_axis(name: str, written: Any, path: Key) -> Axis:
    """Return an axis as a study file writes it.

    Raises
    ------
    ModelError
        If it is neither a list, nor labelled, nor a range; or a value stands in it twice.
    """
    if isinstance(written, list):
        values = [_plain(name, value, (*path, k)) for k, value in enumerate(written)]
    elif isinstance(written, dict) and written and set(written) <= _SPAN:
        values = [AxisValue(k, {name: k}, path) for k in _span(written, path)]
    elif isinstance(written, dict):
        values = [_labelled(label, words, (*path, label)) for label, words in written.items()]
    else:
        raise ModelError(
            f"an axis is a list, got {kind(written)}", path=path, remedy="write [a, b, …]"
        )
    if not values:
        raise ModelError(f"axis {name} has no values", path=path, remedy="add one")
    seen: set[tuple[type, Value]] = set()
    for value in values:
        if (type(value.label), value.label) in seen:
            raise ModelError(f"axis {name} has {value.label} twice", path=value.path)
        seen.add((type(value.label), value.label))
    return Axis(name, tuple(values))


def _plain(name: str, value: Any, path: Key) -> AxisValue:
    if isinstance(value, list | dict):
        raise ModelError(
            f"{kind(value)} as a value of an axis needs a label",
            path=path,
            remedy=f"write {name}: {{label: {{{name}: …}}, …}}",
        )
    return AxisValue(value, {name: value}, path)


def _labelled(label: str, words: Any, path: Key) -> AxisValue:
    if not isinstance(words, dict):
        raise ModelError(
            f"expected the settings of the label {label}, got {kind(words)}",
            path=path,
            remedy=f"write {label}: {{setting: value}}",
        )
    return AxisValue(label, words, path)


def _span(written: Mapping[str, Any], path: Key) -> range:
    begin: Any = written.get("from", 0)
    count: Any = written.get("count")
    for name, number in (("from", begin), ("count", count)):
        if not isinstance(number, int) or isinstance(number, bool):
            raise ModelError(f"{name} must be an integer, got {kind(number)}", path=(*path, name))
    if not 1 <= count <= MOST_CELLS:
        bound = "≥ 1" if count < 1 else f"≤ {MOST_CELLS}"
        raise ModelError(f"count must be {bound}, got {count}", path=(*path, "count"))
    return range(begin, begin + count)


def select(axis: Axis, written: Any, path: Key) -> Axis:
    """Return an axis as the quick size writes it: anew, or as a list of labels."""
    labelled = any(set(v.settings) != {axis.name} for v in axis.values)
    labels = {v.label for v in axis.values}
    if isinstance(written, list) and (labelled or labels.issuperset(_hashable(written))):
        chosen = [axis.values[axis.index(x, (*path, k))] for k, x in enumerate(written)]
        if not chosen:
            raise ModelError(f"axis {axis.name} has no values", path=path, remedy="add one")
        return Axis(axis.name, tuple(chosen))
    return read_axis(axis.name, written, path)


def _hashable(written: Sequence[Any]) -> list[Any]:
    return [str(x) if isinstance(x, list | dict) else x for x in written]


def zipped(axes: Sequence[Axis], zips: Sequence[Sequence[str]], path: Key) -> list[list[int]]:
    """Return the axes that go together, as lists of their places; each axis is in one list.

    Raises
    ------
    ModelError
        For an axis that does not exist, is zipped twice, or has another number of values.
    """
    names = [axis.name for axis in axes]
    group = {k: [k] for k in range(len(axes))}
    taken: set[str] = set()
    for n, together in enumerate(zips):
        for k, name in enumerate(together):
            if name not in names:
                raise ModelError(
                    f"there is no axis {name}", path=(*path, n, k), remedy=hint(name, names)
                )
            if name in taken:
                raise ModelError(f"axis {name} is zipped twice", path=(*path, n, k))
            taken.add(name)
        places = sorted(names.index(name) for name in together)
        sizes = {names[k]: len(axes[k].values) for k in places}
        if len(set(sizes.values())) > 1:
            said = ", ".join(f"{name} {size}" for name, size in sizes.items())
            raise ModelError(
                f"zipped axes have different numbers of values: {said}",
                path=(*path, n),
                remedy="give each of them as many",
            )
        for k in places:
            group[k] = places
    return [places for k, places in group.items() if places and k == places[0]]


def points(axes: Sequence[Axis], together: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    """Yield the points of a grid as places on each axis; the last axis changes first.

    Raises
    ------
    ModelError
        If there are too many.
    """
    sizes = [len(axes[places[0]].values) for places in together]
    if prod(sizes) > MOST_CELLS:
        raise ModelError(
            f"the grid has {prod(sizes)} cells, at most {MOST_CELLS} are possible",
            remedy="use shorter axes, or several parts",
        )
    for chosen in product(*map(range, sizes)):
        at = [0] * len(axes)
        for places, k in zip(together, chosen, strict=True):
            for axis in places:
                at[axis] = k
        yield tuple(at)


def read_exclusions(
    axes: Sequence[Axis], exclude: Sequence[Mapping[str, Any]], path: Key
) -> list[dict[str, set[Value]]]:
    """Return exclusions as sets of labels by axis.

    Raises
    ------
    ModelError
        For an axis or a value that does not exist, or an exclusion of everything.
    """
    by_name = {axis.name: axis for axis in axes}
    found = []
    for n, rule in enumerate(exclude):
        where = (*path, n)
        if not rule:
            raise ModelError("this excludes every cell", path=where, remedy="name an axis")
        sets: dict[str, set[Value]] = {}
        for name, labels in rule.items():
            if name not in by_name:
                raise ModelError(
                    f"there is no axis {name}", path=(*where, name), remedy=hint(name, by_name)
                )
            axis = by_name[name]
            several = labels if isinstance(labels, list) else [labels]
            sets[name] = {axis.values[axis.index(x, (*where, name))].label for x in several}
        found.append(sets)
    return found


def excluded(labels: Mapping[str, Value], exclusions: Sequence[Mapping[str, set[Value]]]) -> bool:
    """Return whether one of the exclusions holds for a point."""
    return any(all(labels[name] in some for name, some in rule.items()) for rule in exclusions)
