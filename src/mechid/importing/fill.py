"""A model with the points, parameters and mass properties of a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mechid.errors import DataError, MechidError, ModelError
from mechid.importing.hardpoint_bodies import constants, fill_body
from mechid.importing.hardpoint_checks import BodyChange, PointChange, warnings_of
from mechid.importing.hardpoint_table import (
    AXES,
    SI_UNIT,
    HardpointTable,
    Section,
    TableRow,
    dimension_of,
    read_hardpoints,
    units_of,
)
from mechid.importing.hardpoint_targets import Data, ParameterTarget, Targets, put, targets
from mechid.kinematics.model import kinematic_model
from mechid.mechanism.records import Mechanism, Vec3
from mechid.modelfile.build import build_document
from mechid.modelfile.document import validate
from mechid.modelfile.include import read_model
from mechid.modelfile.units import SI, Units
from mechid.shown import Shown
from mechid.textfile.words import hint
from mechid.textfile.yamlio import Key, write

_KINDS: dict[Section, str] = {"point": "points", "parameter": "parameters", "body": "bodies"}


@dataclass(frozen=True, repr=False)
class Filled(Shown):
    """A model that was filled from a table.

    Parameters
    ----------
    mechanism : Mechanism
    text : str
        The model file; named points, subassemblies and mirror images are kept.
    points, parameters, bodies : tuple of str
        What the table gave.
    kept : tuple of str
        What the table could give but did not; the model keeps its own numbers.
    notes, warnings : tuple of str
        What was passed over; what is missing or implausible, with the cell.
    """

    mechanism: Mechanism
    text: str
    points: tuple[str, ...]
    parameters: tuple[str, ...]
    bodies: tuple[str, ...]
    kept: tuple[str, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]

    def summary(self) -> Mapping[str, object]:
        """Return what `repr` shows."""
        names = ("points", "parameters", "bodies", "kept", "notes", "warnings")
        return {"mechanism": self.mechanism.name, **{name: getattr(self, name) for name in names}}


def fill(model: str | Path, table: str | Path, *, largest_move: float | str = "25 %") -> Filled:
    """Return a model with the points, parameters and mass properties of a table.

    Parameters
    ----------
    model : str or Path
        Name of the zoo or model file, such as one that `template` wrote.
    table : str or Path
        CSV file or Excel workbook; see the page on hardpoint tables.
    largest_move : float or str
        A point that moves more than this against the others gets a warning: m, or a share of the
        size of the model ("25 %").

    Raises
    ------
    DataError
        With the cell, if a name is unknown or comes twice, or a number or unit is missing or wrong.
    ModelError
        If no model can have these numbers.

    Examples
    --------
    >>> import mechid
    >>> from pathlib import Path
    >>> _ = Path("mine.csv").write_text("point,x,y,z,unit\\nB,3550,1660,0,mm\\n")
    >>> _ = mechid.template("four-bar", "linkage")
    >>> mechid.fill("linkage/model.yaml", "mine.csv").points
    ('B',)
    """
    data, source = read_model(model)
    with source.locating():
        document = validate(data)
        before = build_document(document)
    read = read_hardpoints(table)
    work = _Work(deepcopy(data), Units.of(document.units), targets(data))
    for name, row in read.rows["point"].items():
        work.point(name, row)
    for name, row in read.rows["parameter"].items():
        work.parameter(name, row)
    for name, row in read.rows["body"].items():
        work.body(name, row)
    filled = _described(work.data, read)
    try:
        mechanism = build_document(validate(filled))
        kinematic_model(mechanism)  # a model whose loops do not close is of no use
    except ModelError as error:
        raise work.located(error) or source.locate(error) from None
    except MechidError as error:
        raise error.located(f"{model} with {table}") from None
    kept = tuple(work.kept())
    implausible = warnings_of(work.moved, work.changed, before, mechanism, largest_move)
    return Filled(
        mechanism,
        write(filled),
        tuple(work.filled["points"]),
        tuple(work.filled["parameters"]),
        tuple(work.filled["bodies"]),
        kept,
        read.notes,
        (*work.missing, *_kept_words(kept), *implausible),
    )


class _Work:
    """A document that is being filled, and the cells that its numbers come from."""

    def __init__(self, data: Data, units: Units, known: Targets) -> None:
        self.data, self.units, self.known = data, units, known
        self.filled: dict[str, dict[str, None]] = {"points": {}, "parameters": {}, "bodies": {}}
        self.cells: dict[Key, str] = {}
        self.values: dict[Key, Any] = {}
        self.missing: list[str] = []
        self.moved: list[PointChange] = []
        self.changed: list[BodyChange] = []

    def point(self, name: str, row: TableRow) -> None:
        """Put a point into the model."""
        key = self._find("point", name, row)
        if row.blank(AXES):
            return
        units = row.read_units("unit", "length", AXES)
        target = self.known.points[key]
        values = [row.number(axis) for axis in AXES]
        for slot, axis, value in zip(target.slots, AXES, values, strict=True):
            self._put(slot, units.into(value, "m", self.units), row.place(axis))
        self.filled["points"][key] = None
        old, new = _metres(self.units, target.now), _metres(units, values)
        self.moved.append(PointChange(name, tuple(map(row.place, AXES)), old, new))

    def parameter(self, name: str, row: TableRow) -> None:
        """Put a parameter into the model."""
        key = self._find("parameter", name, row)
        if row.blank(("value",)):
            return
        target = self.known.parameters[key]
        value = _in_units(row, target, self.units)
        self._put(target.slot, value, row.place("value"))
        self.filled["parameters"][key] = None

    def body(self, name: str, row: TableRow) -> None:
        """Put mass, centre, inertia and uncertainty of a body into the model."""
        key = self._find("body", name, row)
        target = self.known.bodies[key]
        for title in ("centre in", "axes"):
            if target.scattered and row.text(title) == "ground":
                raise DataError(
                    f"{name} has several copies, which lie differently in the ground",
                    where=row.place(title),
                    remedy="write body, and give the numbers in the frame of the body",
                )
        found = fill_body(target.spec, row, self.units)
        if found is None:
            return
        self._put(target.path, found.spec, row.place())
        self.cells |= {(*target.path, *part): place for part, place in found.cells.items()}
        self.missing += [found.missing] if found.missing else []
        self.filled["bodies"][key] = None
        self.changed.append(found.change)

    def kept(self) -> Iterable[str]:
        """Yield what the table could give but did not."""
        for word, kind in _KINDS.items():
            for name in getattr(self.known, kind):
                # Bodies without numbers, or with computed ones, are not meant to be in a table.
                bare = kind == "bodies" and constants(self.known.bodies[name].spec) is None
                if name not in self.filled[kind] and not bare:
                    yield f"{word} {name}"

    def located(self, error: ModelError) -> MechidError | None:
        """Return an error with the cell that its entry comes from, None if it is of the model."""
        for n in range(len(error.path), 0, -1):
            if error.path[:n] in self.cells:
                return error.located(self.cells[error.path[:n]])
        return None

    def _put(self, key: Key, value: Any, place: str) -> None:
        if key in self.cells and value != self.values[key]:
            raise DataError(
                f"{'.'.join(map(str, key))} of the model gets {value}, and another value from "
                f"{self.cells[key].partition(': ')[2]}",
                where=place,
                remedy="both cells must be equal, or the model file must tell them apart",
            )
        put(self.data, key, value)
        self.cells[key], self.values[key] = place, value

    def _find(self, section: Section, name: str, row: TableRow) -> str:
        """Return the name under which the model has what a row is called."""
        kind = _KINDS[section]
        known = getattr(self.known, kind)
        key = name if name in known else self.known.also.get((kind, name), name)
        if key in self.filled[kind]:
            raise DataError(
                f"{section} {key} is given twice", where=row.place(), remedy="remove one"
            )
        if key in known:
            return key
        if (kind, key) in self.known.computed:
            path = ".".join(map(str, self.known.computed[(kind, key)]))
            raise DataError(
                f"the model computes {section} {name} from other entries ({path})",
                where=row.place(),
                remedy="remove the row, or write plain numbers in the model file",
            )
        raise DataError(
            f"the model has no {section} {name}",
            where=row.place(),
            remedy=hint(name, known, f"it has no {kind} that a table can give"),
        )


def _metres(units: Units, values: Iterable[float]) -> Vec3:
    x, y, z = (units.into(value, "m", SI) for value in values)
    return x, y, z


def _in_units(row: TableRow, target: ParameterTarget, units: Units) -> float | str:
    """Return the value of a parameter as the model file writes it."""
    text, value = row.unit("unit", ("value",)), row.number("value")
    angle = isinstance(target.now, str) and target.now.split()[-1] in ("deg", "rad")
    here = dimension_of("rad" if angle else target.unit)
    given = dimension_of(text)
    if not text and (angle or target.unit not in ("", "-")):
        raise DataError(
            "the unit is missing",
            where=row.place("unit"),
            remedy=f"write {'deg or rad' if angle else target.unit}",
        )
    if here != given and (here is not None or target.unit) and text != target.unit:
        raise DataError(
            f'"{text}" is not a unit of {row.name}',
            where=row.place("unit"),
            remedy=f"write {'deg or rad' if angle else target.unit or 'none'}",
        )
    if given == "angle":
        return f"{value!r} {text}"
    if given is None:
        return value
    found = units_of(text, given)
    assert found is not None
    return found.into(value, SI_UNIT[given], units)


def _described(data: Data, table: HardpointTable) -> Data:
    """Return the document with a source that names the table."""
    old = " ".join(str(data.get("source", "")).split())
    name = Path(table.file).name
    data["source"] = f"Numbers from {name}." + (f" The model, and all others: {old}" if old else "")
    return data


def _kept_words(kept: tuple[str, ...]) -> Iterable[str]:
    if kept:
        few = ", ".join(kept[:8]) + (f" and {len(kept) - 8} more" if len(kept) > 8 else "")
        yield f"the table has no numbers for {few}: the model keeps its own"
