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
from scipy.linalg.lapack import dpotrf, dtrtri
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


class _Told:
    """What rows of all series say of all coefficients, given the noise of each.

    Coefficients of the machine come first and act on all series; each has a few of its own.
    """

    def __init__(self, blocks: Sequence[Block], K: int, share: float) -> None:
        self.K = K
        used = [s for s, block in enumerate(blocks) if block.n]
        self.series = np.array(used, dtype=np.int64)
        self.worth = np.array([share * blocks[s].worth for s in used])
        at = [blocks[s].at for s in used]
        n = self.common = min((int(np.sum(x == np.arange(len(x)))) for x in at), default=0)
        self.G = np.array([blocks[s].G[:n, :n] for s in used]).reshape(len(used), n * n)
        self.g = np.array([blocks[s].g[:n] for s in used]).reshape(len(used), n)
        self.own = [(blocks[s].at[n:], blocks[s].G[n:], blocks[s].g[n:]) for s in used]

    def information(self, noise: Floats) -> tuple[Floats, Floats]:
        """Return S (K, K) and g (K,)."""
        n, weights = self.common, self.worth / noise[self.series] ** 2
        S, g = np.zeros((self.K, self.K)), np.zeros(self.K)
        S[:n, :n], g[:n] = (weights @ self.G).reshape(n, n), weights @ self.g
        for weight, (at, G, of) in zip(weights, self.own, strict=True):
            S[at, :n] += weight * G[:, :n]
            S[np.ix_(at, at)] += weight * G[:, n:]
            g[at] += weight * of
        S[:n, n:] = S[n:, :n].T
        return S, g


class _Now:
    """Coefficients given noise and scales: Gaussian, and zero where a component is absent.

    Components that are `there` all along are integrated out once, so that only the few of the
    `open` ones that are there have to be factored again when one comes or goes: S and g are what
    data say of the open ones, V and m the covariance and mean of those `at` that are there.
    `scale` is changed in place.
    """

    def __init__(
        self, S: Floats, g: Floats, start: Ints, scale: Ints, there: Ints, open_: Ints
    ) -> None:
        self.K, self.scale = len(g), scale
        owner = np.repeat(np.arange(len(scale)), np.diff(start))
        self.known = np.flatnonzero(np.isin(owner, there))
        self.open = np.flatnonzero(np.isin(owner, open_))
        self.owner = owner[self.open]
        # Place of the first open coefficient of each open component.
        self.first = np.searchsorted(self.open, start[:-1])
        self.size = np.diff(start)
        known = np.ix_(self.known, self.known)
        self.R = _root(S[known], GRID[scale[owner[self.known]]], 0.0)
        self.B, self.b = self.R @ S[np.ix_(self.known, self.open)], self.R @ g[self.known]
        own = S[np.ix_(self.open, self.open)]
        self.rounding = len(own) * ROUNDING * np.diag(own)
        self.S = own - self.B.T @ self.B
        self.g = g[self.open] - self.B.T @ self.b
        self._change()

    def _change(self) -> None:
        self.at = np.flatnonzero(self.scale[self.owner] != ABSENT)
        own = self.S[self.at[:, None], self.at]
        self.own = _root(own, GRID[self.scale[self.owner[self.at]]], self.rounding[self.at])
        self.V = self.own.T @ self.own
        self.m = self.V @ self.g[self.at]

    def mean(self) -> Floats:
        """Return the mean of all coefficients (K,)."""
        return self._whole(self.m, np.zeros(len(self.known)))

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return coefficients (K,)."""
        n = len(self.known)
        z = rng.standard_normal(n + len(self.at))
        return self._whole(self.m + z[n:] @ self.own, z[:n])

    def _whole(self, values: Floats, z: Floats) -> Floats:
        """Return all coefficients, by those of open components and by what is drawn for others."""
        found = np.zeros(self.K)
        found[self.open[self.at]] = values
        found[self.known] = (self.b - self.B[:, self.at] @ values + z) @ self.R
        return found

    def covariance(self) -> tuple[Ints, Floats]:
        """Return which coefficients are there, and their covariance."""
        Z = self.R.T @ self.B[:, self.at]
        across = -Z @ self.V
        return np.concatenate([self.known, self.open[self.at]]), np.block(
            [[self.R.T @ self.R - across @ Z.T, across], [across.T, self.V]]
        )

    def put(self, f: int, scale: int) -> None:
        """Give an open component a scale, or make it absent."""
        self.scale[f] = scale
        self._change()

    def evidence(self, which: Ints) -> Floats:
        """Return the log evidence of each scale of some components, against their absence, given
        the others, (n, n_grid - 1)."""
        there, size = self.scale[which] != ABSENT, self.size[which]
        lam = np.zeros((len(which), int(size.max(initial=1))))
        q = np.zeros(lam.shape)
        for k in np.unique(size):
            for present in (False, True):
                own = np.flatnonzero((size == k) & (there == present))
                if own.size:
                    at = self.first[which[own]][:, None] + np.arange(k)
                    A, b = self._own(at) if present else self._added(at)
                    lam[own, :k], q[own, :k] = _principal(A, b)
        s2 = GRID[PRESENT] ** 2
        found = np.zeros((len(which), len(s2)))
        for j in range(lam.shape[1]):
            own = np.flatnonzero(size > j)
            grown = 1.0 + s2 * lam[own, j, None]
            found[own] += q[own, j, None] * s2 / grown - np.log(grown)
        return 0.5 * found

    def _own(self, at: Ints) -> tuple[Floats, Floats]:
        """Return what data say of components that are there, the others being uncertain."""
        own = np.searchsorted(self.at, at)
        P = np.linalg.inv(self.V[own[:, :, None], own[:, None, :]])
        b = (P @ self.m[own][:, :, None])[..., 0]
        k = at.shape[1]
        P[:, range(k), range(k)] -= 1.0 / GRID[self.scale[self.owner[at]]] ** 2
        return np.asarray(P), b

    def _added(self, at: Ints) -> tuple[Floats, Floats]:
        """Return what data say of components that are absent."""
        n, k = at.shape
        X = self.S[np.ix_(self.at, at.ravel())]
        Z = (self.V @ X).reshape(-1, n, k)
        known = np.einsum("mni,mnj->nij", X.reshape(-1, n, k), Z)
        A = self.S[at[:, :, None], at[:, None, :]] - known
        return A, self.g[at] - (self.m @ X).reshape(n, k)


def _principal(A: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return eigenvalues of what data say of components, A (n, k, k), and squares of b (n, k) in
    their directions."""
    if A.shape[-1] == 1:
        lam, q = A[..., 0], b**2
    else:
        lam, U = np.linalg.eigh((A + np.swapaxes(A, 1, 2)) / 2)
        q = (b[:, None, :] @ U)[:, 0] ** 2
    return np.maximum(lam, 0.0), q


def _root(S: Floats, L: Floats, rounding: Floats | float) -> Floats:
    """Return R with RᵀR the inverse of S + diag(1/L²)."""
    if not len(L):
        return np.zeros((0, 0))
    H = L[:, None] * S * L
    # Data without noise: rounding must not make it indefinite.
    H[np.diag_indices(len(L))] += 1.0 + len(L) * ROUNDING * np.diag(H) + L**2 * rounding
    C, failed = dpotrf(H, lower=1)
    if failed:
        raise np.linalg.LinAlgError("what data say of coefficients is not positive definite")
    return np.asarray(dtrtri(C, lower=1)[0]) * L


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
        told = _Told(blocks, K, share)
        settled = np.full(c, -1) if fixed is None else fixed
        usable = self.sparse[settled[self.sparse] < 0]
        scale[self.sparse[settled[self.sparse] == 0]] = ABSENT
        scale[(settled == 1) & (scale == ABSENT)] = _ONE
        there = np.setdiff1d(np.flatnonzero(scale != ABSENT), usable)
        total, square, spread = np.zeros(K), np.zeros((K, K)), np.zeros((K, K))
        present, likely, sizes, means = np.zeros(c), np.zeros(c), np.zeros(c), np.zeros(c)
        powers = np.zeros(len(noise))
        for sweep in range(sweeps):
            now = _Now(*told.information(noise), self.start, scale, there, usable)
            odds = self._odds(scale)
            probable = self._toggle(now, odds, usable)
            self._exchange(now, odds, usable)
            mean = now.mean()
            if sweep >= burn:
                at, V = now.covariance()
                total += mean
                square += np.outer(mean, mean)
                spread[np.ix_(at, at)] += V
                likely += probable
                present += scale != ABSENT
                means += np.where(scale != ABSENT, GRID[scale], 0.0) ** 2
                sizes += np.where(scale != ABSENT, _LOG[scale], 0.0)
                powers += noise**2
            theta = now.draw(self.rng)
            # All rows tell the noise; it is what they say of coefficients that is correlated.
            near = mean + np.sqrt(share) * (theta - mean)
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
                now.put(f, 1 + int(self.rng.choice(len(p), p=p / p.sum())))
            else:
                now.put(f, ABSENT)
            left = left[i + 1 :]
        return found

    def _exchange(self, now: _Now, odds: Floats, usable: Ints) -> None:
        """Draw anew which component takes the place of one that is there, and its scale."""
        for _ in range(_EXCHANGES):
            there = usable[now.scale[usable] != ABSENT]
            if not there.size:
                return
            now.put(int(self.rng.choice(there)), ABSENT)
            gone = usable[now.scale[usable] == ABSENT]
            weight = now.evidence(gone) + self.law[gone] + odds[gone, None]
            i, k = divmod(int(self._drawn(weight.reshape(1, -1))[0]), weight.shape[1])
            now.put(int(gone[i]), 1 + k)

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
