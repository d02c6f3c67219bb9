"""What of a model a table can give: points, parameters and bodies, by the names of its rows.

A point is given by three numbers, or by three parameters that are named in their place; those of a
subassembly may differ between its copies. Whatever the model computes from other entries
(midpoints, expressions) is not for the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias

from mechid.textfile.expressions import evaluate, names, parse
from mechid.textfile.yamlio import Key

Data: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class PointTarget:
    """Where the three coordinates of a point stand in a model, and what they are."""

    slots: tuple[Key, Key, Key]
    now: tuple[float, float, float]  # in units of the file


@dataclass(frozen=True)
class ParameterTarget:
    """Where a parameter stands in a model, its value as written, and its unit."""

    slot: Key
    now: float | str
    unit: str


@dataclass(frozen=True)
class BodyTarget:
    """Where a body stands in a model, what is written there, and whether its copies differ."""

    path: Key
    spec: Data
    scattered: bool = False  # copies that are not mirror images of one another


@dataclass
class Targets:
    """All that a table can give, by name; `also` has other names, `computed` what it cannot."""

    points: dict[str, PointTarget] = field(default_factory=dict)
    parameters: dict[str, ParameterTarget] = field(default_factory=dict)
    bodies: dict[str, BodyTarget] = field(default_factory=dict)
    also: dict[tuple[str, str], str] = field(default_factory=dict)
    computed: dict[tuple[str, str], Key] = field(default_factory=dict)


def targets(data: Data) -> Targets:
    """Return what of the data of a model a table can give."""
    found = Targets()
    scopes = [_Scope((), "", data), *_subassemblies(data)]
    for kind in ("points", "parameters", "bodies"):  # points first: they have parameters
        spelled = [name for scope in scopes for name in _mapping(scope.parts.get(kind))]
        for scope in scopes:
            for name, spec in _mapping(scope.parts.get(kind)).items():
                unique = spelled.count(name) == 1 or not scope.name
                key = name if unique else f"{scope.name}.{name}"
                if scope.name:
                    found.also[(kind, f"{scope.name}.{name}")] = key
                _add(found, kind, key, name, spec, scope)
    return found


@dataclass(frozen=True)
class _Scope:
    """A file or a subassembly: its path, its name, its parts, and its copies."""

    path: Key
    name: str
    parts: Data
    uses: Mapping[str, tuple[Key, Data]] = field(default_factory=dict)

    def values(self, parameter: str) -> Iterator[tuple[str, Key, Any]]:
        """Yield copy ("" for all), slot and value of a parameter of this scope."""
        for use, (path, words) in self.uses.items():
            given = _mapping(words.get("parameters"))
            if parameter in given:
                yield use, *_value((*path, "parameters", parameter), given[parameter])
        own = _mapping(self.parts.get("parameters"))
        yield "", *_value((*self.path, "parameters", parameter), own[parameter])


def _subassemblies(data: Data) -> list[_Scope]:
    whole = {name: _mapping(s) for name, s in _mapping(data.get("subassemblies")).items()}
    uses: dict[str, tuple[Key, Data]] = {
        use: (("use", use), words) for use, words in _mapping(data.get("use")).items()
    }
    for outer, parts in whole.items():
        for use, words in _mapping(parts.get("use")).items():
            uses[f"{outer}.{use}"] = (("subassemblies", outer, "use", use), words)
    return [
        _Scope(
            ("subassemblies", name),
            name,
            parts,
            {use: found for use, found in uses.items() if found[1].get("subassembly") == name},
        )
        for name, parts in whole.items()
    ]


def _add(found: Targets, kind: str, key: str, name: str, spec: Any, scope: _Scope) -> None:
    path: Key = (*scope.path, kind, name)
    if kind == "bodies":
        differ = any(words.get("parameters") for _, words in scope.uses.values())
        found.bodies[key] = BodyTarget(path, spec, differ and len(scope.uses) > 1)
    elif kind == "points":
        points = dict(_points(key, name, spec, path, scope))
        found.points |= points
        if not points:
            found.computed[(kind, key)] = path
    else:
        parameters = dict(_parameters(key, name, scope))
        coordinates = {slot for point in found.points.values() for slot in point.slots}
        found.parameters |= {k: p for k, p in parameters.items() if p.slot not in coordinates}
        if not parameters:
            found.computed[(kind, key)] = path


def _points(
    key: str, name: str, spec: Any, path: Key, scope: _Scope
) -> Iterator[tuple[str, PointTarget]]:
    if isinstance(spec, dict) and spec.keys() <= {"at", "source"}:
        path, spec = (*path, "at"), spec.get("at")
    if not isinstance(spec, list) or len(spec) != 3:
        return
    if (now := _three(spec)) is not None:
        yield key, PointTarget(((*path, 0), (*path, 1), (*path, 2)), now)
        return
    own = _mapping(scope.parts.get("parameters"))
    if not all(isinstance(word, str) and word in own for word in spec):
        return
    by_use: dict[str, list[tuple[Key, Any]]] = {}
    for word in spec:
        for use, slot, value in scope.values(word):
            by_use.setdefault(use, []).append((slot, value))
    copies = [use for use in by_use if use and len(by_use[use]) == 3]
    for use in copies if 0 < len(copies) == len(scope.uses) else [*copies, ""]:
        (a, b, c), now = (s for s, _ in by_use[use]), _three([v for _, v in by_use[use]])
        if now is not None:
            yield f"{use}.{name}" if use else key, PointTarget((a, b, c), now)


def _parameters(key: str, name: str, scope: _Scope) -> Iterator[tuple[str, ParameterTarget]]:
    values = list(scope.values(name))
    spec = scope.parts["parameters"][name]
    unit = str(spec.get("unit", "")) if isinstance(spec, dict) else ""
    for use, slot, value in values[:-1] if 1 < len(values) == len(scope.uses) + 1 else values:
        if constant(value) is not None:
            yield f"{use}.{name}" if use else key, ParameterTarget(slot, value, unit)


def _value(slot: Key, spec: Any) -> tuple[Key, Any]:
    return ((*slot, "value"), spec.get("value")) if isinstance(spec, dict) else (slot, spec)


def _three(values: list[Any]) -> tuple[float, float, float] | None:
    numbers = [constant(v) for v in values]
    if None in numbers:
        return None
    x, y, z = (float(n) for n in numbers if n is not None)
    return x, y, z


def constant(value: Any) -> float | None:
    """Return a number of a model file, or a constant expression; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        tree = parse(value)
        return None if names(tree) else evaluate(tree, {})
    except ValueError:
        return None


def put(data: Any, key: Key, value: Any) -> None:
    """Set an entry of a document; mappings around it that are missing are added."""
    for part, after in pairwise(key):
        if isinstance(data, dict) and part not in data and isinstance(after, str):
            data[part] = {}
        data = data[part]
    data[key[-1]] = value


def _mapping(value: Any) -> Data:
    return value if isinstance(value, dict) else {}
