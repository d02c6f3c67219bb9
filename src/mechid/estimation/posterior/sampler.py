"""Scales and presence of all components, integrated over by Gibbs sampling.

Given scales and noise, coefficients θ are Gaussian: precision S + diag(1/s²), S from the data. A
sweep decides for each component whether it is there, with θ and the scale of the component
integrated out; exchanges components that explain the same; and draws θ, the noise of each series,
and the scales of what is there. An absent component keeps a scale of a thousandth of the usual
size, which matters to nobody. The result is the mean of Gaussians over the sweeps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.special import expit

from mechid.estimation.linear import ROUNDING
from mechid.estimation.posterior.cad import OPEN
from mechid.estimation.posterior.component import Component
from mechid.estimation.regression import Bools, Floats, Ints

# Scales from a thousandth of the usual size to fifty times as much, one among them.
GRID = np.exp(np.log(1e3) / 31 * np.arange(-31, 19))
ABSENT, PRESENT = 0, slice(1, None)
_LOG = np.log(GRID)
_ONE = int(np.argmin(np.abs(_LOG)))
# CAD errors of bodies: Student's law with so many degrees of freedom, about a common scale that is
# log-normal about the declared one, a factor of two either way.
_TAILS = 4.0
_COMMON = np.linspace(np.log(0.25), np.log(4.0), 40)
_COMMON_LAW = -0.5 * (_COMMON / np.log(2.0)) ** 2
_EXCHANGES = 8
_LEAST_NOISE = 1e-6  # relative to the force


class Block(NamedTuple):
    """Rows of one series of samples, as what they say of coefficients.

    at (k,): the coefficients; G (k, k), g (k,), square: AᵀA, Aᵀt, tᵀt of weighted rows; n: their
    number; worth: what one of them says, by one with normal noise.
    """

    at: Ints
    G: Floats
    g: Floats
    square: float
    n: int
    worth: float = 1.0


@dataclass(frozen=True, eq=False)
class State:
    """Where a chain is: index of each scale in `GRID` (c,), and noise of each series (n_s,)."""

    scale: Ints
    noise: Floats


@dataclass(frozen=True, eq=False)
class Draws:
    """What a chain has found.

    Attributes
    ----------
    mean : array (K,)
    covariance : array (K, K)
    present : array (c,)
        Probability of each component.
    scale : array (c,)
        Of those that are there, the geometric mean.
    spread : array (c,)
        Root mean square of the scale, 0 where absent.
    noise : array (n_s,)
    state : State
    """

    mean: Floats
    covariance: Floats
    present: Floats
    scale: Floats
    spread: Floats
    noise: Floats
    state: State


class Sampler:
    """A chain over scales, for fixed components.

    Parameters
    ----------
    components : sequence of Component
    rms : array (n_s,)
        Size of the force of each series.
    order : sequence of int
        In which the noise of the series is drawn.
    seed : int
    """

    def __init__(
        self, components: Sequence[Component], rms: Floats, order: Sequence[int], seed: int
    ) -> None:
        self.order = tuple(order)
        self.components = tuple(components)
        self.sizes = np.array([c.size for c in components], dtype=np.int64)
        self.start = np.concatenate([[0], np.cumsum(self.sizes)])
        self.floor = _LEAST_NOISE * np.where(rms > 0, rms, 1.0)
        self.rng = np.random.default_rng(seed)
        self.sparse = np.flatnonzero([c.family.absent for c in components])
        kinds = np.array([c.kind for c in components])
        self.kinds = {k: np.flatnonzero(kinds == k) for k in dict.fromkeys(kinds.tolist())}
        most = np.array([[c.family.most] for c in components])
        spread = np.array([[c.family.spread or 1.0] for c in components])
        # Law of the sizes of what is there, log-normal about the usual one, (c, n_grid - 1).
        law = np.where(GRID[PRESENT] > most, -np.inf, -0.5 * (_LOG[PRESENT] / spread) ** 2)
        self.law = law - np.log(np.sum(np.exp(law), axis=1))[:, None]

    def start_state(self, noise: Floats) -> State:
        """Return the state without any error but those of CAD values."""
        scale = np.where([c.family.absent for c in self.components], ABSENT, _ONE)
        return State(scale.astype(np.int64), noise)

    def run(
        self,
        blocks: Sequence[Block],
        state: State,
        sweeps: int,
        burn: int,
        *,
        share: float = 1.0,
        allowed: Bools | None = None,
        declared: Floats | None = None,
        free_noise: bool = True,
        fixed: Bools | None = None,
    ) -> Draws:
        """Return the means over sweeps after `burn`.

        Parameters
        ----------
        blocks : sequence of Block
            One for each series.
        state : State
        sweeps, burn : int
        share : float
            Part of a sample that each counts.
        allowed : array (c,) of bool, optional
            Components that may be there.
        declared : array (n_s,), optional
            Least noise of each series.
        free_noise : bool
            Whether noise is estimated; else it is as declared.
        fixed : array (c,) of bool, optional
            Which components are there, and the others are not; by default that is drawn.
        """
        K, c = int(self.start[-1]), len(self.components)
        scale, noise = state.scale.copy(), state.noise.copy()
        least = self.floor if declared is None else np.maximum(self.floor, declared)
        allow = np.ones(c, dtype=bool) if allowed is None else allowed
        scale[self.sparse] = np.where(allow[self.sparse], scale[self.sparse], ABSENT)
        if fixed is not None:
            own = self.sparse
            there = np.where(scale[own] == ABSENT, _ONE, scale[own])
            scale[own] = np.where(fixed[own], there, ABSENT)
        total, square, spread = np.zeros(K), np.zeros((K, K)), np.zeros((K, K))
        present, likely, sizes, means = np.zeros(c), np.zeros(c), np.zeros(c), np.zeros(c)
        powers = np.zeros(len(noise))
        for sweep in range(sweeps):
            S, g = _information(blocks, noise, share, K)
            mu, V = self._gaussian(S, g, scale)
            probable = (scale != ABSENT).astype(float)
            if fixed is None:
                odds = self._odds(scale)
                probable = self._toggle((S, g), mu, V, scale, odds, allow)
                self._exchange((S, g), mu, V, scale, odds, allow)
            if sweep >= burn:
                total += mu
                square += np.outer(mu, mu)
                spread += (V + V.T) / 2
                likely += probable
                present += scale != ABSENT
                means += np.where(scale != ABSENT, GRID[scale], 0.0) ** 2
                sizes += np.where(scale != ABSENT, _LOG[scale], 0.0)
                powers += noise**2
            theta = self._draw(S, mu, scale)
            noise = self._noise(blocks, theta, noise, least, share, free=free_noise)
            self._scales(theta, scale)
        n = max(sweeps - burn, 1)
        mean = total / n
        return Draws(
            mean,
            spread / n + square / n - np.outer(mean, mean),
            likely / n,
            np.exp(sizes / np.maximum(present, 1)),
            np.sqrt(means / n),
            np.sqrt(powers / n),
            State(scale, noise),
        )

    def _lengths(self, scale: Ints) -> Floats:
        return np.repeat(GRID[scale], self.sizes)

    def _factor(self, S: Floats, scale: Ints) -> tuple[Floats, Floats]:
        """Return the Cholesky factor of the precision, in units of the scales, and these."""
        L = self._lengths(scale)
        H = L[:, None] * S * L
        # Data without noise: rounding must not make it indefinite.
        H[np.diag_indices(len(L))] += 1.0 + len(L) * ROUNDING * np.max(np.diag(H), initial=0.0)
        return cholesky(H, lower=True, check_finite=False), L

    def _gaussian(self, S: Floats, g: Floats, scale: Ints) -> tuple[Floats, Floats]:
        """Return mean (K,) and covariance (K, K) of the coefficients."""
        R, L = self._factor(S, scale)
        C = solve_triangular(R, np.eye(len(L)), lower=True, check_finite=False) * L
        V = C.T @ C
        return V @ g, V

    def _draw(self, S: Floats, mu: Floats, scale: Ints) -> Floats:
        R, L = self._factor(S, scale)
        z = self.rng.standard_normal(len(L))
        return np.asarray(mu + L * solve_triangular(R, z, lower=True, trans=1, check_finite=False))

    def _odds(self, scale: Ints) -> Floats:
        """Draw how often errors of each kind are there; return its log odds for each component."""
        found = np.zeros(len(scale))
        for own in self.kinds.values():
            if self.components[own[0]].family.absent:
                n, m = int(np.count_nonzero(scale[own] != ABSENT)), len(own)
                # Of many candidates about one is there beforehand.
                share = self.rng.beta(1.0 + n, 2.0 * m - n)
                found[own] = np.log(share) - np.log1p(-share)
        return found

    def _toggle(
        self,
        told: tuple[Floats, Floats],
        mu: Floats,
        V: Floats,
        scale: Ints,
        odds: Floats,
        allow: Bools,
    ) -> Floats:
        """Draw which components are there, one after the other; mu, V and scale are changed.

        Return the probability of each that it is there, given the others before.
        """
        found: Floats = (scale != ABSENT).astype(np.float64)
        left = self.rng.permutation(self.sparse[allow[self.sparse]])
        while left.size:
            ratio, weight = self._evidence(mu, V, scale, left)
            probable = expit(odds[left] + ratio)
            if len(left) == np.count_nonzero(allow[self.sparse]):
                found[left] = probable
            there = self.rng.random(len(left)) < probable
            changed = np.flatnonzero(there != (scale[left] != ABSENT))
            if not changed.size:
                break
            i = int(changed[0])
            f = int(left[i])
            new = ABSENT
            if there[i]:
                p = np.exp(weight[i] - np.max(weight[i]))
                new = 1 + int(self.rng.choice(len(p), p=p / p.sum()))
            self._set(told, mu, V, f, scale, new)
            left = left[i + 1 :]
        return found

    def _evidence(self, mu: Floats, V: Floats, scale: Ints, which: Ints) -> tuple[Floats, Floats]:
        """Return the log evidence for each of some components, against its absence, (n,), and its
        parts by scale (n, n_grid - 1)."""
        ratio, weight = np.zeros(len(which)), np.zeros((len(which), len(GRID) - 1))
        for k in np.unique(self.sizes[which]):
            at = np.flatnonzero(self.sizes[which] == k)
            own = self.start[which[at]][:, None] + np.arange(k)
            P = np.linalg.inv(V[own[:, :, None], own[:, None, :]])
            b = (P @ mu[own][:, :, None])[..., 0]
            A = (P + np.swapaxes(P, 1, 2)) / 2
            A[:, range(k), range(k)] -= (1.0 / GRID[scale[which[at]]] ** 2)[:, None]
            lam, U = np.linalg.eigh(A)
            q = np.einsum("nij,ni->nj", U, b) ** 2
            s2 = GRID[:, None] ** 2
            x = 1.0 + s2 * np.maximum(lam, 0.0)[:, None, :]
            log = 0.5 * np.sum(q[:, None, :] * s2 / x - np.log(x), axis=2)
            parts = log[:, PRESENT] + self.law[which[at]]
            top = np.max(parts, axis=1)
            ratio[at] = top + np.log(np.sum(np.exp(parts - top[:, None]), axis=1)) - log[:, ABSENT]
            weight[at] = parts
        return ratio, weight

    def _set(
        self, told: tuple[Floats, Floats], mu: Floats, V: Floats, f: int, scale: Ints, new: int
    ) -> None:
        """Give a component another scale; mu and V follow, `told` being what the data say."""
        own = slice(int(self.start[f]), int(self.start[f + 1]))
        old = int(scale[f])
        scale[f] = new
        if new != ABSENT:
            # Woodbury's identity would lose most digits of what was absent.
            mu[:], V[:] = self._gaussian(*told, scale)
            return
        delta = 1.0 / GRID[new] ** 2 - 1.0 / GRID[old] ** 2
        B = V[:, own].copy()
        X = np.linalg.solve(np.eye(B.shape[1]) / delta + V[own, own], B.T)
        mu -= X.T @ mu[own]
        V -= B @ X

    def _exchange(
        self,
        told: tuple[Floats, Floats],
        mu: Floats,
        V: Floats,
        scale: Ints,
        odds: Floats,
        allow: Bools,
    ) -> None:
        """Exchange components that are there with others, by Metropolis' rule."""
        usable = self.sparse[allow[self.sparse]]
        for _ in range(_EXCHANGES):
            there, gone = usable[scale[usable] != ABSENT], usable[scale[usable] == ABSENT]
            if not (there.size and gone.size):
                return
            f, g = int(self.rng.choice(there)), int(self.rng.choice(gone))
            old = int(scale[f])
            own = np.concatenate([np.arange(*self.start[h : h + 2]) for h in (f, g)])
            P = np.linalg.inv(V[np.ix_(own, own)])
            b = P @ mu[own]
            s, swapped = (np.repeat(GRID[[x, y]], self.sizes[[f, g]])
                          for x, y in ((old, ABSENT), (ABSENT, old)))  # fmt: skip
            lam, U = np.linalg.eigh((P + P.T) / 2 - np.diag(1.0 / s**2))
            A = (U * np.maximum(lam, 0.0)) @ U.T
            gain = _block(A, b, swapped) - _block(A, b, s) + odds[g] - odds[f]
            gain += self.law[g, old - 1] - self.law[f, old - 1]
            if np.log(self.rng.random()) < gain:
                self._set(told, mu, V, f, scale, ABSENT)
                self._set(told, mu, V, g, scale, old)

    def _noise(
        self,
        blocks: Sequence[Block],
        theta: Floats,
        noise: Floats,
        least: Floats,
        share: float,
        *,
        free: bool,
    ) -> Floats:
        """Draw the noise of each series, given the coefficients."""
        found = noise.copy()
        for s in self.order:
            at, G, g, square, n, _ = blocks[s]
            if not n:
                continue
            own = theta[at]
            rest = max(square - 2 * float(g @ own) + float(own @ G @ own), 0.0)
            drawn = np.sqrt(share * rest / self.rng.chisquare(max(share * n, 1.0)))
            found[s] = max(float(drawn), least[s]) if free else least[s]
        return found

    def _scales(self, theta: Floats, scale: Ints) -> None:
        """Draw the scales of what is there, given the coefficients."""
        squares = np.add.reduceat(theta**2, self.start[:-1])
        there = self.sparse[scale[self.sparse] != ABSENT]
        if there.size:
            scale[there] = 1 + self._drawn(
                self.law[there] + _density(squares[there], self.sizes[there])[:, PRESENT]
            )
        for own in self.kinds.values():
            first = self.components[own[0]]
            if first.family.absent or first.kind == OPEN:
                continue
            x = _LOG[scale[own]][:, None] - _COMMON
            common = _COMMON[self._drawn((np.sum(_student(x), axis=0) + _COMMON_LAW)[None])[0]]
            scale[own] = self._drawn(
                _student(_LOG - common) + _density(squares[own], self.sizes[own])
            )

    def _drawn(self, log: Floats) -> Ints:
        """Draw an index for each row of log probabilities (n, k)."""
        p = np.cumsum(np.exp(log - np.max(log, axis=1, keepdims=True)), axis=1)
        u = self.rng.random(len(log)) * p[:, -1]
        return np.asarray(np.sum(p < u[:, None], axis=1), dtype=np.int64)


def _information(
    blocks: Sequence[Block], noise: Floats, share: float, K: int
) -> tuple[Floats, Floats]:
    S, g = np.zeros((K, K)), np.zeros(K)
    for (at, G, own, _, n, worth), sigma in zip(blocks, noise, strict=True):
        if n:
            weight = share * worth / sigma**2
            S[np.ix_(at, at)] += weight * G
            g[at] += weight * own
    return S, g


def _density(squares: Floats, sizes: Ints) -> Floats:
    """Return log densities of coefficients at each scale, (n, n_grid)."""
    return np.asarray(-sizes[:, None] * _LOG - 0.5 * squares[:, None] / GRID**2)


def _student(x: Floats) -> Floats:
    """Return the log law of scales (x: their logarithm) whose mixture is Student's."""
    return np.asarray(-_TAILS * x - 0.5 * _TAILS * np.exp(-2.0 * x))


def _block(A: Floats, b: Floats, s: Floats) -> float:
    """Return the log evidence of a block of coefficients with scales s: data say A and b."""
    M = s[:, None] * A * s + np.eye(len(s))
    R = np.linalg.cholesky(M)
    z = np.linalg.solve(R, s * b)
    return float(0.5 * (z @ z) - np.sum(np.log(np.diag(R))))
