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

from mechid.base.bounds import all_transfers, home_branch, rounded
from mechid.base.certificate import Certificate
from mechid.base.constant import zero_of
from mechid.base.experiment import checked, measured_rows
from mechid.base.nullspace import NullSpace
from mechid.base.spaces import rank
from mechid.dynamics.compile import dynamic_model
from mechid.errors import DataError, KinematicsError
from mechid.exact.branch import Branch
from mechid.exact.geometry import Geometry, exact_geometry
from mechid.exact.numbers import MOST_PRECISION
from mechid.exact.observe import Measures, exact_gravity, measures, observe
from mechid.exact.poses import ExactSystem, enclose, exact_system
from mechid.exact.stack import closes, closure_gap, widened
from mechid.kinematics.coordinates import joint_coordinates
from mechid.kinematics.joint_limits import beyond
from mechid.mechanism.records import GROUND, Mechanism, Vec3
from mechid.mechanism.size import characteristic_size
from mechid.modelfile.api import loads
from mechid.spatial.rotations import matrix_from_quaternion

_LOWER, _UPPER = "lower bound not proved", "upper bound not proved"
_LEAST_BITS = 53
_LENGTH = 1e-3  # by which that of Euler parameters may be off before poses are enclosed


@dataclass(frozen=True)
class Verdict:
    """What a certificate proves.

    Attributes
    ----------
    model : str
        Name of the mechanism.
    gravity : Vec3
        Weight per unit mass, m/s².
    experiment : str
        What is moved and measured, in words.
    claimed : tuple of int
        Parameters, upper and lower bound, as the certificate says.
    parameters, upper, lower : int
        As rechecked.
    valid : bool
        Whether everything the certificate claims was confirmed.
    certified : bool
        Whether the bounds meet and everything is proved.
    notes : tuple of str
        What is wrong, or not proved.
    """

    model: str
    gravity: Vec3
    experiment: str
    claimed: tuple[int, int, int]
    parameters: int
    upper: int
    lower: int
    valid: bool
    certified: bool
    notes: tuple[str, ...]

    @property
    def proved(self) -> str:
        """What is proved of the number of base parameters, in words."""
        if self.certified:
            return f"exactly {self.lower} of {self.parameters} parameters can be identified"
        bounds = [("at least", self.lower, _LOWER), ("at most", self.upper, _UPPER)]
        known = [
            f"{words} {number}"
            for words, number, doubt in bounds
            if not any(note.startswith(doubt) for note in self.notes)
        ]
        if not known:
            return "nothing"
        return f"{' and '.join(known)} of {self.parameters} parameters can be identified"


def verify(
    given: Certificate,
    watch: Callable[[int, int], None] | None = None,
    *,
    model: Mechanism | None = None,
) -> Verdict:
    """Recheck both bounds of a certificate.

    Parameters
    ----------
    given : Certificate
    watch : callable, optional
        Told (done, of) as poses are enclosed.
    model : Mechanism, optional
        Check what the certificate says about this mechanism, and not about the one it holds.

    Raises
    ------
    DataError
        If the certificate does not fit the model.
    """
    mechanism = _held_model(given) if model is None else model
    experiment = checked(given.experiment, mechanism)
    _fits(given, mechanism)
    geometry = exact_geometry(mechanism, "exact")
    found = all_transfers(geometry, experiment)
    null = found.null
    parameters = len(null.names) - len(null.zeros)
    outside = [*_outside(given, mechanism), *_beyond_limits(given, geometry)]
    notes = list(outside)
    with ctx.workprec(given.precision):
        upper = parameters - _dependent(given, null, notes)
        # States of another experiment show nothing about this one.
        lower, aside = (0, 0) if outside else _lower(given, geometry, watch, notes)
    proof = found.proof(bool(aside))
    if proof is not None and not proof.proves:
        notes.append(f"{_UPPER}: the constraints of the loops on the bodies ({proof.words})")
    notes += rounded(geometry)
    claimed = (given.parameters, given.upper, given.lower)
    certified = lower == upper and not notes
    return Verdict(
        model=mechanism.name,
        gravity=experiment.gravity_of(mechanism),
        experiment=experiment.words,
        claimed=claimed,
        parameters=parameters,
        upper=upper,
        lower=lower,
        valid=not outside
        and (parameters, upper, lower) == claimed
        and (certified or not given.certified),
        certified=certified,
        notes=tuple(notes),
    )


def _held_model(given: Certificate) -> Mechanism:
    """Return the mechanism in a certificate."""
    try:
        return loads(given.model)
    except RecursionError:
        raise DataError("the model is nested too deeply", where="certificate") from None


def _fits(given: Certificate, mechanism: Mechanism) -> None:
    """Reject wrong numbers of values, values that are not finite, and poses without rotation."""
    n_i, n = len(mechanism.coordinates), 7 * len(mechanism.bodies)
    names = {c.name for c in dynamic_model(mechanism).columns}
    for what, found, most in (
        ("dependent parameters", given.dependent, len(names)),
        ("columns", given.columns, len(names)),
        ("rows", given.rows, len(names)),
        ("states", given.states, len(names)),
    ):
        if len(found) > most:
            raise DataError(
                f"a minor has at most {most} {what}, got {len(found)}", where="certificate"
            )
    for name in (*given.columns, *given.dependent):
        if name not in names:
            raise DataError(f"the model has no parameter {name}", where="certificate")
    for k, s in enumerate(given.states):
        shape = (len(s.y), len(s.yd), len(s.ydd), len(s.pose))
        if shape != (n_i, n_i, n_i, n) or not np.all(np.isfinite((*s.y, *s.yd, *s.ydd, *s.pose))):
            raise DataError("wrong number of values", where=f"certificate, state {k + 1}")
        lengths = np.linalg.norm(np.reshape(s.pose, (-1, 7))[:, 3:], axis=1)
        if np.any(np.abs(lengths - 1.0) > _LENGTH):
            raise DataError(
                "Euler parameters must have length 1", where=f"certificate, state {k + 1}"
            )
    for state, row in given.rows:
        if not (0 <= state < len(given.states) and 0 <= row < n_i):
            raise DataError(f"there is no row {row} of state {state}", where="certificate")
    if not _LEAST_BITS <= given.precision <= MOST_PRECISION:
        raise DataError(
            f"the precision must be between {_LEAST_BITS} and {MOST_PRECISION} "
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
    branch, _ = home_branch(geometry)
    system = exact_system(geometry, branch.x)
    found: dict[tuple[int, int], list[arb]] = {}
    gap = 0.0
    measured = measures(system)
    for k in range(len(given.states)):
        try:
            seen = _observed(given, system, branch, measured, k)
        except KinematicsError as error:
            notes.append(f"state {k + 1}: {error.what}")
            return 0, len(system.aside)
        W, gap = seen[0], max(gap, seen[1])
        for i in range(W.nrows()):
            found[k, i] = [W[i, j] for j in columns]
        if watch is not None:
            watch(k + 1, len(given.states))
    if not closes(gap):
        notes.append(f"{_LOWER}: redundant constraints hold to {gap:.0e} only")
    square = widened([found[place_] for place_ in given.rows], gap)
    if len(square) == len(columns) and _regular(square):
        return len(columns), len(system.aside)
    notes.append("the minor of the observation matrix does not exclude zero")
    return 0, len(system.aside)


def _outside(given: Certificate, mechanism: Mechanism) -> list[str]:
    """Return where the states or rows are not those of the experiment."""
    wrong = []
    experiment = checked(given.experiment, mechanism)
    names = [c.name for c in mechanism.coordinates]
    first = given.states[0].y if given.states else ()
    for k, state in enumerate(given.states, start=1):
        if experiment.static and any((*state.yd, *state.ydd)):
            wrong.append(f"state {k} moves, but the experiment is static")
        for j, name in enumerate(names):
            still = state.y[j] == first[j] and not state.yd[j] and not state.ydd[j]
            if name in experiment.hold and not still:
                wrong.append(f"state {k} moves {name}, which is held")
    for row in sorted({row for _, row in given.rows} - set(measured_rows(experiment, mechanism))):
        wrong.append(f"the force on {names[row]} is used, but not measured")
    return wrong


def _beyond_limits(given: Certificate, geometry: Geometry) -> list[str]:
    """Return which states are outside the limits of the joints."""
    wrong: list[str] = []
    n = len(given.states)
    if not n:
        return wrong
    pose = np.array([s.pose for s in given.states]).reshape(n, -1, 7)
    place = {GROUND: (np.tile(np.eye(3), (n, 1, 1)), np.zeros((n, 3)))}
    for i, body in enumerate(geometry.mechanism.bodies):
        R, p = matrix_from_quaternion(pose[:, i, 3:]), pose[:, i, :3]
        if body.name in geometry.turned:
            p = p + R @ np.array(body.frame.origin)
            R = R @ np.array(body.frame.rotation)
        place[body.name] = R, p
    for joint in geometry.mechanism.joints:
        if not joint.limits:
            continue
        ends = []
        for name, frame in ((joint.body_a, joint.frame_a), (joint.body_b, joint.frame_b)):
            R, p = place[name]
            ends.append((R @ np.array(frame.rotation), p + R @ np.array(frame.origin)))
        (Ra, pa), (Rb, pb) = ends
        back = np.swapaxes(Ra, 1, 2)
        shift = np.einsum("nij,nj->ni", back, pb - pa)
        values = joint_coordinates(joint, back @ Rb, shift)
        unknown = [False] * len(joint.limits)
        for k, over in beyond(joint, values, unknown, characteristic_size(geometry.mechanism)):
            wrong += [
                f"state {m + 1} is outside the limits of {joint.name}.{joint.kind.coordinates[k]}"
                for m in np.flatnonzero(over)
            ]
    return wrong


def _observed(
    given: Certificate, system: ExactSystem, branch: Branch, found: Measures, k: int
) -> tuple[arb_mat, float]:
    """Return W of a state, and how far redundant rows are open there."""
    state = given.states[k]
    gravity = exact_gravity(system, given.experiment.gravity_of(system.geometry.mechanism))
    pose = enclose(system, np.array(state.pose), state.y)
    branch.reach(pose, np.array(state.y))
    W = observe(system, found, pose, state.yd, state.ydd, gravity, state.y)
    return W, closure_gap(system, pose, state.y)


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
