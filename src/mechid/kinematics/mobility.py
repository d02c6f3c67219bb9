"""Mobility: degrees of freedom, redundant constraints, passive motions, independent coordinates.

Counting constraints (Grübler) says nothing certain about a mechanism with special geometry, so
the rank of all joint constraints is taken at closed poses that are not special: the mechanism is
assembled, walked along its own motions in random directions (fixed seeds), and closed to rounding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType

import numpy as np

from mechid.errors import AssemblyError, KinematicsError, ModelError
from mechid.kinematics.reference_point.close import assemble
from mechid.kinematics.reference_point.constraints import AXES, GROUND_AXES, Row, body_numbers
from mechid.kinematics.reference_point.drivers import driver_row, joint_coordinate_row
from mechid.kinematics.reference_point.evaluate import compile_rows
from mechid.kinematics.reference_point.passive import Spin, passive_spins
from mechid.kinematics.reference_point.system import Pose, System, compile_system, twist_jacobian
from mechid.kinematics.reference_point.walk import random_walk
from mechid.mechanism.joint_kinds import JOINT_KINDS
from mechid.mechanism.planar import refuse_tilted_axes
from mechid.mechanism.records import GROUND, JointCoordinate, Mechanism, Point, PointCoordinate
from mechid.mechanism.size import shortest_body
from mechid.shown import Shown
from mechid.spatial.rotations import Array

SEEDS = (1, 2, 3)
# Relative to the largest singular value. Closed poses leave dependent ones near 1e-15.
RANK_TOLERANCE = 1e-9
# Where loops can only just be closed (a linkage stretched to its full length), rounding leaves the
# pose uncertain by its square root, about 1e-7, and singular values that are zero as large as that.
CLEAR = 1e-6
# A turn of a body moves its joints by its length, in units of L: a singular value as small as that.
# Below this ratio of lengths the reason for an unclear rank is another one.
APART = 1e5
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, repr=False)
class Mobility(Shown):
    """What can move, and what is held more than once.

    Attributes
    ----------
    bodies : int
        Moving bodies.
    joints : Mapping[str, int]
        Number of joints per letter (R, P, …), in the order of NOTATION.md.
    grubler : int
        6 n_b less the constraints of joints, couplings and distances.
    dof : int
        Degrees of freedom at generic poses near the reference, passive ones included.
    redundant_constraints : int
        Constraints that follow from others: dof - grubler.
    redundant : tuple of str
        The rows set aside, going through the joints in order: each follows from earlier ones.
    passive_dof : int
        Motions of a part hung between spherical joints, about the line through them.
    passive : tuple of str
        These motions in words.
    independent : int
        Number of declared independent coordinates.
    dependent : tuple of str
        Declared coordinates that follow from the constraints and the coordinates before them.
    undetermined : int
        Motions, passive ones not counted, that the declared coordinates leave free.
    suggested : tuple of str
        As many coordinates that would determine these motions, in words of the model file.
    gap : float
        Smallest singular value kept over the largest one dropped (or over rounding): how clear the
        rank is.
    """

    bodies: int
    joints: Mapping[str, int]
    grubler: int
    dof: int
    redundant_constraints: int
    redundant: tuple[str, ...]
    passive_dof: int
    passive: tuple[str, ...]
    independent: int
    dependent: tuple[str, ...]
    undetermined: int
    suggested: tuple[str, ...]
    gap: float

    def summary(self) -> Mapping[str, object]:
        """Return what `repr` shows."""
        return {
            "bodies": self.bodies,
            "joints": ", ".join(f"{count} {letter}" for letter, count in self.joints.items()),
            "Grübler's count": self.grubler,
            "degrees of freedom": self.dof,
            "passive": self.passive,
            "redundant constraints": self.redundant_constraints,
            "coordinates": self.independent,
            "dependent": self.dependent,
            "undetermined": self.undetermined or None,
        }


@dataclass(frozen=True, eq=False)
class _Generic:
    """A generic pose, the constraints there, and their rank."""

    pose: Pose
    J: Array
    motions: Array
    rank: int
    smallest: float
    gap: float


def mobility(mechanism: Mechanism | System) -> Mobility:
    """Analyse the mobility of a mechanism at generic closed poses near its reference pose.

    Parameters
    ----------
    mechanism : Mechanism
        Or its compiled reference-point system.

    Raises
    ------
    AssemblyError
        If the mechanism cannot be closed.
    KinematicsError
        If the rank of its constraints cannot be told: the mechanism is shaky, or its lengths
        differ too much.

    Examples
    --------
    >>> import mechid
    >>> found = mechid.mobility(mechid.load("four_bar"))
    >>> found.grubler, found.dof, found.redundant_constraints  # a planar loop in space
    (-2, 1, 3)
    """
    system = mechanism if isinstance(mechanism, System) else compile_system(mechanism)
    refuse_tilted_axes(system.mechanism)
    generic = generic_poses(system)
    best = max(generic, key=lambda g: (g.rank, g.smallest))
    if best.smallest < CLEAR:
        raise KinematicsError(
            "the loops close in singular poses only: some motion is possible to first order, and "
            "blocked beyond",
            where=system.mechanism.name,
            remedy="change the lengths of the loop that is stretched or folded to its limit",
        )
    spins = passive_spins(system, [*(g.pose for g in generic), best.pose])
    redundant = _redundant(system, best)
    dependent, undetermined, suggested = _independence(system, best, spins)
    count = Counter(joint.kind.letter for joint in system.mechanism.joints)
    letters = [kind.letter for kind in JOINT_KINDS.values()]
    return Mobility(
        bodies=system.n_bodies,
        joints=MappingProxyType({x: count[x] for x in letters if count[x]}),
        grubler=6 * system.n_bodies - len(system.named.rows),
        dof=6 * system.n_bodies - best.rank,
        redundant_constraints=len(redundant),
        redundant=redundant,
        passive_dof=len(spins),
        passive=tuple(spin.words for spin in spins),
        independent=len(system.drivers.rows),
        dependent=dependent,
        undetermined=undetermined,
        suggested=suggested,
        gap=best.gap,
    )


def check_independent(mechanism: Mechanism | System, known: Mobility | None = None) -> None:
    """Reject independent coordinates that are too few, too many, or follow from one another.

    Parameters
    ----------
    mechanism : Mechanism or System
    known : Mobility, optional
        Result of `mobility`, if at hand.

    Raises
    ------
    ModelError
    """
    m = mobility(mechanism) if known is None else known
    needed = m.dof - m.passive_dof
    have = f"{m.independent} independent coordinate" + ("" if m.independent == 1 else "s")
    freedom = f"{needed} degree{'' if needed == 1 else 's'} of freedom" + (
        f" (besides {m.passive_dof} passive)" if m.passive_dof else ""
    )
    add = f"add {_some(m.suggested)}" if m.suggested else ""
    if m.dependent and needed == 0:
        held = "" if not m.redundant else f"; redundant are {', '.join(m.redundant)}"
        raise ModelError(
            f"the mechanism cannot move: its joints leave {freedom}, and {have} "
            f"{'is' if m.independent == 1 else 'are'} declared{held}",
            path=("coordinates", m.dependent[0]),
            remedy="give a joint more freedom (another type), or correct the axes and lengths of a "
            "loop; a structure that is meant to stand still has no coordinates",
        )
    described = mechanism.mechanism if isinstance(mechanism, System) else mechanism
    bound = "joints, the constraints" if described.constraints else "joints"
    if m.dependent:
        names = ", ".join(f"'{name}'" for name in m.dependent)
        one = len(m.dependent) == 1
        raise ModelError(
            f"{names} follow{'s' if one else ''} from the {bound} and the coordinates before "
            f"{'it' if one else 'them'}: {have} for {freedom}",
            path=("coordinates", m.dependent[0]),
            remedy=f"remove {'it' if one else 'them'}" + (f" and {add}" if add else ""),
        )
    if m.undetermined:
        raise ModelError(
            f"the mechanism has {freedom}, but {have}; {m.undetermined} "
            f"motion{' is' if m.undetermined == 1 else 's are'} left undetermined",
            path=("coordinates",),
            remedy=add,
        )


def generic_poses(system: System) -> tuple[_Generic, ...]:
    """Walk to a generic closed pose for each seed, and take the rank of the constraints there."""
    start = assemble(system)
    found = []
    for seed in SEEDS:
        try:
            pose = random_walk(system, start, np.random.default_rng(seed))
        except AssemblyError:
            _refuse_lengths(system)
            raise
        found.append(_analysed(system, pose))
        if found[-1].smallest < CLEAR:
            _refuse_lengths(system)  # now: walks take long then, and end no better
    return tuple(found)


def _refuse_lengths(system: System) -> None:
    """Raise if the mechanism has lengths so different that its motions drown in rounding."""
    shortest = shortest_body(system.mechanism)
    if shortest is None or system.size < APART * shortest[1]:
        return
    name, length = shortest
    raise KinematicsError(
        f"lengths differ too much: points are up to {system.size:.3g} m apart, and the joints of "
        f"body {name} {length:.3g} m",
        where=system.mechanism.name,
        remedy="check the units of the positions, or move what stands far away nearer to the rest",
    )


def _analysed(system: System, pose: Pose) -> _Generic:
    J = twist_jacobian(system, system.named, pose)
    n = J.shape[1]
    if len(J) == 0:
        return _Generic(pose, J, np.eye(n), 0, 1.0, 1 / EPS)
    _, s, Vt = np.linalg.svd(J)
    rank = int(np.sum(s > RANK_TOLERANCE * s[0]))
    dropped = max(float(s[rank]) if rank < len(s) else 0.0, EPS * float(s[0]))
    kept = float(s[rank - 1])
    return _Generic(pose, J, Vt[rank:].T, rank, kept / float(s[0]), kept / dropped)


def dependent_rows(J: Array, tolerance: float = RANK_TOLERANCE) -> tuple[int, ...]:
    """Return the rows that follow from the rows before them.

    Rows are taken in order and orthogonalised (twice, against rounding) against the kept ones; a
    row of which no more than `tolerance` is left is set aside.
    """
    basis = np.zeros((0, J.shape[1]))
    aside = []
    for i, row in enumerate(J):
        length = float(np.linalg.norm(row))
        rest = row / length if length > 0 else row
        for _ in range(2):
            rest = rest - (basis @ rest) @ basis
        left = float(np.linalg.norm(rest))
        if left <= tolerance:
            aside.append(i)
        else:
            basis = np.vstack([basis, rest / left])
    return tuple(aside)


def _redundant(system: System, generic: _Generic) -> tuple[str, ...]:
    """Name the redundant rows; as many as the rank says, or it is not clear."""
    expected = len(generic.J) - generic.rank
    # What is left of a row can be smaller than the smallest singular value, so the bound may move.
    for exponent in (0, -1, -2, 1, -3, 2, 3):
        aside = dependent_rows(generic.J, RANK_TOLERANCE * 10.0**exponent)
        if len(aside) == expected:
            return tuple(system.named.rows[i].name for i in aside)
    raise KinematicsError(
        f"the number of redundant constraints is not clear (gap {generic.gap:.1g})",
        where=system.mechanism.name,
        remedy="give a reference pose farther from a singular one",
    )


def _independence(
    system: System, generic: _Generic, spins: Sequence[Spin]
) -> tuple[tuple[str, ...], int, tuple[str, ...]]:
    """Return the dependent coordinates, the number of undetermined motions, and suggestions."""
    D = twist_jacobian(system, system.drivers, generic.pose)
    lengths = np.linalg.norm(D, axis=1, keepdims=True)
    driven = (D / np.where(lengths > 0, lengths, 1.0)) @ generic.motions
    # A coordinate that no admissible motion changes is dependent; its small remainder is noise.
    driven[np.linalg.norm(driven, axis=1) < np.sqrt(EPS)] = 0.0
    aside = dependent_rows(driven, np.sqrt(EPS))
    kept = [i for i in range(len(D)) if i not in aside]
    free = _complement(driven[kept])  # motions left free, in terms of the admissible ones
    twists = np.array([spin.twist for spin in spins]).reshape(-1, D.shape[1])
    others = _complement(twists @ generic.motions)  # what is not passive
    real = others @ _range(others.T @ free)
    names = tuple(system.drivers.rows[i].name for i in aside)
    return names, real.shape[1], _suggested(system, generic, real, twists)


def _complement(rows: Array) -> Array:
    """Return an orthonormal basis of what is orthogonal to the rows, (n, k)."""
    if len(rows) == 0:
        return np.eye(rows.shape[1])
    _, s, Vt = np.linalg.svd(rows)
    return np.asarray(Vt[int(np.sum(s > np.sqrt(EPS))) :].T)


def _range(columns: Array) -> Array:
    """Return an orthonormal basis of the span of the columns, (n, k)."""
    U, s, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(U[:, s > np.sqrt(EPS)])


def _suggested(system: System, generic: _Generic, free: Array, passive: Array) -> tuple[str, ...]:
    """Choose coordinates that determine the free motions, in words that the model file takes.

    Joint coordinates first, the strongest at each turn; of an orientation all three angles at once,
    as the file demands. Where they do not suffice, positions of points. What a passive motion
    changes is no choice: it would have to be driven then.
    """
    if free.shape[1] == 0:
        return ()
    mechanism = system.mechanism
    numbers = body_numbers(mechanism)
    driven = {c.joint for c in mechanism.coordinates if isinstance(c, JointCoordinate)}
    groups: list[tuple[str, list[Row]]] = []
    for joint in mechanism.joints:
        n = joint.kind.n_scalars
        rows = [
            joint_coordinate_row(f"{joint.name}.{name}", joint, k, numbers)
            for k, name in enumerate(joint.kind.choices)
        ]
        groups += [(joint.name, [row]) for row in rows[:n]]
        groups += [(joint.name, rows[n:])] if rows[n:] else []
    points = [
        *(p for p in mechanism.points if p.body != GROUND),
        *(Point(f"{{in: {b.name}, at: {list(at)}}}", b.name, at) for b in mechanism.bodies
          for at in ((0.0, 0.0, 0.0), *GROUND_AXES)),
    ]  # fmt: skip
    for point, (k, along) in product(points, enumerate(GROUND_AXES)):
        place = f"{point.body}.{point.name}" if point in mechanism.points else point.name
        coordinate = PointCoordinate(f"point {place} along {AXES[k]}", point, along, "")
        groups.append(("", [driver_row(coordinate, mechanism, numbers)]))
    every = tuple(row for _, rows in groups for row in rows)
    J = twist_jacobian(system, compile_rows(every, system.n_bodies), generic.pose)
    ends = np.cumsum([len(rows) for _, rows in groups])
    effects = np.split(J @ generic.motions @ free, ends[:-1])
    spun = [bool(np.any(np.abs(x) > np.sqrt(EPS))) for x in np.split(J @ passive.T, ends[:-1])]
    chosen: list[str] = []
    for joints_only in (True, False):
        while free.shape[1] > len(chosen):
            strength = [
                _smallest(effect)
                if bool(joint) == joints_only
                and not spins
                and not _fills_a_loop(mechanism, driven | {joint})
                else 0.0
                for (joint, _), effect, spins in zip(groups, effects, spun, strict=True)
            ]
            best = int(np.argmax(strength))
            if strength[best] < np.sqrt(EPS):
                break
            chosen += [row.name for row in groups[best][1]]
            driven.add(groups[best][0])
            left = _complement(effects[best] / np.linalg.norm(effects[best]))
            effects = [effect @ left for effect in effects]
    return tuple(chosen)


def _smallest(effect: Array) -> float:
    """Return the smallest singular value of rows, 0 if they are more than the columns."""
    if len(effect) > effect.shape[1]:
        return 0.0
    return float(np.linalg.svd(effect, compute_uv=False)[-1])


def _fills_a_loop(mechanism: Mechanism, joints: set[str]) -> bool:
    """Tell whether joints make a whole loop: one of them would have to be cut, and cannot be."""
    part = {name: name for name in (GROUND, *(body.name for body in mechanism.bodies))}
    for joint in (j for j in mechanism.joints if j.name in joints):
        a, b = part[joint.body_a], part[joint.body_b]
        if a == b:
            return True
        part = {name: a if label == b else label for name, label in part.items()}
    return False


def _some(names: tuple[str, ...]) -> str:
    what = "a coordinate" if len(names) == 1 else f"{len(names)} coordinates"
    return f"{what}, for instance {', '.join(names)}"
