"""How the inertia of a body goes wrong, and what that makes of its ten parameters.

A relative error e (0.2 for 20 %) means, for each body, independently:

- mass: m exp(e ε);
- centre: c + e κ ρ ε, by a part of the size of the body, which is its radius of gyration about the
  centre, ρ² = tr(Σ_c)/m, κ = 0.2;
- second moments about the centre: Σ_c → R L exp(E) Lᵀ Rᵀ with Σ_c = L Lᵀ, E random, symmetric, of
  standard deviation e on the diagonal and e/√2 off it (shape), and R a turn by the vector
  e κ ε (axes). Σ_c stays positive definite, so the triangle inequality holds; what is flat stays
  flat.

None of it depends on the frame of the body, except that ρ is at least a quarter of the distance of
the centre from the origin: a point mass has no size, but its centre is not certain.

Parameters follow to second order, φ = φ0 + F ε + H(ε, ε): a rod whose centre is off by d across it
has the moment m d² about its old axis, which may be many times its own. The root of the covariance
about φ0 thus has the columns of F, and those that make the second moments of H.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from scipy.linalg import expm

from mechid.errors import DataError
from mechid.spatial.inertia import Array, from_pseudo_inertia, pseudo_inertia

# κ: part of the size by which a centre is off in every direction, and angle (rad) by which axes are
# off, per unit of error. With an error of 20 % a rod of 0.3 m is off by 3.5 mm and 2°.
_KAPPA = 0.2
# A body smaller than this part of its distance from the origin is not taken as that small.
_SMALL = 0.25
_UPPER = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


@dataclass(frozen=True, eq=False)
class InertiaErrors:
    """Errors of a body.

    Attributes
    ----------
    mass : float
        Standard deviation of ln m.
    center : array (3, 3)
        Root of the covariance of the centre, m.
    shape : float
        Relative error of the second moments about the centre, and of their axes.
    inertia : array (6,)
        Standard deviations of the components of inertia about the centre, kg m², besides.
    """

    mass: float = 0.0
    center: Array = field(default_factory=lambda: np.zeros((3, 3)))
    shape: float = 0.0
    inertia: Array = field(default_factory=lambda: np.zeros(6))


def relative_errors(phi: Array, error: float) -> InertiaErrors:
    """Return what a relative error means for a body φ (10,)."""
    return InertiaErrors(error, error * _reach(*moments(phi)) * np.eye(3), error)


def parameter_root(phi: Array, errors: InertiaErrors) -> Array:
    """Return T (10, 10), T Tᵀ being the mean square of the errors of φ (10,), to second order."""
    m, c, second = moments(phi)
    L = _root(second)
    pole = np.append(c, 1.0)

    def first(x: Array) -> Array:
        """Return the change of the pseudo-inertia (4, 4) to first order."""
        d = np.append(errors.center @ x[1:4], 0.0)
        change = m * (errors.mass * x[0] * np.outer(pole, pole) + _both(np.outer(pole, d)))
        E, W = _shape(x, errors.shape)
        change[:3, :3] += L @ E @ L.T + _both(W @ second)
        return np.asarray(change)

    def beyond(x: Array) -> Array:
        """Return its terms of second order."""
        d = np.append(errors.center @ x[1:4], 0.0)
        change = m * (errors.mass * x[0] * _both(np.outer(pole, d)) + np.outer(d, d))
        E, W = _shape(x, errors.shape)
        stretched = 0.5 * L @ E @ E @ L.T + _both(W @ L @ E @ L.T)
        change[:3, :3] += stretched + W @ second @ W.T + 0.5 * _both(W @ W @ second)
        return np.asarray(change)

    unit = np.eye(13)
    squares = [from_pseudo_inertia(beyond(x)) for x in unit]
    products = [
        from_pseudo_inertia(beyond(unit[i] + unit[j])) - squares[i] - squares[j]
        for i, j in combinations(range(13), 2)
    ]
    declared = np.vstack([np.zeros((4, 6)), np.diag(errors.inertia)])
    # Of unit ε: ε_i ε_j has the mean square 1, ε_i² the mean 1 and the variance 2.
    columns = [
        *(from_pseudo_inertia(first(x)) for x in unit),
        *declared.T,
        *products,
        *np.sqrt(2.0) * np.array(squares),
        np.sum(squares, axis=0),
    ]
    return np.asarray(np.linalg.qr(np.array(columns), mode="r")).T


def with_errors(phi: Array, error: float, rng: np.random.Generator) -> Array:
    """Return φ (10,) of a body with random errors of a relative size; it stays possible."""
    m, c, second = moments(phi)
    x = rng.standard_normal(13)
    E, W = _shape(x, error)
    turned = expm(W) @ _root(second)
    mass = m * np.exp(error * x[0])
    center = c + error * _reach(m, c, second) * x[1:4]
    pole = np.append(center, 1.0)
    whole = mass * np.outer(pole, pole)
    whole[:3, :3] += turned @ expm(E) @ turned.T
    return from_pseudo_inertia(whole)


def moments(phi: Array) -> tuple[float, Array, Array]:
    """Return mass, centre, and second moments about the centre (3, 3)."""
    S = pseudo_inertia(phi)
    m = float(S[3, 3])
    if not m > 0:
        raise DataError(f"the mass of a body must be > 0 kg, got {m:g}")
    c = S[:3, 3] / m
    return m, c, S[:3, :3] - m * np.outer(c, c)


def _reach(m: float, c: Array, second: Array) -> float:
    """Return κ ρ, by which the centre is off per unit of error, m."""
    size = np.sqrt(max(float(np.trace(second)), 0.0) / m)
    return _KAPPA * float(max(size, _SMALL * np.linalg.norm(c)))


def _shape(x: Array, error: float) -> tuple[Array, Array]:
    """Return E and the matrix of the small turn for unit errors x (13,)."""
    E = np.zeros((3, 3))
    for value, (i, j) in zip(x[4:10], _UPPER, strict=True):
        E[i, j] = E[j, i] = error * value / (1.0 if i == j else np.sqrt(2.0))
    a, b, c = _KAPPA * error * x[10:]
    return E, np.array([[0.0, -c, b], [c, 0.0, -a], [-b, a, 0.0]])


def _both(a: Array) -> Array:
    return np.asarray(a + a.T)


def _root(second: Array) -> Array:
    """Return L with L Lᵀ = Σ_c; negative eigenvalues, which rounding makes, are zero."""
    values, Q = np.linalg.eigh(second)
    return np.asarray(Q * np.sqrt(np.maximum(values, 0.0)))
