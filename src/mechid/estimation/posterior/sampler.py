"""Scales and presence of all components, integrated over by Gibbs sampling.

Given scales and noise, coefficients θ are Gaussian: precision S + diag(1/s²), S from the data. A
sweep decides for each component whether it is there, with θ and the scale of the component
integrated out; draws anew which of them explains what one does; and draws θ, the noise of each
series, and the scales of what is there. The result is the mean of Gaussians over the sweeps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.linalg.lapack import dpotri
from scipy.special import expit

from mechid.estimation.linear import ROUNDING
from mechid.estimation.posterior.cad import OPEN
from mechid.estimation.posterior.component import Component
from mechid.estimation.regression import Floats, Ints

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
_EXCHANGES = 2  # in a sweep
_RARE = 9.0  # to one: odds that an error is absent
LEAST_NOISE = 1e-6  # relative to the force


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


class _Told(NamedTuple):
    """What rows of each series say of all coefficients: G (n_s, K, K), g (n_s, K), worth (n_s,)."""

    G: Floats
    g: Floats
    worth: Floats

    @staticmethod
    def of(blocks: Sequence[Block], K: int) -> _Told:
        G, g = np.zeros((len(blocks), K, K)), np.zeros((len(blocks), K))
        for s, block in enumerate(blocks):
            G[s][np.ix_(block.at, block.at)] = block.G
            g[s, block.at] = block.g
        return _Told(G, g, np.array([block.worth if block.n else 0.0 for block in blocks]))

    def information(self, noise: Floats, share: float) -> tuple[Floats, Floats]:
        """Return S (K, K) and g (K,)."""
        weight = share * self.worth / noise**2
        return np.tensordot(weight, self.G, 1), weight @ self.g


class _Now:
    """Coefficients given noise and scales: Gaussian with covariance V at the places `at` of those
    that are there, and zero elsewhere; mean (K,). `scale` is changed in place."""

    def __init__(self, S: Floats, g: Floats, start: Ints, scale: Ints) -> None:
        self.S, self.g, self.start, self.scale = S, g, start, scale
        self.owner = np.repeat(np.arange(len(scale)), np.diff(start))
        self.factor: Floats | None
        self._factor()

    def _factor(self) -> None:
        self.at = np.flatnonzero(self.scale[self.owner] != ABSENT)
        L = GRID[self.scale[self.owner[self.at]]]
        H = L[:, None] * self.S[np.ix_(self.at, self.at)] * L
        # Data without noise: rounding must not make it indefinite.
        own = np.diag_indices(len(L))
        H[own] = 1.0 + H[own] * (1.0 + len(L) * ROUNDING)
        self.factor = cholesky(H, lower=True, check_finite=False)
        lower = np.tril(dpotri(self.factor, lower=1)[0])
        self.V = L[:, None] * (lower + np.tril(lower, -1).T) * L
        self.mean = self._whole(self.V @ self.g[self.at])

    def _whole(self, values: Floats) -> Floats:
        found = np.zeros(len(self.g))
        found[self.at] = values
        return found

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return coefficients (K,)."""
        if self.factor is None:
            self._factor()
        z = rng.standard_normal(len(self.at))
        u = solve_triangular(self.factor, z, lower=True, trans=1, check_finite=False)
        return self.mean + self._whole(GRID[self.scale[self.owner[self.at]]] * u)

    def add(self, f: int, scale: int) -> None:
        """Give a component that is absent a scale."""
        # Bordering the inverse would lose the digits of data without noise.
        self.scale[f] = scale
        self._factor()

    def remove(self, f: int) -> None:
        """Make a component absent."""
        own = self.owner[self.at] == f
        B = self.V[:, own]
        X = np.linalg.solve(B[own], B.T)[:, ~own]
        values = self.mean[self.at]
        self.V = self.V[np.ix_(~own, ~own)] - B[~own] @ X
        rest = values[~own] - values[own] @ X
        self.scale[f], self.at, self.factor = ABSENT, self.at[~own], None
        self.mean = self._whole(rest)

    def evidence(self, which: Ints) -> Floats:
        """Return the log evidence of each scale of some components, against their absence, given
        the others, (n, n_grid - 1)."""
        found = np.zeros((len(which), len(GRID) - 1))
        there, size = self.scale[which] != ABSENT, np.diff(self.start)[which]
        for k in np.unique(size):
            for present in (False, True):
                own = np.flatnonzero((size == k) & (there == present))
                if own.size:
                    at = self.start[which[own]][:, None] + np.arange(k)
                    A, b = self._own(at) if present else self._added(at)
                    found[own] = _evidence(A, b)
        return found

    def _own(self, at: Ints) -> tuple[Floats, Floats]:
        """Return what data say of components that are there, the others being uncertain."""
        own = np.searchsorted(self.at, at)
        P = np.linalg.inv(self.V[own[:, :, None], own[:, None, :]])
        b = (P @ self.mean[at][:, :, None])[..., 0]
        k = at.shape[1]
        P[:, range(k), range(k)] -= 1.0 / GRID[self.scale[self.owner[at]]] ** 2
        return P, b

    def _added(self, at: Ints) -> tuple[Floats, Floats]:
        """Return what data say of components that are absent."""
        n, k = at.shape
        X = self.S[np.ix_(self.at, at.ravel())]
        Z = (self.V @ X).reshape(-1, n, k)
        known = np.einsum("mni,mnj->nij", X.reshape(-1, n, k), Z)
        A = self.S[at[:, :, None], at[:, None, :]] - known
        return A, self.g[at] - (self.mean[self.at] @ X).reshape(n, k)


def _evidence(A: Floats, b: Floats) -> Floats:
    """Return log evidences (n, n_grid - 1) of components of which data say A (n, k, k) and b."""
    if A.shape[-1] == 1:
        lam, q = A[..., 0], b**2
    else:
        lam, U = np.linalg.eigh((A + np.swapaxes(A, 1, 2)) / 2)
        q = (b[:, None, :] @ U)[:, 0] ** 2
    s2 = GRID[PRESENT, None] ** 2
    x = 1.0 + s2 * np.maximum(lam, 0.0)[:, None, :]
    return np.asarray(0.5 * np.sum(q[:, None, :] * s2 / x - np.log(x), axis=2))


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
        self.floor = LEAST_NOISE * np.where(rms > 0, rms, 1.0)
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
        declared: Floats | None = None,
        free_noise: bool = True,
        fixed: Ints | None = None,
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
        declared : array (n_s,), optional
            Least noise of each series.
        free_noise : bool
            Whether noise is estimated; else it is as declared.
        fixed : array (c,) of int, optional
            Of each component 1 if it is there, 0 if not, and negative if that is drawn, as it is
            by default.
        """
        K, c = int(self.start[-1]), len(self.components)
        scale, noise = state.scale.copy(), state.noise.copy()
        least = self.floor if declared is None else np.maximum(self.floor, declared)
        settled = np.full(c, -1) if fixed is None else fixed
        usable = self.sparse[settled[self.sparse] < 0]
        scale[self.sparse[settled[self.sparse] == 0]] = ABSENT
        scale[(settled == 1) & (scale == ABSENT)] = _ONE
        told = _Told.of(blocks, K)
        total, square, spread = np.zeros(K), np.zeros((K, K)), np.zeros((K, K))
        present, likely, sizes, means = np.zeros(c), np.zeros(c), np.zeros(c), np.zeros(c)
        powers = np.zeros(len(noise))
        for sweep in range(sweeps):
            now = _Now(*told.information(noise, share), self.start, scale)
            odds = self._odds(scale)
            probable = self._toggle(now, odds, usable)
            self._exchange(now, odds, usable)
            if sweep >= burn:
                total += now.mean
                square += np.outer(now.mean, now.mean)
                spread[np.ix_(now.at, now.at)] += (now.V + now.V.T) / 2
                likely += probable
                present += scale != ABSENT
                means += np.where(scale != ABSENT, GRID[scale], 0.0) ** 2
                sizes += np.where(scale != ABSENT, _LOG[scale], 0.0)
                powers += noise**2
            theta = now.draw(self.rng)
            # All rows tell the noise; it is what they say of coefficients that is correlated.
            near = now.mean + np.sqrt(share) * (theta - now.mean)
            noise = self._noise(blocks, near, noise, least, free=free_noise)
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

    def _odds(self, scale: Ints) -> Floats:
        """Draw how often errors of each kind are there; return its log odds for each component."""
        found = np.zeros(len(scale))
        for own in self.kinds.values():
            if self.components[own[0]].family.absent:
                n, m = int(np.count_nonzero(scale[own] != ABSENT)), len(own)
                # Beta law of 1 and max(m, 9 - m): one in nine is there beforehand, and of many
                # candidates about one.
                share = self.rng.beta(1.0 + n, max(2.0 * m, _RARE) - n)
                found[own] = np.log(share) - np.log1p(-share)
        return found

    def _toggle(self, now: _Now, odds: Floats, usable: Ints) -> Floats:
        """Draw which components are there, one after the other.

        Return the probability of each that it is there, given the others before.
        """
        found: Floats = (now.scale != ABSENT).astype(np.float64)
        left = self.rng.permutation(usable)
        while left.size:
            weight = now.evidence(left) + self.law[left]
            top = np.max(weight, axis=1)
            ratio = top + np.log(np.sum(np.exp(weight - top[:, None]), axis=1))
            probable = expit(odds[left] + ratio)
            if len(left) == len(usable):
                found[left] = probable
            there = self.rng.random(len(left)) < probable
            changed = np.flatnonzero(there != (now.scale[left] != ABSENT))
            if not changed.size:
                break
            i = int(changed[0])
            f = int(left[i])
            if there[i]:
                p = np.exp(weight[i] - top[i])
                now.add(f, 1 + int(self.rng.choice(len(p), p=p / p.sum())))
            else:
                now.remove(f)
            left = left[i + 1 :]
        return found

    def _exchange(self, now: _Now, odds: Floats, usable: Ints) -> None:
        """Draw anew which component takes the place of one that is there, and its scale."""
        for _ in range(_EXCHANGES):
            there = usable[now.scale[usable] != ABSENT]
            if not there.size:
                return
            now.remove(int(self.rng.choice(there)))
            gone = usable[now.scale[usable] == ABSENT]
            weight = now.evidence(gone) + self.law[gone] + odds[gone, None]
            i, k = divmod(int(self._drawn(weight.reshape(1, -1))[0]), weight.shape[1])
            now.add(int(gone[i]), 1 + k)

    def _noise(
        self,
        blocks: Sequence[Block],
        theta: Floats,
        noise: Floats,
        least: Floats,
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
            drawn = np.sqrt(rest / self.rng.chisquare(n))
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


def _density(squares: Floats, sizes: Ints) -> Floats:
    """Return log densities of coefficients at each scale, (n, n_grid)."""
    return np.asarray(-sizes[:, None] * _LOG - 0.5 * squares[:, None] / GRID**2)


def _student(x: Floats) -> Floats:
    """Return the log law of scales (x: their logarithm) whose mixture is Student's."""
    return np.asarray(-_TAILS * x - 0.5 * _TAILS * np.exp(-2.0 * x))
