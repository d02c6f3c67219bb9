"""Forces that errors of what the model takes as known would add: places of joints, for example.

An estimate that adapts to such forces is wrong by its response to them, whatever its residuals look
like. To first order that is the response of weighted least squares with the same noise and prior,

    K = (P⁻¹ + Σ Wᵀ R⁻¹ W)⁻¹ Wᵀ R⁻¹.

Values stay, since nobody knows which errors there are; their covariance contains what errors of the
declared size would have done.

Joints stay where they are, and what parameters took up of their places is no error of forces that
are predicted for the same machine, nor a difference between two of its logs (`if_in_place`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import qr, solve_triangular

from mechid.estimation.estimate import Estimate
from mechid.estimation.gaussian_prior import less
from mechid.estimation.linear import prior_factor
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Regression

MUCH = 1.1  # times as large as before: a standard deviation worth a word


class DoubtfulForces(NamedTuple):
    """What k independent errors of one standard deviation each add to the forces.

    forces (N, n_d, k) in N or N m, and words: what is not exactly known; advice: what can be done
    about it. Whether these are other places of joints.
    """

    forces: Floats
    words: str
    advice: str = ""
    places: bool = False


def with_doubtful_forces(
    estimate: Estimate,
    regression: Regression,
    prior: Prior,
    doubts: DoubtfulForces,
    estimated: Sequence[str] | None = None,
) -> Estimate:
    """Return an estimate whose covariance contains errors of what is known.

    Parameters
    ----------
    estimate : Estimate
        Of the regression with the prior.
    regression : Regression
    prior : Prior
        CAD values.
    doubts : DoubtfulForces
    estimated : sequence of str, optional
        Parameters that were estimated, by default all; the others stay whatever the forces are.
    """
    names = estimate.parameters if estimated is None else tuple(estimated)
    shifts = np.zeros((len(estimate.parameters), doubts.forces.shape[-1]))
    own = [estimate.parameters.index(name) for name in names]
    shifts[own] = response(estimate, regression.select(names), prior, doubts.forces)
    wider = estimate.covariance + shifts @ shifts.T
    name, times = most_grown(estimate, wider)
    said = f"standard deviations contain {doubts.words}"
    if times > 1.05:
        said += f"; that of {name} grows most, {times:.3g} times{doubts.advice}"
    found = estimate.widened(wider)
    doubted = shifts if doubts.places else found.doubted_places
    return replace(found, known=(*found.known, said), doubted_places=doubted)


def if_in_place(estimate: Estimate) -> Estimate:
    """Return the estimate if joints were known to be where the model has them, or for the same
    machine: without the other places that its covariance contains."""
    if estimate.doubted_places is None:
        return estimate
    root = less(prior_factor(estimate.covariance), estimate.doubted_places)
    return replace(estimate, covariance=np.asarray(root @ root.T), doubted_places=None)


def most_grown(estimate: Estimate, wider: Floats) -> tuple[str, float]:
    """Return the parameter whose standard deviation a wider covariance makes larger than all others
    in proportion, and how many times as large."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.sqrt(np.diag(wider) / np.diag(estimate.covariance))
    ratio = np.where(np.isfinite(ratio), ratio, 1.0)
    most = int(np.argmax(ratio))
    return estimate.parameters[most], float(ratio[most])


def response(estimate: Estimate, regression: Regression, prior: Prior, forces: Floats) -> Floats:
    """Return the change of values (b, k) with forces that are added to the measured ones."""
    # Forces that the estimate did not use have no noise.
    used = regression.valid & (estimate.noise > 0)
    noise = np.where(estimate.noise > 0, estimate.noise, 1.0)[None, :, None]
    A = (regression.W / noise)[used]
    added = (forces / noise)[used]
    F = prior_factor(prior.select(regression.parameters).base_covariance)
    G = A @ F
    # x = F z, and the rows I z = 0 of the prior; normal equations would lose half of the digits.
    Q, C = qr(np.vstack([G, np.eye(F.shape[1])]), mode="economic", check_finite=False)
    return np.asarray(F @ solve_triangular(C, Q[: len(G)].T @ added, check_finite=False))
