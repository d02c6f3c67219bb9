"""Ten parameters of something attached to a body, from a second log.

With the payload π (10,) in the frame of its body, the base parameters x of the mechanism become
x + B_p π, B_p the columns of B that belong to the body. So forces show π only through B_p π: its
rank r says how many of the ten can be determined, and groups g = G π of them, r in number, are the
base parameters of the payload. The second log determines (x, g) together: x has the estimate of
the first identification as prior, with its covariance, and g nothing but the forces.

All ten follow from g, a measured mass, and the condition that the payload is a body that can exist.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import block_diag

from mechid.errors import DataError, MechidError
from mechid.estimation.completion import complete
from mechid.estimation.estimate import Estimate
from mechid.estimation.measured_constraints import condition
from mechid.estimation.posterior.estimator import JointPosterior
from mechid.estimation.prior import Prior
from mechid.estimation.recover import recover
from mechid.estimation.regression import Floats, Regression
from mechid.estimation.sensed import sensed
from mechid.spatial.inertia import NAMES, by_central, central, parameters

# Powers of length in the units of the ten parameters: kg, kg m, kg m².
LENGTHS = np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])
# What is smaller, relative to the other numbers of its row or column, is rounding.
_ROUNDING = 1e-9
# A group may be so large that it alone would cause so many times the measured forces: free.
_WIDE = 100.0
# Radius of gyration of what is attached, as a part of the size of the mechanism, where nothing else
# is known.
_RADIUS = 0.1
# Effect of a group, relative to that of the others, below which the motion does not show it.
_UNSEEN = 1e-6


@dataclass(frozen=True, eq=False)
class PayloadGroups:
    """Which combinations of the ten parameters the forces show.

    Attributes
    ----------
    matrix : array (r, 10)
        G: values of the groups are G π.
    heads : tuple of int
        Parameter that names each group; it has the factor 1 there and 0 in the others.
    size : float
        Characteristic length (m), for comparing numbers of different units.
    """

    matrix: Floats
    heads: tuple[int, ...]
    size: float

    @property
    def names(self) -> tuple[str, ...]:
        """The groups as sums, such as `Ixx + 0.25 m`."""
        return tuple(_sum(row, head) for row, head in zip(self.matrix, self.heads, strict=True))

    def part(self, names: Collection[str]) -> PayloadGroups:
        """Return some of the groups."""
        kept = [k for k, name in enumerate(self.names) if name in names]
        return replace(self, matrix=self.matrix[kept], heads=tuple(self.heads[k] for k in kept))

    def determines(self, gradient: Floats, known: Floats | None = None) -> bool:
        """Tell whether the groups, and rows `known` (k, 10), determine a quantity to first order.

        `gradient` (10,) is the derivative of the quantity by the ten parameters.
        """
        # Numbers that multiply parameters in units of the characteristic length.
        scale = self.size**LENGTHS
        rows = self.matrix if known is None else np.vstack([self.matrix, known])
        rows = rows * scale
        if not len(rows):
            return False
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        wanted = gradient * scale
        wanted = wanted / (np.linalg.norm(wanted) or 1.0)
        _, s, Vh = np.linalg.svd(rows, full_matrices=False)
        V = Vh[s > _ROUNDING * s[0]]
        return bool(np.linalg.norm(wanted - V.T @ (V @ wanted)) < np.sqrt(_ROUNDING))


def payload_groups(columns: Floats, lengths: Floats, size: float) -> PayloadGroups:
    """Return the groups of ten parameters from B_p (b, 10); the first parameters name them.

    Parameters
    ----------
    columns : array (b, 10)
    lengths : array (b,)
        Powers of length in the units of the base parameters.
    size : float
        Characteristic length, m.

    Raises
    ------
    DataError
        If no force depends on any of them.
    """
    B = columns * (size**LENGTHS) / (size**lengths)[:, None]
    heads: list[int] = []
    for k in range(10):
        rest = B[:, k]
        if heads:
            rest = rest - B[:, heads] @ np.linalg.lstsq(B[:, heads], rest)[0]
        if np.linalg.norm(rest) > _ROUNDING * np.linalg.norm(B):
            heads.append(k)
    if not heads:
        raise DataError("no force depends on what is attached to this body")
    G = np.linalg.lstsq(B[:, heads], B)[0]
    G[np.abs(G) < _ROUNDING] = 0.0
    G[:, heads] = np.eye(len(heads))
    # g = G π with π in units of size: back to SI.
    G = G * (size ** LENGTHS[heads])[:, None] / size**LENGTHS
    return PayloadGroups(G, tuple(heads), size)


def estimate_groups(
    regression: Regression,
    before: Estimate,
    columns: Floats,
    groups: PayloadGroups,
    *,
    without: Collection[str] = (),
) -> Estimate:
    """Return the estimate of (x, g) from the second log; the last r parameters are the groups.

    Parameters
    ----------
    regression : Regression
        Of the second log, with the parameters of `before`.
    before : Estimate
        Of the mechanism without payload.
    columns : array (b, 10)
        B_p.
    groups : PayloadGroups
    without : collection of str
        Families of errors that the logs are known not to have: "offsets", "drifts".

    Notes
    -----
    Gains and delays that the first identification found are those of the sensors and hold here
    too; offsets are estimated again if there were any. Gain errors that it may have had are in the
    forces of the mechanism and in its parameters alike: they scale the payload only.
    """
    ready = sensed(regression, before.errors)
    if before.errors is not None:
        ready = replace(ready, tau=ready.tau - before.errors.offset)
    added = ready.W @ columns[:, list(groups.heads)]
    names = (*before.parameters, *groups.names)
    W = np.concatenate([ready.W, added], axis=2)
    whole = replace(ready, W=W, parameters=names, between=None)
    width = _widths(whole, groups)
    same = before.covariance
    if before.doubted is not None:  # of this machine, whose forces do not have it
        same = same - before.doubted @ before.doubted.T
    prior = Prior(
        parameters=names,
        base=names,
        matrix=np.eye(len(names)),
        values=np.concatenate([before.values, np.zeros(len(width))]),
        covariance=block_diag(same, np.diag(width**2)),
        estimated=True,
    )
    settled = ", ".join(dict.fromkeys(("gains", "delays", *without)))
    found = JointPosterior(settled, name="payload")(whole, prior)
    gain = np.zeros(0) if before.errors is None else before.errors.sigma_gain
    if not np.any(gain):
        return found
    return _scaled(found, whole, len(width), gain)


def _scaled(found: Estimate, r: Regression, n: int, gain: Floats) -> Estimate:
    """Return an estimate whose covariance contains what gain errors (n_d,) of the forces, all of
    them together, do to the last n parameters."""
    forces = r.W[..., -n:] @ found.values[-n:] * gain
    weight = np.where(r.valid & (found.noise > 0), 1.0 / found.noise**2, 0.0)
    shift = found.covariance @ np.einsum("nij,ni->j", r.W, weight * forces)
    return replace(found, covariance=found.covariance + np.outer(shift, shift))


def _widths(regression: Regression, groups: PayloadGroups) -> Floats:
    """Return standard deviations that leave the groups to the data, (r,)."""
    A, _, channel = regression.stacked()
    force = regression.tau[regression.valid]
    norms = np.sqrt(np.bincount(channel, force**2, len(regression.channels)))
    relative = A[:, -len(groups.heads) :] / np.where(norms > 0, norms, 1.0)[channel][:, None]
    unit = groups.size ** LENGTHS[list(groups.heads)]
    effect = np.linalg.norm(relative, axis=0) * unit
    least = _UNSEEN * np.max(effect, initial=0.0)
    if not least > 0:
        raise DataError(
            "the motion does not show what is attached to this body",
            remedy="move the joints that carry the body in the log with the payload",
        )
    return np.asarray(_WIDE * unit / np.maximum(effect, least))


@dataclass(frozen=True, eq=False)
class Ten:
    """All ten parameters of a payload.

    Attributes
    ----------
    phi, covariance : arrays (10,), (10, 10)
        Most probable values that a body can have, and the covariance without that condition;
        directions that nothing determines have a wide one.
    distance : float
        How far the condition moved the values, in standard deviations.
    border : bool
        Whether the body is at the boundary of what can exist.
    """

    phi: Floats
    covariance: Floats
    distance: float
    border: bool


def all_ten(
    groups: PayloadGroups,
    values: Floats,
    covariance: Floats,
    mass: tuple[float, float] | None = None,
) -> Ten:
    """Return ten parameters that have these groups, and belong to a body that can exist.

    Parameters
    ----------
    groups : PayloadGroups
    values, covariance : arrays (r,), (r, r)
        Of the groups.
    mass : (float, float), optional
        Measured mass and its standard deviation, kg.

    Raises
    ------
    DataError
        If no body has such values.
    """
    G, g, C = groups.matrix, values, covariance
    if mass is not None:
        G, g, C = _weighed(groups, g, C, *mass)
    body = _typical(groups, g, C, mass)
    prior = Prior(
        parameters=NAMES,
        base=tuple(map(str, range(len(g)))),
        matrix=G,
        values=body,
        covariance=np.diag((body[0] * (_RADIUS * groups.size) ** LENGTHS) ** 2),
        bodies=(("payload", 0),),
    )
    T = complete(prior, g).root(C)
    try:
        found = recover(prior, g, C)
    except MechidError:
        raise DataError(
            "no body has the parameters that were found",
            remedy="check the log, the body, and the measured mass",
        ) from None
    return Ten(found.phi, T @ T.T, found.distance, bool(found.border))


def _weighed(
    groups: PayloadGroups, g: Floats, C: Floats, mass: float, sigma: float
) -> tuple[Floats, Floats, Floats]:
    """Return groups (matrix, values, covariance) that take a measured mass into account."""
    one = np.eye(10)[0]
    if not groups.determines(one):  # it is what the forces do not say
        return np.vstack([groups.matrix, one]), np.append(g, mass), block_diag(C, sigma**2)
    a = np.linalg.lstsq(groups.matrix.T, one)[0]
    values, covariance, _ = condition(g, C, a[None], np.array([mass]), np.array([[sigma**2]]))
    return groups.matrix, values, covariance


def _typical(
    groups: PayloadGroups, g: Floats, C: Floats, mass: tuple[float, float] | None
) -> Floats:
    """Return a ball of about the mass of the payload: units of the search, and the open rest."""
    if mass is not None:
        m = mass[0]
    else:
        sizes = np.maximum(np.abs(g), np.sqrt(np.diag(C)))
        m = float(sizes[0] / (_RADIUS * groups.size) ** LENGTHS[groups.heads[0]])
    second = m * (_RADIUS * groups.size) ** 2
    return parameters(m, np.zeros(3), second * np.array([1.0, 0.0, 0.0, 1.0, 0.0, 1.0]))


def central_values(ten: Ten) -> tuple[Floats, Floats]:
    """Return (m, c, I_c) (10,) and the derivatives of each by the ten parameters, (10, 10)."""
    m, c, inertia = central(ten.phi)
    return np.concatenate([[m], c, inertia]), np.asarray(np.linalg.inv(by_central(ten.phi)))


def _sum(row: Floats, head: int) -> str:
    words = NAMES[head]
    for k in np.flatnonzero(row):
        if k != head:
            factor = f"{abs(row[k]):.4g} ".removeprefix("1 ")
            words += f" {'-' if row[k] < 0 else '+'} {factor}{NAMES[k]}"
    return words
