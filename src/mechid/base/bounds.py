"""How many parameters can be identified: bounded from above by transfers, from below by balls.

Every transfer is a null vector of the observation matrix, so the number of base parameters is at
most that of all parameters less the rank of N. A minor of W that excludes zero in ball
arithmetic, at poses that are enclosed, shows that it is at least the size of the minor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from flint import arb, ctx
from scipy.linalg import qr

from mechid.base.constant import ROUNDED_ZERO
from mechid.base.experiment import (
    EVERYTHING,
    Experiment,
    checked,
    home_state,
    measured_rows,
    random_states,
    reach_of,
)
from mechid.base.loop_constraints import SAMPLES
from mechid.base.loop_transfers import LoopConstraints, loop_constraints, loop_transfers
from mechid.base.nullspace import NullSpace, null_space
from mechid.base.proof import Count, count
from mechid.base.unseen import unseen
from mechid.dynamics.columns import element_terms
from mechid.dynamics.regressor import observation_matrix
from mechid.errors import KinematicsError, MechidError
from mechid.exact.branch import Branch
from mechid.exact.elimination import Pivots, eliminate
from mechid.exact.geometry import Geometry, exact_geometry
from mechid.exact.numbers import MOST_PRECISION, PRECISION, exactly
from mechid.exact.poses import exact_system
from mechid.exact.stack import (
    BallObservation,
    ball_observation,
    closes,
    reference_poses,
    stacked,
    widened,
)
from mechid.kinematics.motion import Motion
from mechid.kinematics.tables import Floats
from mechid.mechanism.element_laws import in_pieces
from mechid.mechanism.records import Mechanism

Watch = Callable[[str, int, int], None]

_TRIAL = 200  # float states that tell how much each force sees
_FLOAT_RANK = 1e-11
_SPARE = 4  # rows more than the rank that is looked for
_NEAREST = 1e-6  # part of the usual distance from home; nearer poses are one pose to rounding


@dataclass(frozen=True, eq=False)
class Bounds:
    """Upper and lower bound of the number of base parameters of an experiment.

    Attributes
    ----------
    null : NullSpace
        All transfers, in the frames where most numbers are exact: those by the joints, then those
        by the loops.
    by_joints : int
        Independent transfers that hold by the joints alone.
    proof : Count or None
        That the loops constrain the bodies as the other transfers need, and that redundant
        constraints follow from the others; None if there are neither.
    candidates : tuple of str
        Parameters left when as many as there are independent transfers are dropped.
    states : Motion
        States at which W was enclosed.
    observation : BallObservation
    pivots : Pivots
        Over the candidates: their number is the lower bound.
    precision : int
        Bits.
    """

    mechanism: Mechanism
    experiment: Experiment
    null: NullSpace
    by_joints: int
    proof: Count | None
    candidates: tuple[str, ...]
    states: Motion
    observation: BallObservation
    pivots: Pivots
    precision: int

    @property
    def parameters(self) -> int:
        """Number of parameters, those of massless bodies left out."""
        return len(self.null.names) - len(self.null.zeros)

    @property
    def upper(self) -> int:
        """Number of parameters less independent transfers."""
        return len(self.candidates)

    @property
    def lower(self) -> int:
        """Proven rank."""
        return self.pivots.rank

    @property
    def closes(self) -> bool:
        """Whether the loops close exactly; else the lower bound is not proved."""
        with ctx.workprec(self.precision):
            return closes(self.observation.closure_error)

    @property
    def certified(self) -> bool:
        """Whether both bounds meet, and every transfer is proved."""
        return self.lower == self.upper and not self.open_questions

    @property
    def open_questions(self) -> tuple[str, ...]:
        """What is not proved, though it holds to all digits in all poses tried."""
        found = []
        if self.proof is not None and not self.proof.proves:
            found.append(
                f"not proved: the constraints of the loops on the bodies ({self.proof.words})"
            )
            if self.observation.aside:
                found.append(
                    f"not proved: {self.observation.aside} constraints follow from the others "
                    f"(they hold to {self.observation.closure_error:.0e})"
                )
        if not self.closes:
            found.append(
                "lower bound not proved: redundant constraints hold to "
                f"{self.observation.closure_error:.0e} only; write exact numbers or expressions"
            )
        return (*found, *rounded(self.null.geometry))

    @property
    def upper_proved(self) -> bool:
        """Whether every transfer is proved."""
        proved = self.proof is None or self.proof.proves
        return proved and not self.null.geometry.rounded

    @property
    def rows(self) -> list[list[arb]]:
        """W over the candidates, measured rows of all states, in balls."""
        place = {name: i for i, name in enumerate(self.null.names)}
        chosen = [place[name] for name in self.candidates]
        whole = stacked(self.observation.W, measured_rows(self.experiment, self.mechanism))
        return widened([[row[j] for j in chosen] for row in whole], self.observation.closure_error)


def rounded(geometry: Geometry) -> tuple[str, ...]:
    """Say how far transfers hold where numbers of the geometry are not exact."""
    if not geometry.rounded:
        return ()
    numbers = "; ".join(geometry.rounded[:3])
    return (
        f"upper bound not proved: it is that of a mechanism to within {ROUNDED_ZERO:.0e} of this "
        f"one, because {len(geometry.rounded)} numbers of the geometry have no recognised exact "
        f"form: {numbers}",
    )


def bounds(
    mechanism: Mechanism,
    experiment: Experiment = EVERYTHING,
    *,
    motion: Motion | None = None,
    seed: int = 0,
    precision: int = PRECISION,
    watch: Watch | None = None,
) -> Bounds:
    """Bound the number of base parameters from above and below.

    Parameters
    ----------
    mechanism : Mechanism
    experiment : Experiment
        What is moved and measured.
    motion : Motion, optional
        A trajectory; then the bounds are those of what it shows, taken from samples of it.
    seed : int
        Of the random states.
    precision : int
        Bits of the ball arithmetic; doubled where they are short, up to 960.
    watch : callable, optional
        Told (what, done, of) as the work goes on.
    """
    experiment = checked(experiment, mechanism)
    if motion is not None:
        _free_to_move(mechanism, experiment, motion)
    geometry = exact_geometry(mechanism, "exact")
    upper = all_transfers(geometry, experiment, seed)
    null = upper.null
    kept = candidates(null)
    n = _states_needed(mechanism, experiment, null, kept, seed)
    branch, near = home_branch(geometry)

    def improved(best: Bounds | None, draw: Callable[[int], Motion]) -> Bounds | None:
        """Add states as long as they raise the rank."""
        wanted, bits = n, precision
        while best is None or best.lower < len(kept):
            states = draw(wanted)
            try:
                found = _enclosed(geometry, branch, states, experiment, bits, watch)
            except KinematicsError:
                if best is None:
                    raise
                break
            states = states.chosen(np.array(found.kept))
            trial = Bounds(
                mechanism, experiment, null, upper.by_joints, None, kept, states, found, _NONE, bits
            )
            trial = replace(trial, pivots=_eliminated(trial))
            if best is not None and trial.lower <= best.lower:
                break
            best = trial
            # Digits may be short, too: what states that are near one another show beside the
            # others is small.
            wanted += max(_SPARE, len(kept) - best.lower)
            bits = min(2 * bits, MOST_PRECISION)
        return best

    if motion is not None:
        best = improved(None, partial(_samples, motion))
    else:
        # States in one box with the reference pose are on its branch, and where W is analytic they
        # show what all poses do. Others have to be reached by a path.
        best = improved(
            None, lambda n: random_states(mechanism, experiment, n, seed, wide=False, near=near)
        )
        if best and best.lower < len(kept) and _more_elsewhere(best, seed):
            best = improved(best, lambda n: random_states(mechanism, experiment, n, seed))
    assert best is not None
    return replace(best, proof=upper.proof(bool(best.observation.aside)))


def _more_elsewhere(found: Bounds, seed: int) -> bool:
    """Tell whether laws with pieces show more in poses far away, as far as floats can tell."""
    mechanism, kept = found.mechanism, found.candidates
    if not any(in_pieces(term.law, term.shape) for term in element_terms(mechanism)):
        return False
    W = float_observation(mechanism, found.experiment, found.null, kept, seed)
    return _float_rank(W.reshape(-1, len(kept))) > found.lower


def home_branch(geometry: Geometry) -> tuple[Branch, float]:
    """Return the branch of the reference pose, and how far one box with that pose reaches.

    That is a part of the usual distance of states near home.

    Raises
    ------
    KinematicsError
        If the pose is singular.
    """
    home = home_state(geometry.mechanism)
    with ctx.workprec(PRECISION):
        x = reference_poses(geometry, home)[0]
        branch = Branch(exact_system(geometry, x), x, home.y[0])
    near, reach = 1.0, reach_of(geometry.mechanism)
    while not branch.around(near * reach):
        near /= 2
        if near < _NEAREST:
            raise KinematicsError("the reference pose is singular or nearly so")
    return branch, near


def _free_to_move(mechanism: Mechanism, experiment: Experiment, motion: Motion) -> None:
    """Reject a motion in an experiment that moves otherwise: a motion itself says what moves."""
    names = [c.name for c in mechanism.coordinates]
    held = {c.name for c in mechanism.coordinates if c.held}
    if experiment.static or set(experiment.hold) - held:
        raise MechidError(
            "a motion cannot be combined with held coordinates or with poses at rest",
            where=mechanism.name,
            remedy="give either the motion, or what is held",
        )
    for j in (names.index(name) for name in held):
        if np.any(motion.y[:, j] != motion.y[0, j]) or np.any(motion.yd[:, j]):
            raise MechidError(f"the motion moves {names[j]}, which the model holds",
                              where=mechanism.name)  # fmt: skip


def _samples(motion: Motion, n: int) -> Motion:
    """Return samples spread over a motion."""
    return motion.chosen(np.unique(np.linspace(0, len(motion.y) - 1, n).round().astype(int)))


_NONE = Pivots((), (), (), 0.0)


@dataclass(frozen=True, eq=False)
class Transfers:
    """All transfers of an experiment, and what those by the loops rest on.

    Attributes
    ----------
    null : NullSpace
        Those by joints, by loops, and what a restricted experiment cannot see, as unit vectors.
    by_joints : int
        Independent transfers that hold by the joints alone.
    by_loops : bool
        Whether the loops add any.
    loops : LoopConstraints
    states : Motion
        States in which the constraints of the loops were seen.
    """

    null: NullSpace
    by_joints: int
    by_loops: bool
    loops: LoopConstraints
    states: Motion

    def proof(self, redundant: bool) -> Count | None:
        """Return the proof of the constraints by the loops; None if nothing rests on them.

        `redundant` says whether there are redundant constraints.
        """
        if not (self.by_loops or redundant):
            return None
        return count(self.null.geometry, self.states, self.loops.relations)


@exactly
def all_transfers(geometry: Geometry, experiment: Experiment, seed: int = 0) -> Transfers:
    """Return the transfers by joints and by loops."""
    mechanism = geometry.mechanism
    gravity = experiment.gravity_of(mechanism)
    by_joints = null_space(mechanism, gravity, geometry)
    states = random_states(mechanism, EVERYTHING, SAMPLES, seed + 1, wide=False)
    found = loop_constraints(geometry, states, gravity)
    more = loop_transfers(geometry, by_joints.transfers, found, gravity)
    together = (*by_joints.transfers, *more, *unseen(mechanism, experiment))
    null = replace(by_joints, transfers=together)
    return Transfers(null, by_joints.rank, bool(more), found, states)


def candidates(null: NullSpace) -> tuple[str, ...]:
    """Return the parameters left when a well conditioned set of dependent ones is dropped."""
    zero = [i for i, name in enumerate(null.names) if name in null.zeros]
    dropped = set(zero)
    if null.transfers:
        N = null.matrix
        if zero:  # known zeros become dependent first: what is left acts on the others only
            _, s, Vt = np.linalg.svd(N[zero])
            rank = int(np.sum(s > 1e-9 * max(1.0, float(s[0]))))
            N = N @ Vt[rank:].T
        order = qr(N.T, mode="r", pivoting=True)[-1]
        s = np.linalg.svd(N, compute_uv=False)
        rank = int(np.sum(s > 1e-9 * max(1.0, float(s[0])))) if s.size else 0
        dropped |= {int(i) for i in order[:rank]}
    return tuple(name for i, name in enumerate(null.names) if i not in dropped)


def _states_needed(
    mechanism: Mechanism, experiment: Experiment, null: NullSpace, kept: tuple[str, ...], seed: int
) -> int:
    """Estimate how many states show the rank: each force sees only so much, however often."""
    W = float_observation(mechanism, experiment, null, kept, seed)
    sees = [_float_rank(W[:, j]) for j in range(W.shape[1])]
    wanted = len(kept) + _SPARE
    if sum(sees) < len(kept):  # double precision does not tell
        sees = [wanted] * len(sees)
    n = 2
    while sum(min(n, s) for s in sees) < wanted and n < max([*sees, 2]):
        n += 1
    return n + 2


def float_observation(
    mechanism: Mechanism,
    experiment: Experiment,
    null: NullSpace,
    kept: tuple[str, ...],
    seed: int,
    *,
    wide: bool = True,
    n: int = _TRIAL,
) -> Floats:
    """Return W (n, n_f, k) of n random states in double precision: measured rows, kept columns."""
    motion = random_states(mechanism, experiment, n, seed, wide=wide)
    place = {name: i for i, name in enumerate(null.names)}
    columns = [place[name] for name in kept]
    rows = measured_rows(experiment, mechanism)
    return np.asarray(observation_matrix(motion).W[:, rows][:, :, columns])


def _float_rank(W: Floats) -> int:
    norms = np.linalg.norm(W, axis=0)
    clear = norms > 1e-9 * max(float(norms.max(initial=0.0)), 1e-300)
    if not clear.any():
        return 0
    s = np.linalg.svd(W[:, clear] / norms[clear], compute_uv=False)
    return int(np.sum(s > _FLOAT_RANK * s[0]))


def _enclosed(
    geometry: Geometry,
    branch: Branch,
    states: Motion,
    experiment: Experiment,
    precision: int,
    watch: Watch | None,
) -> BallObservation:
    of, done = len(states.y), 0

    def step(count: int) -> None:
        nonlocal done
        done += count
        if watch is not None:
            watch("poses enclosed", done, of)

    gravity = experiment.gravity_of(geometry.mechanism)
    return ball_observation(
        geometry, states, gravity, precision=precision, branch=branch, watch=step
    )


def _eliminated(trial: Bounds) -> Pivots:
    with ctx.workprec(trial.precision):
        return eliminate(trial.rows)
