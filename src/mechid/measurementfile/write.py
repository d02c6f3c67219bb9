"""Prepared measurements as tables that every command reads."""

from __future__ import annotations

from mechid.mechanism.records import Mechanism
from mechid.signals.record import PreparedMeasurement
from mechid.tables.motion import TIME
from mechid.tables.observe import Columns


def prepared_columns(prepared: PreparedMeasurement, mechanism: Mechanism) -> Columns:
    """Return time, coordinates, `name.d`, `name.dd` and forces (nan where not valid), by name."""
    columns: Columns = {TIME: prepared.time}
    for i, c in enumerate(mechanism.coordinates):
        columns[c.name] = prepared.y[:, i]
        columns[f"{c.name}.d"] = prepared.yd[:, i]
        columns[f"{c.name}.dd"] = prepared.ydd[:, i]
    for k, name in enumerate(prepared.forces):
        columns[name] = prepared.tau[:, k]
    return columns
