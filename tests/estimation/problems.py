"""Small problems with known truth: random observation matrices, noise of chosen kinds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from mechid.estimation.estimate import Estimate, Finding
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Regression


def regression(
    rng: np.random.Generator,
    phi: npt.ArrayLike,
    noise: npt.ArrayLike = 0.0,
    *,
    n: int = 60,
    n_d: int = 3,
    ar: tuple[float, ...] = (),
    known: float = 0.0,
    missing: float = 0.0,
) -> Regression:
    """Return a problem with smooth random columns; `noise` is the deviation of each channel."""
    phi = np.asarray(phi, dtype=float)
    b = len(phi)
    W = rng.normal(size=(n, n_d, b))
    W = (W + np.roll(W, 1, axis=0) + np.roll(W, 2, axis=0)) / np.sqrt(3)
    extra = known * rng.normal(size=(n, n_d))
    e = coloured(rng, (n, n_d), ar) * np.broadcast_to(np.asarray(noise, dtype=float), (n_d,))
    return Regression(
        W=W,
        tau=W @ phi + extra + e,
        known=extra,
        time=0.01 * np.arange(n),
        parameters=tuple(f"p{i}" for i in range(b)),
        channels=tuple(f"f{j}" for j in range(n_d)),
        units=("N",) * n_d,
        valid=rng.random((n, n_d)) >= missing,
    )


def coloured(rng: np.random.Generator, shape: tuple[int, int], ar: tuple[float, ...]) -> Floats:
    """Return stationary noise of deviation one: e_k = Σ a_i e_(k-i) + white."""
    run_in = 500 if ar else 0
    white = rng.normal(size=(shape[0] + run_in, shape[1]))
    e = white.copy()
    for k in range(len(e) if ar else 0):
        for lag, a in enumerate(ar, start=1):
            if k >= lag:
                e[k] += a * e[k - lag]
    return e[run_in:] / deviation(ar)


def deviation(ar: tuple[float, ...]) -> float:
    """Return the deviation of an autoregressive process with white part one, from its spectrum."""
    w = np.linspace(0, 2 * np.pi, 4096, endpoint=False)
    gain = 1 - sum(
        (a * np.exp(-1j * w * lag) for lag, a in enumerate(ar, start=1)), start=np.zeros_like(w)
    )
    return float(np.sqrt(np.mean(1 / np.abs(gain) ** 2)))


def prior(mean: npt.ArrayLike, covariance: Floats, names: tuple[str, ...] = ()) -> Prior:
    """Return prior of parameters that are all base parameters."""
    mean = np.asarray(mean, dtype=float)
    names = names or tuple(f"p{i}" for i in range(len(mean)))
    return Prior(names, names, np.eye(len(mean)), mean, covariance)


@dataclass(frozen=True, eq=False)
class Case:
    """A problem, what is known beforehand, and the truth, drawn from it."""

    regression: Regression
    prior: Prior
    phi: Floats


MEAN = np.array([3.0, 2.0, -1.0, 4.0, 1.0])
SIGMA = np.array([0.05, 0.1, 0.2, 0.4, 0.8])


def case(
    seed: int,
    noise: npt.ArrayLike,
    *,
    n: int = 80,
    ar: tuple[float, ...] = (),
    missing: float = 0.0,
    blur: float = 0.0,
    gain: float = 0.0,
    offset: float = 0.0,
    wrong: float = 1.0,
    correlated: bool = False,
) -> Case:
    """Return a problem with five parameters and three channels.

    `blur` is the deviation of errors in W and in the instruments; `gain` and `offset` those of the
    channels, offsets as part of the root mean square of the force; `wrong` a factor on the errors
    of the CAD values beyond what is declared.
    """
    rng = np.random.default_rng(seed)
    L = np.diag(SIGMA)
    if correlated:
        L = SIGMA[:, None] * np.linalg.cholesky(0.3 * np.eye(5) + 0.7)
    phi = MEAN + wrong * L @ rng.normal(size=5)
    r = regression(rng, phi, noise, n=n, ar=ar, known=1.0, missing=missing)
    forces = r.W @ phi + r.known
    size = np.sqrt(np.mean(forces**2, axis=0))
    tau = r.tau + gain * rng.normal(size=3) * forces + offset * size * rng.normal(size=3)
    W, Z = (r.W + blur * rng.normal(size=r.W.shape) for _ in range(2))
    return Case(replace(r, W=W, tau=tau, instruments=Z), prior(MEAN, L @ L.T), phi)


def likely(estimate: Estimate) -> dict[str, Finding]:
    """Return by name what is more likely there than not."""
    return {found.name: found for found in estimate.found if found.likely}
