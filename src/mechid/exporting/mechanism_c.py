"""The part of an FMU that depends on the mechanism, as C: sizes, tables and recorded functions."""

from __future__ import annotations

import numpy as np

from mechid.dynamics.compile import DynamicModel
from mechid.errors import ModelError
from mechid.exporting.c_source import _written
from mechid.exporting.recorded_equations import RecordedEquations, record_equations
from mechid.kinematics.tables import Floats
from mechid.tape.emit_c import c_prelude, literal
from mechid.tape.number import RecordingError


def mechanism_c(
    model: DynamicModel,
    start: tuple[Floats, Floats, Floats],
    phi: Floats,
    nominal: Floats,
    *,
    inverse: bool,
    tolerance: float,
    prefix: str,
) -> str:
    """Return mechanism.h, which solver.c and instance.c read.

    Parameters
    ----------
    model : DynamicModel
    start : arrays (n_i,), (n_i,), (n_q,)
        y and ẏ at the start, and the closed pose there.
    phi : array (p,)
    nominal : array (n_f,)
        Sizes of the coordinates that are not held.
    inverse : bool
        Whether forces are wanted instead of accelerations.
    tolerance : float
        Relative, of the integrator.
    prefix : str
        Before the names of functions where several FMUs are linked together.

    Raises
    ------
    ModelError
        If the closure cannot be recorded.
    """
    try:
        recorded = record_equations(model, inverse)
    except RecordingError as error:
        raise ModelError(
            f"no code can be generated: {error}",
            where=model.mechanism.name,
            remedy="choose a reference pose that is not singular",
        ) from None
    held = np.array([c.held for c in model.mechanism.coordinates])
    n_i, (y, yd, q) = len(held), start
    sizes = {
        "INVERSE": int(inverse),
        "N_I": n_i,
        "N_F": int(n_i - held.sum()),
        "N_Q": len(q),
        "N_V": len(recorded.column),
        "N_ROWS": len(recorded.driver),
        "N_PIECES": len(recorded.pieces),
        "N_DIRECT": len(recorded.direct),
        "N_PHI": len(phi),
        "TOLERANCE": literal(tolerance),
        "MODEL_PREFIX": f"{prefix}_",
    }
    tables = [
        _ints("FREE", np.argsort(held, kind="stable")),
        *(_doubles(n, x) for n, x in (("START_Y", y), ("START_YD", yd), ("START_Q", q))),
        _doubles("START_PHI", phi),
        _doubles("NOMINAL", nominal),
        *_tables(recorded),
    ]
    text = "\n".join(_written(name, part) for name, part in recorded.programs.items())
    helpers = [line for line in c_prelude().splitlines() if line.split("(")[0].split()[-1] in text]
    return "\n".join(
        [
            f"/* {model.mechanism.name.replace('*/', '')} */",
            *(f"#define {name} {value}" for name, value in sizes.items()),
            "",
            "#include <math.h>",
            "",
            *tables,
            "",
            *helpers,
            text,
        ]
    )


def _tables(r: RecordedEquations) -> list[str]:
    return [
        _ints("PIECE", r.pieces),
        _ints("COLUMN", r.column),
        _ints("DIRECT", r.direct),
        _ints("DRIVER", r.driver),
        _doubles("ROW_SCALE", r.row_scale),
        _doubles("SCALE", r.scale),
        _doubles("WEIGHT", r.weight),
        _doubles("DETAIL", r.detail),
    ]


def _ints(name: str, values: np.ndarray) -> str:
    """Return a table; one without rows has a row of zeros, as C allows no empty ones."""
    values = np.atleast_1d(values) if values.size else np.zeros((1, *values.shape[1:]), dtype=int)
    rows = ", ".join(
        "{" + ", ".join(map(str, row)) + "}" if isinstance(row, list) else str(row)
        for row in values.tolist()
    )
    shape = "".join(f"[{n}]" for n in values.shape)
    return f"static const int {name}{shape} = {{{rows}}};"


def _doubles(name: str, values: np.ndarray) -> str:
    numbers = ", ".join(literal(x) for x in values.tolist()) or "0.0"
    return f"static const double {name}[{max(len(values), 1)}] = {{{numbers}}};"
