"""From a trajectory document to a `Trajectory`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mechid.errors import DataError, ModelError
from mechid.excitation.families import (
    BSpline,
    Chirp,
    Constant,
    Family,
    Fourier,
    Scaled,
    Sine,
    Sum,
    Tabulated,
)
from mechid.excitation.trajectory import Trajectory
from mechid.textfile import expressions
from mechid.textfile.expressions import LARGEST
from mechid.textfile.words import hint
from mechid.textfile.yamlio import Key
from mechid.trajectoryfile.document import ExpressionSpec, FamilySpec, TableSpec, TrajectoryDocument
from mechid.trajectoryfile.expression import TIME, Expression
from mechid.trajectoryfile.tabular import table_family


def build_trajectory(document: TrajectoryDocument, folder: Path) -> Trajectory:
    """Return the trajectory of a document; `folder` is where its tables lie.

    Raises
    ------
    ModelError
        With the path of the entry.
    """
    values = _parameters(document.parameters, {}, ("parameters",))
    duration = _number(document.duration, values, ("duration",))
    rate = document.rate
    rate = None if rate is None else _number(rate, values, ("rate",))
    families = {}
    for name, spec in document.coordinates.items():
        made = _Builder(name, duration, values, folder)
        families[name] = made.family(spec, ("coordinates", name))
    if not families:
        raise ModelError("coordinates is empty", path=("coordinates",), remedy="add at least one")
    try:
        return Trajectory.of(families, duration, rate=rate, name=document.name)
    except DataError as error:
        raise ModelError(error.what, remedy=error.remedy) from None


class _Builder:
    """Makes the families of one coordinate."""

    def __init__(
        self, name: str, duration: float, values: Mapping[str, float], folder: Path
    ) -> None:
        self._name = name
        self._duration = duration
        self._values = values
        self._folder = folder

    def family(self, spec: FamilySpec, path: Key) -> Family:
        (kind,) = spec.model_fields_set
        path = (*path, kind)
        try:
            return self._family(kind, getattr(spec, kind), path)
        except DataError as error:
            raise ModelError(
                f"{error.where}: {error.what}" if error.where else error.what,
                path=path,
                remedy=error.remedy,
            ) from None

    def _family(self, kind: str, spec: Any, path: Key) -> Family:
        def number(word: str) -> float:
            return _number(getattr(spec, word), self._values, (*path, word))

        def row(word: str) -> tuple[float, ...]:
            return self._row(getattr(spec, word) or (), (*path, word))

        def length() -> float:
            return self._duration if spec.length is None else number("length")

        match kind:
            case "fourier":
                return Fourier(number("frequency"), number("offset"), row("a"), row("b"))
            case "bspline":
                return BSpline(length(), row("values"), spec.degree, spec.ends)
            case "sine":
                return Sine(*(number(w) for w in ("amplitude", "frequency", "phase", "offset")))
            case "chirp":
                a, f0, f1 = (number(w) for w in ("amplitude", "start_frequency", "end_frequency"))
                return Chirp(a, f0, f1, length(), number("phase"), number("offset"))
            case "constant":
                return Constant(_number(spec, self._values, path))
            case "expression":
                return self._expression(spec, path)
            case "table":
                return self._table(spec, path, row)
            case "sum":
                return Sum(tuple(self.family(s, (*path, i)) for i, s in enumerate(spec)))
            case "scaled":
                return Scaled(self.family(spec.signal, (*path, "signal")), number("factor"))
        raise AssertionError(kind)

    def _row(self, scalars: Sequence[Any], path: Key) -> tuple[float, ...]:
        return tuple(_number(s, self._values, (*path, i)) for i, s in enumerate(scalars))

    def _expression(self, spec: ExpressionSpec, path: Key) -> Family:
        own = _parameters(spec.parameters, self._values, (*path, "parameters"))
        try:
            used = expressions.names(expressions.parse(spec.text))
        except ValueError:
            used = set()  # the family says what is wrong
        kept = tuple((n, x) for n, x in own.items() if n in used)
        period = spec.period
        repeats = None if period is None else _number(period, own, (*path, "period"))
        return Expression(spec.text, kept, repeats)

    def _table(self, spec: TableSpec, path: Key, row: Any) -> Family:
        if spec.file is not None:
            column = self._name if spec.column is None else spec.column
            return table_family(self._folder / spec.file, column, spec.periodic)
        time, y, yd, ydd = (row(w) for w in ("time", "positions", "speeds", "accelerations"))
        return Tabulated(time, y, yd, ydd, spec.periodic)


def _parameters(
    given: Mapping[str, Any], known: Mapping[str, float], path: Key
) -> dict[str, float]:
    """Return values of parameters; each may use those above it."""
    values = dict(known)
    for name, scalar in given.items():
        if name == TIME:
            raise ModelError(
                "t is reserved for time", path=(*path, name), remedy="choose another name"
            )
        values[name] = _number(scalar, values, (*path, name))
    return values


def _number(scalar: Any, values: Mapping[str, float], path: Key) -> float:
    try:
        tree = expressions.parse(scalar)
        for name in sorted(expressions.names(tree)):
            if name not in values:
                remedy = hint(name, values, "name it under parameters")
                raise ModelError(f"there is no parameter {name}", path=path, remedy=remedy)
        value = expressions.evaluate(tree, values)
        if abs(value) > LARGEST:
            raise ValueError(f"{value:g} is out of range; check the value")
        return value
    except ValueError as error:
        what, _, remedy = str(error).partition("; ")
        raise ModelError(what, path=path, remedy=remedy) from None
