"""Forward dynamics with Lagrange multipliers, on positions and Euler parameters.

    | M   C_qᵀ | |  q̈ |   | D_qᵀ τ - h |
    | C_q   0  | | -λ | = |      γ      |

C_q are the rows of joints, gauges and unit quaternions, D_q those of the declared coordinates, on
which the actuators act. Rows may be redundant: accelerations are unique all the same, multipliers
are then the shortest ones (moments, and forces times L, count alike). The number of admissible
motions is known, so the system is solved on them, q̈ = C_q⁺ γ + Z z̈, without asking a tolerance
which rows are redundant; constraints that have drifted a little do not upset it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mechid.dynamics.reference_point.eliminate import SINGULAR, to_declared
from mechid.dynamics.reference_point.mass import mass_and_bias
from mechid.dynamics.reference_point.model import ReferenceModel, parameter_values
from mechid.dynamics.reference_point.multipliers import multipliers_of
from mechid.errors import ModelError, SingularPoseError
from mechid.kinematics.reference_point.evaluate import gamma, jacobian
from mechid.kinematics.reference_point.system import Pose, closure_values, moved, pose_at
from mechid.spatial.rotations import Array

# A motion whose inertia is this small a part of the largest has none.
MASSLESS = 1e-14


@dataclass(frozen=True, eq=False)
class Augmented:
    """The blocks of the augmented system: M q̈ - C_qᵀ λ = force, C_q q̈ = right.

    Shapes (7 n_b, 7 n_b), (m, 7 n_b), (7 n_b,), (m,); rows as in `model.system.closure`.
    """

    M: Array
    C: Array
    force: Array
    right: Array

    @property
    def matrix(self) -> Array:
        """The symmetric matrix of the system; its unknowns are q̈ and -λ."""
        zero = np.zeros((len(self.C), len(self.C)))
        return np.block([[self.M, self.C.T], [self.C, zero]])


@dataclass(frozen=True, eq=False)
class Accelerations:
    """Solution of the augmented system.

    Attributes
    ----------
    qdd : (7 n_b,) array
        Second rates of positions (m/s²) and Euler parameters (1/s²).
    multipliers : (m,) array
        Per row of `model.system.closure`: N for rows in m, N m for the others. C_qᵀ λ are the
        forces of the constraints on the bodies.
    tau : (n_i,) array
        Generalised forces of the declared coordinates, those that drive some of them included.
    """

    qdd: Array
    multipliers: Array
    tau: Array


def accelerations(
    model: ReferenceModel,
    q: Array,
    qd: Array,
    tau: Array | Callable[[float], Array],
    t: float = 0.0,
    *,
    phi: Array | None = None,
    alpha: float = 0.0,
    beta: float = 0.0,
    near: Array | None = None,
    driven: dict[int, float] | None = None,
    pose: Pose | None = None,
) -> Accelerations:
    """Return the accelerations of all bodies under given actuator forces.

    Parameters
    ----------
    model : ReferenceModel
    q, qd : (7 n_b,) arrays
        Positions and Euler parameters, and their rates.
    tau : (n_i,) array, or a function of time that returns it
        Generalised forces of the declared coordinates (N or N m).
    t : float
        Time (s), for `tau`.
    phi : (p,) array, optional
        Values of the parameters (default: CAD).
    alpha, beta : float
        Baumgarte's coefficients (1/s): Φ̈ + 2 α Φ̇ + β² Φ = 0 instead of Φ̈ = 0.
    near : (n_rows,) array, optional
        Values near which the angles of torsion springs lie (default: within (-π, π]).
    driven : mapping number → acceleration, optional
        Declared coordinates whose acceleration is given instead of their force.
    pose : Pose, optional
        A pose nearby, from which coupled angles are followed (default: within (-π, π]).

    Raises
    ------
    SingularPoseError
        Where the constraints leave more motions than were declared.
    ModelError
        If an admissible motion moves no mass.
    """
    forces = np.array(tau(t) if callable(tau) else tau, dtype=float)
    a = augmented(model, q, qd, forces, phi=phi, alpha=alpha, beta=beta, near=near, pose=pose)
    D = jacobian(model.system.drivers, q)
    which = sorted(driven or {})
    given = np.array([(driven or {})[i] for i in which])
    # Second rates of the declared coordinates are D q̈ - γ.
    right = given + gamma(model.system.drivers, q, qd)[which]
    qdd, free = _solve(model, a, q, which, D[which], right)
    missing = a.M @ qdd - a.force
    if which:  # what the constraints cannot do, the drives must
        drives = np.linalg.lstsq((D[which] @ free).T, free.T @ missing, rcond=None)[0]
        forces[which] += drives
        missing = missing - D[which].T @ drives
    return Accelerations(qdd, multipliers_of(model, q, missing), forces)


def augmented(
    model: ReferenceModel,
    q: Array,
    qd: Array,
    tau: Array,
    *,
    phi: Array | None = None,
    alpha: float = 0.0,
    beta: float = 0.0,
    near: Array | None = None,
    pose: Pose | None = None,
) -> Augmented:
    """Return the blocks of the augmented system; arguments as for `accelerations`."""
    M, h = mass_and_bias(model, parameter_values(model, phi), q, qd, near)
    C = jacobian(model.system.closure, q)
    right = gamma(model.system.closure, q, qd)
    if alpha or beta:
        right = right - 2 * alpha * (C @ qd) - beta**2 * constraint_error(model, q, pose)
    D = jacobian(model.system.drivers, q)
    return Augmented(M, C, D.T @ np.asarray(tau, dtype=float) - h, right)


def constraint_error(model: ReferenceModel, q: Array, pose: Pose | None = None) -> Array:
    """Return Φ(q) (m,): gaps in m, misalignments without unit, rows as in the closure.

    The turns of a helical joint are those that its displacement shows; coupled angles are followed
    from `pose`.
    """
    system = model.system
    return closure_values(system, pose_at(system, q) if pose is None else moved(system, pose, q))


def _solve(
    model: ReferenceModel, a: Augmented, q: Array, which: list[int], D: Array, right: Array
) -> tuple[Array, Array]:
    """Solve for q̈ with D q̈ = right, on the admissible motions; return these (7 n_b, n_free) too."""
    scale = model.system.q_scale
    rows = model.system.closure.scale(model.system.size)
    C = rows[:, None] * a.C * scale
    rank = C.shape[1] - model.n_free
    U, s, Vt = np.linalg.svd(C)
    if len(s) < rank or (rank and s[rank - 1] < SINGULAR):
        raise SingularPoseError(
            "the constraints leave more motions than the declared ones in this pose",
            where=model.mechanism.name,
            remedy="keep the motion away from this pose",
        )
    along = Vt[:rank].T @ (U[:, :rank].T @ (rows * a.right) / s[:rank])
    particular = scale * along
    free = scale[:, None] * Vt[rank:].T
    if model.n_free == model.n_independent:
        free = free @ to_declared(model, q, free)
    Z = free
    if which:
        units = model.system.drivers.scale(model.system.size)[which]
        U, s, Vt = np.linalg.svd(units[:, None] * (D @ free))
        if s[-1] < SINGULAR * s[0]:
            raise SingularPoseError(
                "the driven coordinates do not determine their part of the motion in this pose",
                where=model.mechanism.name,
                remedy="keep the motion away from this pose",
            )
        n, left = len(which), units * (right - D @ particular)
        particular = particular + free @ (Vt[:n].T @ (U.T @ left / s))
        Z = free @ Vt[n:].T
    mass = Z.T @ a.M @ Z
    _refuse_massless(model, mass)
    force = Z.T @ (a.force - a.M @ particular)
    return np.asarray(particular + Z @ np.linalg.solve(mass, force)), free


def _refuse_massless(model: ReferenceModel, mass: Array) -> None:
    size = np.sqrt(np.abs(np.diag(mass)))
    if size.size and not size.min() > 0:
        singular = np.zeros(1)
    else:
        singular = np.linalg.svd(mass / np.outer(size, size), compute_uv=False)
    if size.size and singular[-1] < MASSLESS * max(float(singular[0]), MASSLESS):
        raise ModelError(
            "a motion that the joints admit moves no mass",
            path=("bodies",),
            where=model.mechanism.name,
            remedy="give the bodies that move in it a mass or an inertia",
        )
