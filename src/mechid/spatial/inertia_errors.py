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
about φ0 thus has the columns of F, and those that make the second moments of H. The latter are
longer by a factor: a product of two normal errors is often smaller than a normal error with its
mean square, and now and then much larger.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import expm

from mechid.errors import DataError
from mechid.spatial.inertia import Array, from_pseudo_inertia, pseudo_inertia

# κ: part of the size by which a centre is off in every direction, and angle (rad) by which axes are
# off, per unit of error. With an error of 20 % a rod of 0.3 m is off by 3.5 mm and 2°.
_KAPPA = 0.2
# A body smaller than this part of its distance from the origin is not taken as that small.
_SMALL = 0.25
_I, _J = np.triu_indices(3)  # components of inertia
# Products count by the normal law that reaches as far at three standard deviations: 0.27 % of the
# products of two normal errors are larger than 3 · 1.6 times their root mean square.
_TAIL = 1.6
# Unit errors, and the sums of every two of them, (13 + 78, 13).
_FIRST, _SECOND = np.triu_indices(13, 1)
_UNITS = np.vstack([np.eye(13), np.eye(13)[_FIRST] + np.eye(13)[_SECOND]])


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
    """Return T (10, 10), T Tᵀ being the covariance of a normal law for the errors of φ (10,).

    Of first order it has their mean square, of second order what reaches as far (see above).
    """
    m, c, second = moments(phi)
    L = _root(second)
    pole = np.append(c, 1.0)

    def first(x: Array) -> Array:
        """Return φ to first order for unit errors x (k, 13), as (k, 10)."""
        d = _padded(x[:, 1:4] @ errors.center.T)
        change = m * (errors.mass * x[:, 0, None, None] * np.outer(pole, pole) + _with(pole, d))
        E, W = _shapes(x, errors.shape)
        change[:, :3, :3] += L @ E @ L.T + _both(W @ second)
        return _parameters(change)

    def beyond(x: Array) -> Array:
        """Return its terms of second order."""
        d = _padded(x[:, 1:4] @ errors.center.T)
        squares = d[:, :, None] * d[:, None, :]
        change = m * (errors.mass * x[:, 0, None, None] * _with(pole, d) + squares)
        E, W = _shapes(x, errors.shape)
        stretched = 0.5 * L @ E @ E @ L.T + _both(W @ L @ E @ L.T)
        change[:, :3, :3] += stretched - W @ second @ W + 0.5 * _both(W @ W @ second)
        return _parameters(change)

    squares, sums = np.split(beyond(_UNITS), [13])
    products = sums - squares[_FIRST] - squares[_SECOND]
    declared = np.hstack([np.zeros((6, 4)), np.diag(errors.inertia)])
    # Of unit ε: ε_i ε_j has the mean square 1, ε_i² the mean 1 and the variance 2.
    mean = np.sum(squares, axis=0, keepdims=True)
    beyond_first = _TAIL * np.concatenate([products, np.sqrt(2.0) * squares, mean])
    columns = np.concatenate([first(_UNITS[:13]), declared, beyond_first])
    return np.asarray(np.linalg.qr(columns, mode="r")).T


def with_errors(phi: Array, error: float, rng: np.random.Generator) -> Array:
    """Return φ (10,) of a body with random errors of a relative size; it stays possible."""
    m, c, second = moments(phi)
    x = rng.standard_normal(13)
    (E,), (W,) = _shapes(x[None], error)
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


def _shapes(x: Array, error: float) -> tuple[Array, Array]:
    """Return E and the matrices of the small turns for unit errors x (k, 13), both (k, 3, 3)."""
    E, W = np.zeros((2, len(x), 3, 3))
    E[:, _I, _J] = E[:, _J, _I] = error * x[:, 4:10] / np.where(_I == _J, 1.0, np.sqrt(2.0))
    W[:, (2, 0, 1), (1, 2, 0)] = _KAPPA * error * x[:, 10:]
    return E, W - W.swapaxes(1, 2)


def _parameters(change: Array) -> Array:
    """Return φ (k, 10) of changes of the pseudo-inertia (k, 4, 4)."""
    second = change[:, :3, :3]
    inertia = np.trace(second, axis1=1, axis2=2)[:, None, None] * np.eye(3) - second
    return np.hstack([change[:, 3, 3:], change[:, :3, 3], inertia[:, _I, _J]])


def _padded(d: Array) -> Array:
    return np.hstack([d, np.zeros((len(d), 1))])


def _with(pole: Array, d: Array) -> Array:
    """Return p dᵀ + d pᵀ of every d (k, 4)."""
    return _both(pole[:, None] * d[:, None, :])


def _both(a: Array) -> Array:
    return np.asarray(a + a.swapaxes(1, 2))


def _root(second: Array) -> Array:
    """Return L with L Lᵀ = Σ_c; negative eigenvalues, which rounding makes, are zero."""
    values, Q = np.linalg.eigh(second)
    return np.asarray(Q * np.sqrt(np.maximum(values, 0.0)))
