"""Friction that grows with the load of a drive: its size, found together with the parameters.

Forces (1 + μ s) W β, with the direction of power s = ±1, are a product of unknowns. They are linear
in μ for a given β, and the other way round, so Gauss-Newton steps find both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mechid.dynamics.compile import dynamic_model
from mechid.estimation.linear import prior_factor
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Regression, joined
from mechid.mechanism.element_terms import driven_joints, load_parts
from mechid.mechanism.records import ForceElement, Mechanism
from mechid.signals.record import PreparedMeasurement
from mechid.tasks.regress import regression_of

_UNIT = 0.5  # any μ: W is linear in it
_STEPS, _STILL = 20, 1e-6
LARGEST = 0.5  # beyond it something else is behind it: gears with this loss do not turn back


def loaded(element: ForceElement, size: float) -> ForceElement:
    """Return an element of friction with another part of the load."""
    (part,) = element.parts
    values = tuple((k, size if k == "load" else v) for k, v in part.values)
    return replace(element, parts=(replace(part, values=values),))


def rubbed(mechanism: Mechanism) -> set[tuple[str, int]]:
    """Return the joint coordinates whose friction grows with the load, as the model says."""
    return {e.coordinates[0] for e in mechanism.elements for _ in load_parts(e)}


def drives(mechanism: Mechanism, forces: Sequence[str]) -> dict[tuple[str, int], str]:
    """Return the driven joint coordinates without such friction, with their measured forces."""
    have = rubbed(mechanism)
    found = driven_joints(mechanism.coordinates, mechanism.joint)
    moved = {at: mechanism.coordinates[i] for at, i in found.items() if at not in have}
    return {at: c.force for at, c in moved.items() if c.force in forces and not c.held}


@dataclass(frozen=True, eq=False)
class LoadSlopes:
    """How W (N, n_d, b) and known (N, n_d) change with the μ of the drives of k elements.

    `rows` says which of the n_d forces each of them changes.
    """

    W: Floats
    known: Floats
    rows: tuple[int, ...]

    def of(self, elements: Sequence[int]) -> LoadSlopes:
        """Return those of some of the elements."""
        return replace(self, rows=tuple(self.rows[k] for k in elements))

    def columns(self, beta: Floats) -> Floats:
        """Return the forces per unit of each μ, (N, n_d, k)."""
        out = np.zeros((*self.known.shape, len(self.rows)))
        for k, j in enumerate(self.rows):
            out[:, j, k] = self.W[:, j] @ beta + self.known[:, j]
        return out

    def at(self, regression: Regression, mu: Floats) -> Regression:
        """Return the problem of given μ (k,)."""
        size = np.zeros(self.known.shape[1])
        size[list(self.rows)] = mu
        return replace(
            regression,
            W=regression.W + size[:, None] * self.W,
            known=regression.known + size * self.known,
            between=None,
        )


def load_slopes(
    mechanism: Mechanism,
    motions: Sequence[PreparedMeasurement],
    elements: Sequence[ForceElement],
    regression: Regression,
) -> LoadSlopes:
    """Return how a problem without load friction changes with that of some elements."""
    rubbing = (loaded(e, _UNIT) for e in elements)
    model = dynamic_model(replace(mechanism, elements=(*mechanism.elements, *rubbing)))
    other = joined([regression_of(model, m, regression.parameters) for m in motions])
    force = drives(mechanism, regression.channels)
    rows = tuple(regression.channels.index(force[e.coordinates[0]]) for e in elements)
    return LoadSlopes(
        (other.W - regression.W) / _UNIT, (other.known - regression.known) / _UNIT, rows
    )


def fitted(
    regression: Regression, noise: Floats, prior: Prior | None, columns: Floats
) -> tuple[Floats, Floats]:
    """Return β (b,), and the factors (c,) of further columns (N, n_d, c) of forces."""
    A, target, channel = regression.stacked()
    weight = 1.0 / noise[channel]
    Z = columns[regression.valid] * weight[:, None]
    A, target = A * weight[:, None], target * weight
    mean, F = np.zeros(A.shape[1]), np.eye(A.shape[1])
    if prior is not None:
        known = prior.select(regression.parameters)
        mean, F = known.mean, prior_factor(known.base_covariance)
        target = target - A @ mean
    rows = np.hstack([A @ F, Z])
    if prior is not None:
        n = F.shape[1]
        rows = np.vstack([rows, np.eye(n, rows.shape[1])])
        target = np.concatenate([target, np.zeros(n)])
    x = np.linalg.lstsq(rows, target, rcond=None)[0]
    return np.asarray(mean + F @ x[: F.shape[1]]), np.asarray(x[F.shape[1] :], dtype=float)


def load_sizes(
    regression: Regression,
    slopes: LoadSlopes,
    noise: Floats,
    prior: Prior | None,
    others: Floats,
) -> Floats:
    """Return μ (k,) of the drives, fitted with the parameters and other columns (N, n_d, c)."""
    mu, n = np.zeros(len(slopes.rows)), others.shape[-1]
    for _ in range(_STEPS):
        now = slopes.at(regression, mu)
        beta, _ = fitted(now, noise, prior, others)
        own = slopes.columns(beta)
        _, factors = fitted(now, noise, prior, np.concatenate([others, own], axis=-1))
        step = np.clip(mu + factors[n:], 0.0, LARGEST) - mu
        mu = mu + step
        if np.abs(step).max(initial=0.0) < _STILL:
            break
    return mu
