"""A small file that lets anybody recheck the number of base parameters.

It holds the model, the experiment, the states and the minors that were found; see `verify.py` for
what they prove.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from scipy.linalg import qr

from mechid.base.bounds import Bounds
from mechid.base.experiment import Experiment, measured_rows
from mechid.base.nullspace import RANK_TOLERANCE
from mechid.errors import DataError
from mechid.exact.stack import reference_poses
from mechid.kinematics.tables import Floats
from mechid.modelfile.api import dumps
from mechid.outputs import write_text
from mechid.textfile.expressions import LARGEST
from mechid.textfile.formats import check_format

FORMAT_VERSION = 1
_FORMAT = "mechid certificate"
_REMEDY = "write one with: mechid base MODEL --certificate FILE"


@dataclass(frozen=True)
class State:
    """One state: a float pose near the exact one, and exact numbers for the rest."""

    y: tuple[float, ...]
    yd: tuple[float, ...]
    ydd: tuple[float, ...]
    pose: tuple[float, ...]


@dataclass(frozen=True)
class Certificate:
    """What a checker needs.

    Attributes
    ----------
    model : str
        The model file.
    experiment : Experiment
    parameters, upper, lower : int
    certified : bool
    open_questions : tuple of str
    dependent, vectors : tuples
        Names and numbers of transfers whose minor of N is nonzero: the upper bound.
    columns : tuple of str
    rows : tuple of (int, int)
        Names, and (state, force) pairs, whose minor of W is nonzero: the lower bound.
    states : tuple of State
    precision : int
        Bits.
    """

    model: str
    experiment: Experiment
    parameters: int
    upper: int
    lower: int
    certified: bool
    open_questions: tuple[str, ...]
    dependent: tuple[str, ...]
    vectors: tuple[int, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[int, int], ...]
    states: tuple[State, ...]
    precision: int


def certificate(found: Bounds) -> Certificate:
    """Return the certificate of an analysis."""
    dependent = _dependent(found)
    measured = measured_rows(found.experiment, found.mechanism)
    places = [divmod(row, len(measured)) for row in found.pivots.rows]
    used = sorted({state for state, _ in places})
    number = {state: i for i, state in enumerate(used)}
    poses = reference_poses(found.null.geometry, found.states)
    states = tuple(
        State(
            _numbers(found.states.y[k]),
            _numbers(found.states.yd[k]),
            _numbers(found.states.ydd[k]),
            _numbers(poses[k]),
        )
        for k in used
    )
    return Certificate(
        model=dumps(found.mechanism),
        experiment=found.experiment,
        parameters=found.parameters,
        upper=found.upper,
        lower=found.lower,
        certified=found.certified,
        open_questions=found.open_questions,
        dependent=dependent,
        vectors=_vectors(found, dependent),
        columns=tuple(found.candidates[j] for j in found.pivots.columns),
        rows=tuple((number[state], measured[row]) for state, row in places),
        states=states,
        precision=found.precision,
    )


def _dependent(found: Bounds) -> tuple[str, ...]:
    """Return what is no candidate; of known zeros, as many as transfers can tell apart."""
    null = found.null
    zero = [i for i, name in enumerate(null.names) if name in null.zeros]
    kept: set[int] = set()
    if zero and null.transfers:
        rows = null.matrix[zero]
        rank = np.linalg.matrix_rank(rows, tol=RANK_TOLERANCE)
        kept = {zero[int(i)] for i in qr(rows.T, mode="r", pivoting=True)[-1][:rank]}
    spare = set(zero) - kept
    chosen = set(found.candidates)
    return tuple(n for i, n in enumerate(null.names) if n not in chosen and i not in spare)


def _vectors(found: Bounds, dependent: tuple[str, ...]) -> tuple[int, ...]:
    """Choose transfers whose entries at the dependent parameters form a regular matrix."""
    place = {name: i for i, name in enumerate(found.null.names)}
    if not dependent or not found.null.transfers:
        return ()
    rows = found.null.matrix[[place[name] for name in dependent]]
    order = qr(rows, mode="r", pivoting=True)[-1]
    return tuple(sorted(int(k) for k in order[: found.null.rank]))


def _numbers(values: Floats) -> tuple[float, ...]:
    return tuple(float(x) for x in np.ravel(values))


def write_certificate(path: Path, found: Certificate) -> None:
    """Write a certificate as JSON."""
    write_text(
        path, json.dumps({"format": f"{_FORMAT} {FORMAT_VERSION}"} | asdict(found), indent=1)
    )


def _well_typed(c: Certificate) -> bool:
    numbers = (c.parameters, c.upper, c.lower, c.precision, *c.vectors)
    e = c.experiment
    texts = (c.model, *c.open_questions, *c.dependent, *c.columns, *e.hold, *(e.measure or ()))
    return (
        all(type(x) is int for x in numbers)
        and all(isinstance(x, str) for x in texts)
        and isinstance(c.certified, bool)
    )


def _read_numbers(values: Any) -> tuple[float, ...]:
    """Return a list of finite numbers; an OverflowError or ValueError where it is something else.

    Texts and booleans are not numbers, though `float` takes them.
    """
    if not isinstance(values, list) or any(type(x) not in (int, float) for x in values):
        raise ValueError("not a list of numbers")
    found = tuple(float(x) for x in values)
    if not np.all(np.abs(found) <= LARGEST):
        raise ValueError("a number is not finite, or out of range")
    return found


def _read_experiment(e: dict[str, Any]) -> Experiment:
    gravity = None if e["gravity"] is None else _read_numbers(e["gravity"])
    if type(e["static"]) is not bool or (gravity is not None and len(gravity) != 3):
        raise ValueError("not an experiment")
    if any(isinstance(e[key], str) for key in ("hold", "measure")):
        raise ValueError("names are a list")
    return Experiment(
        tuple(e["hold"]),
        None if e["measure"] is None else tuple(e["measure"]),
        e["static"],
        None if gravity is None else (gravity[0], gravity[1], gravity[2]),
    )


def _has_aliases(text: str) -> bool:
    """Tell whether a YAML text has aliases; certificates are written without, and a few can mean
    billions of entries."""
    if "&" not in text:  # no name that an alias could have
        return False
    try:
        return any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text))
    except yaml.YAMLError:
        return False  # whoever reads the model says better what is wrong


def read_certificate(path: Path) -> Certificate:
    """Read a certificate.

    Raises
    ------
    DataError
        If the file is not a certificate.
    """
    try:
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        name, number = str(data.pop("format")).rsplit(" ", 1)
        if name != _FORMAT:
            raise ValueError("another kind of file")
        check_format("certificate", int(number), FORMAT_VERSION, where=str(path), remedy=_REMEDY)
        data["experiment"] = _read_experiment(data["experiment"])
        data["states"] = tuple(
            State(*(_read_numbers(s[key]) for key in ("y", "yd", "ydd", "pose")))
            for s in data["states"]
        )
        data["rows"] = tuple((int(a), int(b)) for a, b in data["rows"])
        for key in ("open_questions", "dependent", "vectors", "columns"):
            data[key] = tuple(data[key])
        found = Certificate(**data)
        if not _well_typed(found) or _has_aliases(found.model):
            raise ValueError("something of another type")
        return found
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", where=str(path)) from error
    except (
        ValueError,
        KeyError,
        TypeError,
        IndexError,
        AttributeError,
        OverflowError,
        RecursionError,
    ) as error:
        raise DataError(
            "not a certificate of mechid",
            where=str(path),
            remedy=_REMEDY,
        ) from error
