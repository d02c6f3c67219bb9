"""Steps that bounced off a dead centre.

At a dead centre an independent coordinate reaches the end of its range, y = y_end - a s², and the
mechanism goes on to its other branch with the speed ṡ. In y alone nothing is special there: y(t)
turns back smoothly. A step that leads across this instant ends at the same y on the branch where
it began, with ṡ reversed: the mechanism has bounced, and no evaluation of the step need have
failed.

Such a step is known by its tree speeds. They change though no acceleration of the equations of
motion asks for it, however small a part of the step is looked at, and the admissible motions R
(∂s/∂y = -1 / 2as) grow towards that part. Speeds that change sign in a regular way agree with
their accelerations; errors of the steps do not make R grow.

With tight tolerances an integrator rather creeps towards the dead centre, with steps that get
shorter and shorter: `Creep` ends that.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mechid.errors import KinematicsError, SingularPoseError
from mechid.kinematics.kernels.jit import kernel
from mechid.kinematics.tables import Floats

# A change of speed of which more than this part is not explained by the accelerations, and which
# is more than this part of the speed, is looked at.
_UNEXPLAINED = 0.5
_NOTABLE = 0.1
# Below this part of the fastest speed (dimensionless) there is only rounding.
_ROUNDING = 1e-9
# Parts of the step that are looked at: each half as long as the one before.
_HALVINGS = 12
# R grows without bound towards a dead centre.
_GROWTH = 2.0
# So many steps in this part of the whole time, with R this much larger than it was, do not end.
_CREEPING_STEPS = 500
_CREEPING_PART = 1e-4
_CREEPING_GROWTH = 100.0
# This near to a dead centre the pose is known to a few digits only: it counts as reached.
_REACHED = 1e5

REMEDY = (
    "choose a coordinate that drives the mechanism there too, or another formulation: those on the "
    "tree pass dead centres"
)


class Knot(NamedTuple):
    """A state on the way: y and its derivatives, tree speeds v = R ẏ and accelerations v̇.

    `size` is the largest ∂q/∂y of each column.
    """

    t: float
    y: Floats
    yd: Floats
    ydd: Floats
    v: Floats
    vd: Floats
    size: Floats


Look = Callable[[float, Floats, Floats], Knot]


def bounce(before: Knot, after: Knot, look: Look, scale: Floats) -> float | None:
    """Return the time at which the step between two knots bounced off a dead centre, or None.

    Parameters
    ----------
    look : callable (t, y, ẏ) -> Knot
        Raises a KinematicsError where there is no pose.
    scale : array (n_v,)
        Sizes of the dependent tree coordinates; infinite for the others, which cannot jump.
    """
    a, b = before, after
    if not notable(b.t - a.t, a.v, a.vd, b.v, b.vd, scale):
        return None
    least = np.minimum(before.size, after.size)
    path = _Path(before, after)
    growth = 1.0
    for _ in range(_HALVINGS):
        t = 0.5 * (a.t + b.t)
        if not a.t < t < b.t:
            break
        try:
            middle = look(t, *path(t))
        except KinematicsError:
            return t  # the way between two poses leads out of reach and back
        left, right = _excess(a, middle) / scale, _excess(middle, b) / scale
        a, b = (a, middle) if left.max() > right.max() else (middle, b)
        suspect = _suspect(a, b, scale)
        if not np.any(suspect):
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            growth = max(growth, float(np.nanmax((middle.size / least)[suspect])))
    return 0.5 * (a.t + b.t) if growth > _GROWTH else None


class Creep:
    """Tells when steps get ever shorter on the way to a dead centre."""

    def __init__(self, duration: float, scale: Floats) -> None:
        self._short = _CREEPING_PART * duration
        self._scale = scale
        self._least = np.inf
        self._near: deque[float] = deque(maxlen=_CREEPING_STEPS)

    def goes_on(self, now: Knot) -> bool:
        """Take the end of a step; return whether this is such a way."""
        size = float((now.size / self._scale).max(initial=0.0))
        self._least = min(self._least, size)
        if size < _CREEPING_GROWTH * self._least or not size:
            self._near.clear()
            return False
        self._near.append(now.t)
        if size > _REACHED * self._least:
            return True
        return len(self._near) == _CREEPING_STEPS and now.t - self._near[0] < self._short


def refusal(when: float, values: str) -> SingularPoseError:
    """Return the error for a bounce at a time, near a pose that is given in words."""
    return SingularPoseError(
        f"the mechanism reaches a dead centre near {values}: it goes on to another branch, which "
        "these coordinates cannot tell from the one before",
        remedy=REMEDY,
        time=when,
    )


@kernel
def notable(h, v_before, vd_before, v, vd, scale):  # type: ignore[no-untyped-def]
    """Tell whether any change of speed is suspect (see `_suspect`), and not small."""
    fastest = 0.0
    for c in range(v.size):
        fastest = max(fastest, max(abs(v_before[c]), abs(v[c])) / scale[c])
    for c in range(v.size):
        change = v[c] - v_before[c]
        excess = abs(change - 0.5 * h * (vd_before[c] + vd[c]))
        least = max(_UNEXPLAINED * abs(change), _NOTABLE * max(abs(v_before[c]), abs(v[c])))
        if excess > least and excess / scale[c] > _ROUNDING * fastest:
            return True
    return False


def _excess(a: Knot, b: Knot) -> Floats:
    """Change of speed that the accelerations do not explain."""
    return np.asarray(np.abs(b.v - a.v - 0.5 * (b.t - a.t) * (a.vd + b.vd)))


def _suspect(a: Knot, b: Knot, scale: Floats) -> np.ndarray:
    """Tell for each column whether its change of speed is not that of its accelerations."""
    excess = _excess(a, b)
    fastest = np.max(np.maximum(np.abs(a.v), np.abs(b.v)) / scale, initial=0.0)
    clear = excess / scale > _ROUNDING * fastest
    return np.asarray((excess > _UNEXPLAINED * np.abs(b.v - a.v)) & clear)


class _Path:
    """y and ẏ between two knots: the polynomial of fifth degree with their derivatives.

    Integrators have their own, of different quality, and SUNDIALS does not show its own.
    """

    def __init__(self, a: Knot, b: Knot) -> None:
        h = b.t - a.t
        self._start, self._h = a.t, h
        p0, p1, p2 = a.y, h * a.yd, 0.5 * h * h * a.ydd
        d0, d1, d2 = b.y - p0 - p1 - p2, h * b.yd - p1 - 2 * p2, h * h * b.ydd - 2 * p2
        self._p = (
            p0,
            p1,
            p2,
            10 * d0 - 4 * d1 + 0.5 * d2,
            -15 * d0 + 7 * d1 - d2,
            6 * d0 - 3 * d1 + 0.5 * d2,
        )

    def __call__(self, t: float) -> tuple[Floats, Floats]:
        x = (t - self._start) / self._h
        y = sum(p * x**k for k, p in enumerate(self._p))
        yd = sum(k * p * x ** (k - 1) for k, p in enumerate(self._p) if k) / self._h
        return np.asarray(y), np.asarray(yd)
