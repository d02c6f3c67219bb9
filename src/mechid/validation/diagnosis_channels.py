"""Channels in another unit, exchanged or reversed: found before anything else makes sense."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from mechid.estimation.linear import full_svd, lengths, prior_factor, rank_floor
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Bools, Floats, Regression
from mechid.validation.diagnosis_record import CAD, Diagnosis

# A force of this many times its CAD value is no matter of wrong CAD values.
_RATIO = 3.0
# So alike must the two be over time, else it is no matter of a factor.
_ALIKE = 0.9
# Factors between units, as (factor, words).
_FACTORS = (
    (1000.0, "as between N and kN, or m and mm"),
    (57.29578, "as between rad and degrees"),
    (9.80665, "as between N and kgf"),
    (4.448222, "as between N and lbf"),
    (8.850746, "as between N m and lbf in"),
    (2 * np.pi, "as between rad and turns"),
    (10.0, "of ten"),
    (100.0, "as between cm and m, or percent"),
)
_NEAR = 0.25  # CAD values are not exact
# Exchanging and reversing must take away three quarters of the misfit, and each change more than
# a likelihood ratio of exp(25): wrong CAD values and noise leave less than that.
_QUARTER, _LARGE = 0.25, 50.0
# Noise of the comparison relative to the forces, and the number of samples that count: so few that
# parameters far from the CAD values do not explain a force with the wrong sign.
_NOMINAL, _COUNT = 0.1, 30
_FEW = 20
_EXPLAINED = 0.1  # of the variance; noise of the size of the force leaves a half
_OPPOSITE = 0.5  # correlation with the CAD values


def other_units(
    regression: Regression,
    prior: Prior | None,
    source: str = CAD,
    lacking: Floats | None = None,
) -> tuple[Diagnosis, ...]:
    """Name forces that are a multiple of what the CAD values predict, or what `source` is.

    Parameters
    ----------
    regression : Regression
    prior : Prior, optional
    source : str
        What the prior is called in sentences.
    lacking : array (N, n_d, k), optional
        Forces that the model may lack: what is alike in these alone says nothing about units.
    """
    if prior is None:
        return ()
    r = regression
    cad = r.W @ prior.select(r.parameters).mean + r.known
    found = []
    for j, name in enumerate(r.channels):
        valid = r.valid[:, j]
        parts = np.zeros((valid.sum(), 0)) if lacking is None else lacking[valid, j]
        measured, expected = (_apart(x[valid, j], parts) for x in (r.tau, cad))
        sizes = np.linalg.norm(measured), np.linalg.norm(expected)
        if not all(np.isfinite(x) and x > 0 for x in sizes):
            continue
        alike = float(measured @ expected / (sizes[0] * sizes[1]))
        ratio = float(sizes[0] / sizes[1])
        far = max(ratio, 1 / ratio)
        if far < _RATIO or abs(alike) < _ALIKE:
            continue
        near = [words for factor, words in _FACTORS if abs(far / factor - 1) < _NEAR]
        found.append(
            Diagnosis(
                "unit",
                name,
                ratio,
                "",
                far / _RATIO,
                f"force {name} is {ratio:.3g} times that of {source}, alike in time (correlation "
                f"{alike:.2f})" + (f": a factor {' or '.join(near)}" if near else ""),
                f"correct unit, scale or gear ratio of {name} in the mapping file",
            )
        )
    return tuple(found)


def _apart(values: Floats, parts: Floats) -> Floats:
    """Return values (n,) without what is a combination of parts (n, k)."""
    return np.asarray(values - parts @ np.linalg.lstsq(parts, values, rcond=None)[0])


def unexplained(regression: Regression, residuals: Floats) -> tuple[Diagnosis, ...]:
    """Name forces of which the fit explains next to nothing: they look like noise.

    Parameters
    ----------
    regression : Regression
    residuals : array (N, n_d)
        Measured less fitted forces, N or N m.
    """
    found = []
    for j, name in enumerate(regression.channels):
        valid = regression.valid[:, j] & np.isfinite(residuals[:, j])
        spread = _spread(regression.tau[valid, j]) if valid.sum() >= _FEW else 0.0
        if not spread > 0:
            continue
        explained = 1 - (_spread(residuals[valid, j]) / spread) ** 2
        if explained < _EXPLAINED:
            found.append(
                Diagnosis(
                    "unexplained",
                    name,
                    explained,
                    "",
                    (1 - explained) / (1 - _EXPLAINED),
                    f"the motion explains {100 * max(explained, 0.0):.0f} % of the variance of "
                    f"force {name}, which looks like noise",
                    f"check that the channel of {name} is this force, its time base, and the units "
                    "of the positions",
                )
            )
    return tuple(found)


def _spread(values: Floats) -> float:
    """Return the median distance from the median, which outliers and offsets do not change."""
    return float(np.median(np.abs(values - np.median(values))))


def exchanged_or_reversed(
    regression: Regression,
    prior: Prior | None,
    source: str = CAD,
    lacking: Floats | None = None,
) -> tuple[Diagnosis, ...]:
    """Name forces that fit much better with another sign, or in the place of each other.

    Not where forces that the model may lack, (N, n_d, k), do as well.
    """
    whole = np.flatnonzero(regression.valid.all(axis=1))
    r = regression.part(whole)
    if len(r.time) < _FEW or not np.all(r.tau.any(axis=0)):
        return ()
    more = np.zeros((*r.tau.shape, 0)) if lacking is None else lacking[whole]
    misfit = _Misfit(r, prior, source, more)
    tau, found = r.tau, []
    first = before = misfit.total(tau)
    # Several reversed at once, as the CAD values say: each alone may not help. Not where one change
    # does as well: forces that were exchanged can look reversed.
    signs = np.where(misfit.reversed(tau), -1.0, 1.0)
    total = misfit.total(tau * signs)
    alone = min(misfit.total(_changed(tau, change)) for change in _changes(len(r.channels)))
    if total < min(_QUARTER * first, alone) and first - total > _LARGE:
        wrong, right = misfit.errors(tau), misfit.errors(tau * signs)
        found = [
            _finding(
                [r.channels[j]], first / total, float(wrong[j]), float(right[j]), misfit.against
            )
            for j in np.flatnonzero(signs < 0)
        ]
        tau, before = tau * signs, total
    for _ in r.channels:
        tried = {change: _changed(tau, change) for change in _changes(len(r.channels))}
        totals = {change: misfit.total(forces) for change, forces in tried.items()}
        best = min(totals, key=lambda change: totals[change])
        after = totals[best]
        if before - after < _LARGE:
            break
        names = [r.channels[j] for j in best]
        errors = [float(misfit.errors(x)[list(best)].mean()) for x in (tau, tried[best])]
        found.append(_finding(names, before / after, errors[0], errors[1], misfit.against))
        tau, before = tried[best], after
    return tuple(found) if before < _QUARTER * first else ()


class _Misfit:
    """How badly a fit explains versions of the forces, and how far they are from the CAD values."""

    def __init__(self, r: Regression, prior: Prior | None, source: str, more: Floats) -> None:
        self._known = r.known
        self._forces: Floats | None = None
        self.against = "the fit"
        mean = None if prior is None else prior.select(r.parameters).mean
        forces = r.tau if mean is None else r.W @ mean + r.known
        size = np.sqrt(np.mean(forces**2, axis=0))
        own = np.sqrt(np.mean(r.tau**2, axis=0))
        weight = _NOMINAL * np.sqrt(max(len(r.time) / _COUNT, 1.0))
        self._scale = weight * np.where(np.isfinite(size) & (size > 0), size, own)
        A = (r.W / self._scale[:, None]).reshape(-1, len(r.parameters))
        Z = (more / self._scale[:, None]).reshape(len(A), more.shape[-1])
        if prior is None or mean is None:
            self._shift = np.zeros(len(A))
            full = np.hstack([A, Z])
        else:
            F = prior_factor(prior.select(r.parameters).base_covariance)
            self._shift = A @ mean
            self._forces, self.against = forces, source
            n = F.shape[1]
            full = np.block([[A @ F, Z], [np.eye(n), np.zeros((n, Z.shape[1]))]])
        full = full / lengths(full)
        U, s, _ = full_svd(full)
        self._Q = U[:, s > rank_floor(full, s)]

    def total(self, tau: Floats) -> float:
        """Return the sum of squares of residuals and of deviations from the CAD values."""
        return float(np.sum(self._residuals(tau) ** 2))

    def errors(self, tau: Floats) -> Floats:
        """Return the relative error of each force, of the CAD values if they are known."""
        e = self._residuals(tau)[: tau.size].reshape(tau.shape) * self._scale
        e = e if self._forces is None else tau - self._forces
        return np.asarray(np.linalg.norm(e, axis=0) / np.linalg.norm(tau, axis=0))

    def reversed(self, tau: Floats) -> Bools:
        """Return which forces look like those of the CAD values with the opposite sign, (n_d,)."""
        if self._forces is None:
            return np.zeros(tau.shape[1], dtype=bool)
        sizes = np.linalg.norm(tau, axis=0) * np.linalg.norm(self._forces, axis=0)
        return np.asarray(np.sum(tau * self._forces, axis=0) < -_OPPOSITE * sizes)

    def _residuals(self, tau: Floats) -> Floats:
        t = ((tau - self._known) / self._scale).ravel() - self._shift
        t = np.pad(t, (0, len(self._Q) - len(t)))
        return np.asarray(t - self._Q @ (self._Q.T @ t))


def _changes(n: int) -> list[tuple[int, ...]]:
    return [*((j,) for j in range(n)), *combinations(range(n), 2)]


def _changed(tau: Floats, change: tuple[int, ...]) -> Floats:
    """Return forces with one reversed, or with two exchanged."""
    found = tau.copy()
    at = list(change)
    found[:, at] = -tau[:, at] if len(change) == 1 else tau[:, at[::-1]]
    return found


def _finding(
    names: list[str], ratio: float, before: float, after: float, against: str
) -> Diagnosis:
    figures = f"the error of {against} is {100 * after:.3g} instead of {100 * before:.3g} %"
    if len(names) == 1:
        return Diagnosis(
            "sign",
            names[0],
            before,
            "",
            ratio,
            f"force {names[0]} fits with the opposite sign: {figures}",
            f"reverse the sign of {names[0]} in the mapping file (sign: -1)",
        )
    return Diagnosis(
        "swapped",
        ", ".join(names),
        before,
        "",
        ratio,
        f"forces {names[0]} and {names[1]} fit in the place of each other: {figures}",
        f"exchange the channels of {names[0]} and {names[1]} in the mapping file",
    )
