"""What every estimator returns: values, their covariance, and how well they explain the forces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mechid.estimation.regression import Floats, Regression
from mechid.shown import Plotted, Tabular

# A random walk in the next log, about its mean in this one: variance relative to that about the
# mean in a log. In units of its growth in a log, the difference of consecutive means has the
# variance 2/3, and the walk has 1/6 about each.
_NEXT_LOG = 5.0
LIKELY = 0.5  # probability from which values contain an error


@dataclass(frozen=True, eq=False)
class Agreement:
    """Whether data and prior agree: χ² of what the prior predicts for the data.

    Attributes
    ----------
    chi2 : float
    dof : float
    p : float
        Probability of a χ² as large as this; a small one means that they disagree.
    scale : float
        Factor on the declared standard deviations of the prior with the largest evidence.
    """

    chi2: float
    dof: float
    p: float
    scale: float


@dataclass(frozen=True, eq=False)
class ChannelErrors:
    """Errors of the force channels: τ = (1 + gain) force(t - delay) + offset + drift + noise.

    Attributes
    ----------
    gain, sigma_gain : arrays (n_d,)
    offset, sigma_offset : arrays (n_d,)
        N or N m; of several logs the mean, with their spread.
    cross : array (b, n_d), optional
        Covariance of parameters and offsets; they are taken as independent without.
    cross_gain : array (b, n_d), optional
        Covariance of parameters and gains, likewise.
    by_log : array (L, n_d), optional
        Offsets of each of several logs.
    logs : tuple of int
        Numbers of these logs, as in `Regression.log`.
    drift : array (n_d,), optional
        Root mean square of a slow drift, N or N m.
    delay, sigma_delay : arrays (n_d,), optional
        Seconds by which the measured force is late.
    """

    gain: Floats
    sigma_gain: Floats
    offset: Floats
    sigma_offset: Floats
    cross: Floats | None = None
    cross_gain: Floats | None = None
    by_log: Floats | None = None
    logs: tuple[int, ...] = ()
    drift: Floats | None = None
    delay: Floats | None = None
    sigma_delay: Floats | None = None

    @property
    def terms(self) -> Mapping[str, tuple[Floats, Floats | None]]:
        """What was estimated, by name: sizes per channel (n_d,) and their standard deviations."""
        found = {
            "gain": (self.gain, self.sigma_gain),
            "offset": (self.offset, self.sigma_offset),
            "drift": (self.drift, None),
            "delay": (self.delay, self.sigma_delay),
        }
        return {n: (x, s) for n, (x, s) in found.items() if x is not None and np.any(x)}

    def of_samples(self, regression: Regression) -> Floats:
        """Return offsets of the samples of a motion (N, n_d): of its log, or the mean of all."""
        found = np.broadcast_to(self.offset, regression.tau.shape).copy()
        if self.by_log is not None and regression.log is not None:
            for number, offset in zip(self.logs, self.by_log, strict=True):
                found[regression.log == number] = offset
        return found


@dataclass(frozen=True)
class Finding:
    """An error of machine, sensors or log that may be there.

    Attributes
    ----------
    name : str
        As "offset of M1".
    family : str
        As users name it: "offsets", "gains", "friction", …
    owner : "machine", "sensor" or "log"
        Errors of the machine go on to other motions, those of a sensor to other logs of it.
    channel : str
        The force, joint or drive; empty for all forces.
    probability : float
        That it is there.
    values, sigma : tuple of float
        Its coefficients with standard deviations, in `unit`.
    unit : str
    share : float
        Part of the force that it makes, root mean square, where it makes most.
    remedy : str
        What to do about it.
    """

    name: str
    family: str
    owner: str
    channel: str
    probability: float
    values: tuple[float, ...]
    sigma: tuple[float, ...]
    unit: str
    share: float
    remedy: str

    @property
    def likely(self) -> bool:
        """Whether it is more likely there than not: then values contain it."""
        return self.probability >= LIKELY

    @property
    def words(self) -> str:
        """What it is, how large, and how probable."""
        size = float(np.linalg.norm(self.values))
        shown = f"{100 * self.share:.2g} % of the force"
        if len(self.values) <= 3 and self.unit:
            about = f" ± {self.sigma[0]:.2g}" if len(self.values) == 1 else ""
            value = self.values[0] if len(self.values) == 1 else size
            shown = f"{value:.3g}{about} {self.unit}, {shown}"
        return f"{self.name}: {shown}, probability {self.probability:.2f}"


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Plotted, Tabular):
    """Estimated parameters.

    Attributes
    ----------
    method : str
        Name of the estimator.
    parameters : tuple of str
        Names of the b parameters.
    values : array (b,)
    covariance : array (b, b)
    channels : tuple of str
        Names of the n_d forces.
    noise : array (n_d,)
        Standard deviation of the force noise of each channel (N or N m); NaN for a channel
        without valid rows.
    residuals : array (N, n_d)
        Measured less predicted forces, with gain and offset of `errors` on these; NaN
        where nothing valid was measured.
    condition : float
        Condition number of the matrix that was used, rows in units of the noise, columns of
        unit length.
    known : tuple of str
        The prior information that was used, as text.
    warnings : tuple of str
        Limitations of the result, as text.
    agreement : Agreement, optional
        Of data and prior.
    errors : ChannelErrors, optional
        Gains and offsets that were estimated besides.
    colour : tuple of array, optional
        Coefficients a_1, a_2, … of e_k = Σ a_i e_(k-i) + white, per channel, if residuals were
        whitened; `noise` is then the standard deviation of e, not of the white part.
    tails : float, optional
        Degrees of freedom of Student's noise, if outliers count less.
    full : array (p,), optional
        A physically consistent set of all parameters that has these base values.
    resting : tuple of str
        Parameters that are determined mainly by the prior: the data hardly reduce their standard
        deviations.
    unmodelled : array (n_d,), optional
        Rms of force that the model does not describe, N or N m: part of `noise`, if it is known.
    doubted : array (b, k), optional
        Root of the part of `covariance` that is there because the model may lack something, as
        joints that are elsewhere. Forces that are predicted for the same machine do not contain it.
    found : tuple of Finding
        What else may be wrong, the most probable first.
    """

    method: str
    parameters: tuple[str, ...]
    values: Floats
    covariance: Floats
    channels: tuple[str, ...]
    noise: Floats
    residuals: Floats
    condition: float
    known: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    agreement: Agreement | None = None
    errors: ChannelErrors | None = None
    colour: tuple[Floats, ...] | None = None
    tails: float | None = None
    full: Floats | None = None
    resting: tuple[str, ...] = ()
    unmodelled: Floats | None = None
    doubted: Floats | None = None
    found: tuple[Finding, ...] = ()

    def summary(self) -> Mapping[str, object]:
        """Return what `repr` shows."""
        sharp = int(np.count_nonzero(self.relative < 10.0))
        return {
            "method": self.method,
            "parameters": self.parameters,
            "known within 10 %": f"{sharp} of {len(self.parameters)}",
            "determined mainly by the prior": len(self.resting) or None,
            "condition": self.condition,
            "noise": {n: float(x) for n, x in zip(self.channels, self.noise, strict=True)},
            "prior": self.known,
            "warnings": len(self.warnings) or None,
        }

    @cached_property
    def sigma(self) -> Floats:
        """Standard deviations, (b,)."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    @cached_property
    def relative(self) -> Floats:
        """Relative standard deviations in percent, (b,); infinite for a value of zero."""
        with np.errstate(divide="ignore", invalid="ignore"):
            found = 100.0 * self.sigma / np.abs(self.values)
        return np.where(self.sigma > 0, found, 0.0)


@dataclass(frozen=True, eq=False)
class Prediction:
    """Predicted forces of a motion.

    Attributes
    ----------
    forces : array (N, n_d)
    sigma : array (N, n_d)
        Standard deviation of the force: uncertainty of the parameters, and what the model does not
        describe. What the machine may have besides is not in it: it stays there, and its forces are
        those that the parameters took up.
    total : array (N, n_d)
        Of a measurement by a calibrated sensor: with the noise of the channel, and its drift.
    by_same_sensors : array (N, n_d)
        Of a measurement by the sensors of the identification, which have the same gains.
    """

    forces: Floats
    sigma: Floats
    total: Floats
    by_same_sensors: Floats


def predict(estimate: Estimate, regression: Regression, *, own_log: bool = False) -> Prediction:
    """Predict the forces of a motion; `regression` may be of any motion of the mechanism.

    Its parameters may be more than those of the estimate: what was not estimated is zero. Offsets
    that were estimated are added, since a channel keeps its offset; gains are not: forces are those
    of channels without gain error. In a log of the identification (`own_log`) a drift is as large
    as it was found, and in others it goes on.
    """
    r = regression.select(estimate.parameters)
    forces = r.W @ estimate.values + r.known
    variance = np.einsum("nij,jk,nik->ni", r.W, estimate.covariance, r.W, optimize=True)
    if estimate.doubted is not None:
        variance -= np.sum((r.W @ estimate.doubted) ** 2, axis=2)
    shared = np.zeros(forces.shape)
    if estimate.errors is not None:
        if estimate.errors.cross_gain is not None:
            along = np.einsum("nij,ji->ni", r.W, estimate.errors.cross_gain)
            shared = -2 * forces * along - (forces * estimate.errors.sigma_gain) ** 2
        forces = forces + estimate.errors.of_samples(r)
        variance = variance + estimate.errors.sigma_offset**2
        if estimate.errors.cross is not None:
            variance += 2 * np.einsum("nij,ji->ni", r.W, estimate.errors.cross)
    sigma, same = (np.sqrt(np.maximum(v, 0.0)) for v in (variance, variance - shared))
    lacking = np.zeros(1) if estimate.unmodelled is None else estimate.unmodelled
    noise = np.maximum(estimate.noise, lacking)
    if estimate.errors is not None and estimate.errors.drift is not None:
        times = 1.0 if own_log else _NEXT_LOG
        noise = np.hypot(noise, np.sqrt(times) * estimate.errors.drift)
    return Prediction(
        forces, np.hypot(sigma, lacking), np.hypot(sigma, noise), np.hypot(same, noise)
    )


def without_channel_errors(
    estimate: Estimate, regression: Regression, *, identification: bool = True
) -> Regression:
    """Return a problem without the errors of the force channels that an estimate found.

    Parameters
    ----------
    estimate : Estimate
    regression : Regression
    identification : bool
        Whether the estimate comes from this problem, so that drift and delays are known too;
        otherwise only offsets are.
    """
    if estimate.errors is None:
        return regression
    if not identification:
        return replace(regression, tau=regression.tau - estimate.errors.of_samples(regression))
    forces = regression.W @ estimate.values + regression.known
    clean = forces + estimate.residuals / (1.0 + estimate.errors.gain)
    return replace(regression, tau=np.where(np.isnan(clean), regression.tau, clean))
