"""Recheck a certificate without trusting how it was found.

Nothing is searched for. Upper bound: the transfers follow from the joints of the model (and from
loops, by a count of equations); the minor of N that the certificate names must exclude zero.
Lower bound: around each pose that it gives, exactly one pose of the mechanism is enclosed; the
minor of W that it names must exclude zero there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from flint import arb, arb_mat, ctx

from mechid.base.bounds import all_transfers, joint_count
from mechid.base.certificate import Certificate
from mechid.base.constant import zero_of
from mechid.base.experiment import EVERYTHING, checked, measured_rows, random_states
from mechid.base.nullspace import NullSpace
from mechid.base.spaces import rank
from mechid.dynamics.compile import dynamic_model
from mechid.errors import DataError, KinematicsError
from mechid.exact.geometry import Geometry, exact_geometry
from mechid.exact.observe import Measures, exact_gravity, measures, observe
from mechid.exact.poses import ExactSystem, enclose, exact_system
from mechid.mechanism.records import Mechanism
from mechid.modelfile.api import loads

_LEAST_BITS, _MOST_BITS = 53, 100_000


@dataclass(frozen=True)
class Verdict:
    """What a certificate proves.

    Attributes
    ----------
    parameters, upper, lower : int
        As rechecked.
    valid : bool
        Whether everything the certificate claims was confirmed.
    certified : bool
        Whether the bounds meet and everything is proved.
    notes : tuple of str
        What is wrong, or not proved.
    """

    parameters: int
    upper: int
    lower: int
    valid: bool
    certified: bool
    notes: tuple[str, ...]


def verify(given: Certificate, watch: Callable[[int, int], None] | None = None) -> Verdict:
    """Recheck both bounds of a certificate.

    Raises
    ------
    DataError
        If the certificate does not fit the model that it holds.
    """
    mechanism = loads(given.model)
    experiment = checked(given.experiment, mechanism)
    _fits(given, mechanism)
    geometry = exact_geometry(mechanism, "exact")
    null, _, proof = all_transfers(geometry, experiment)
    parameters = len(null.names) - len(null.zeros)
    notes: list[str] = []
    with ctx.workprec(given.precision):
        upper = parameters - _dependent(given, null, notes)
        lower, aside = _lower(given, geometry, watch, notes)
    if proof is not None and not proof.proves:
        notes.append(f"not proved: the constraints of the loops on the bodies ({proof.words})")
    if aside:
        count = joint_count(geometry, random_states(mechanism, EVERYTHING, 2, 0))
        if not count.proves:
            notes.append(f"not proved: {aside} constraints are redundant ({count.words})")
    if geometry.rounded:
        notes.append(f"{len(geometry.rounded)} numbers of the geometry are used as binary values")
    said = (given.parameters, given.upper, given.lower)
    valid = (parameters, upper, lower) == said
    certified = lower == upper and not notes
    if given.certified and not certified:
        valid = False
    return Verdict(parameters, upper, lower, valid, certified, tuple(notes))


def _fits(given: Certificate, mechanism: Mechanism) -> None:
    """Reject wrong numbers of values, and values that are not finite."""
    n_i, n = len(mechanism.coordinates), 7 * len(mechanism.bodies)
    names = {c.name for c in dynamic_model(mechanism).columns}
    for name in (*given.columns, *given.dependent):
        if name not in names:
            raise DataError(f"the model has no parameter {name}", where="certificate")
    for k, s in enumerate(given.states):
        shape = (len(s.y), len(s.yd), len(s.ydd), len(s.pose))
        if shape != (n_i, n_i, n_i, n) or not np.all(np.isfinite((*s.y, *s.yd, *s.ydd, *s.pose))):
            raise DataError("wrong number of values", where=f"certificate, state {k + 1}")
    for state, row in given.rows:
        if not (0 <= state < len(given.states) and 0 <= row < n_i):
            raise DataError(f"there is no row {row} of state {state}", where="certificate")
    if not _LEAST_BITS <= given.precision <= _MOST_BITS:
        raise DataError(
            f"the precision must be between {_LEAST_BITS} and {_MOST_BITS} "
            f"bits, got {given.precision}",
            where="certificate",
        )


def _dependent(given: Certificate, null: NullSpace, notes: list[str]) -> int:
    """Return how many parameters depend on others.

    The minor that is named shows that k transfers are independent. Of their combinations, those
    count that leave the parameters of massless bodies at zero.
    """
    entries, balls = null.symbolic(), null.geometry.balls

    def rows(names: Iterable[str]) -> list[list[arb]]:
        return [[balls(entries.get((name, k), 0)) for k in given.vectors] for name in names]

    if len(given.vectors) != len(given.dependent) or not _regular(rows(given.dependent)):
        notes.append("the dependent parameters and transfers do not give a nonsingular minor")
        return 0
    known = rank(rows(sorted(null.zeros)), zero_of(null.geometry)) if given.vectors else 0
    return len(given.vectors) - known


def _lower(
    given: Certificate,
    geometry: Geometry,
    watch: Callable[[int, int], None] | None,
    notes: list[str],
) -> tuple[int, int]:
    """Return the proven rank and the number of redundant rows."""
    if not given.states:
        return 0, 0
    place = {c.name: i for i, c in enumerate(dynamic_model(geometry.mechanism).columns)}
    columns = [place[name] for name in given.columns]
    system = exact_system(geometry, np.array(given.states[0].pose))
    found: dict[tuple[int, int], list[arb]] = {}
    notes += _outside(given, geometry.mechanism)
    measured = measures(system)
    for k in range(len(given.states)):
        W = _observed(given, system, measured, k)
        if W is None:
            notes.append(f"state {k + 1}: the pose cannot be enclosed")
            return 0, len(system.aside)
        for i in range(W.nrows()):
            found[k, i] = [W[i, j] for j in columns]
        if watch is not None:
            watch(k + 1, len(given.states))
    square = [found[place_] for place_ in given.rows]
    if len(square) == len(columns) and _regular(square):
        return len(columns), len(system.aside)
    notes.append("the minor of the observation matrix does not exclude zero")
    return 0, len(system.aside)


def _outside(given: Certificate, mechanism: Mechanism) -> list[str]:
    """Return where the states or rows are not those of the experiment."""
    wrong = []
    experiment = checked(given.experiment, mechanism)
    home = given.states[0].y
    for k, state in enumerate(given.states):
        if experiment.static and any((*state.yd, *state.ydd)):
            wrong.append(f"state {k + 1} moves, and the experiment is static")
        for j, c in enumerate(mechanism.coordinates):
            still = state.y[j] == home[j] and not state.yd[j] and not state.ydd[j]
            if c.name in experiment.hold and not still:
                wrong.append(f"state {k + 1} moves {c.name}, which is held")
    if {row for _, row in given.rows} - set(measured_rows(experiment, mechanism)):
        wrong.append("a force is used that is not measured")
    return wrong


def _observed(given: Certificate, system: ExactSystem, found: Measures, k: int) -> arb_mat | None:
    state = given.states[k]
    gravity = exact_gravity(system, given.experiment.gravity_of(system.geometry.mechanism))
    try:
        pose = enclose(system, np.array(state.pose), state.y)
    except KinematicsError:
        return None
    return observe(system, found, pose, state.yd, state.ydd, gravity, state.y)


def _regular(rows: list[list[arb]]) -> bool:
    """Return whether the determinant of a square matrix excludes zero, columns made alike."""
    if not rows:
        return True
    n = len(rows)
    scale = [max(float(abs(row[j]).mid()) for row in rows) for j in range(n)]
    if min(scale) == 0:
        return False
    A = arb_mat([[row[j] / arb(scale[j]) for j in range(n)] for row in rows])
    return not A.det().contains(0)
