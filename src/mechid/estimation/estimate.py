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
        The force; empty for all.
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
        shown = f"{self.share:.2g} of the force" if self.share >= 1 else f"{100 * self.share:.2g} % of the force"
        if len(self.values) <= 3 and self.unit:
            about = f" ± {self.sigma[0]:.2g}" if len(self.values) == 1 else ""
            value = self.values[0] if len(self.values) == 1 else size
            shown = f"{value:.3g}{about} {self.unit}, {shown}"
        return f"{self.name}: {shown}, probability {self.probability:.2f}"


@dataclass(frozen=True, eq=False)
class Unseen:
    """An error that the data could not show.

    Attributes
    ----------
    error : str
        What it is, as "an offset of … would not be seen in these data and would".
    parameters : tuple of str
    shifts : array (b,)
        What it would do to them.
    least : float
        Shift in standard deviations from which it is worth a word.
    remedy : str
        What to do about it.
    """

    error: str
    parameters: tuple[str, ...]
    shifts: Floats
    least: float
    remedy: str

    def among(self, parameters: tuple[str, ...]) -> Unseen:
        """Return the same with further parameters, which it does not shift."""
        own = dict(zip(self.parameters, self.shifts.tolist(), strict=True))
        shifts = np.array([own.get(name, 0.0) for name in parameters])
        return replace(self, parameters=parameters, shifts=shifts)

    def in_deviations(self, sigma: Floats) -> Floats:
        """Return the size of the shifts in standard deviations (b,); 0 of what is known exactly."""
        return np.asarray(np.abs(self.shifts) / np.where(sigma > 0, sigma, np.inf))

    def words(self, sigma: Floats) -> tuple[str, ...]:
        """Return a sentence about the parameter that it would shift most; none if that is little.

        sigma : array (b,), standard deviations of the parameters.
        """
        size = self.in_deviations(sigma)
        most = int(np.argmax(size))
        if not size[most] > self.least:
            return ()
        return (
            f"{self.error} shift {self.parameters[most]} by {size[most]:.2g} standard "
            f"deviations: {self.remedy}",
        )


@dataclass(frozen=True, eq=False)
class DoubtedGains:
    """Gain errors that forces may have, and that the covariance of an estimate contains.

    They are sums of k independent errors of one standard deviation each.

    Attributes
    ----------
    gains : array (n_d, k)
        Gain of each force by each of these errors.
    shifts : array (b, k)
        What the parameters take up of it.
    """

    gains: Floats
    shifts: Floats

    @property
    def size(self) -> float:
        """The largest standard deviation of a gain."""
        return float(np.max(np.linalg.norm(self.gains, axis=1), initial=0.0))


@dataclass(frozen=True, eq=False)
class Information:
    """What data and prior say of the values if the model is right.

    Attributes
    ----------
    covariance : array (b, b)
    cross : array (b, n_d), optional
        Covariance of parameters and offsets.
    """

    covariance: Floats
    cross: Floats | None


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
    evidence : float, optional
        Log marginal likelihood of the measured forces, less half of log n for each fitted quantity
        (as BIC): compares noise models of the same data, larger is better.
    full : array (p,), optional
        A physically consistent set of all parameters that has these base values.
    resting : tuple of str
        Parameters that are determined mainly by the prior: the data hardly reduce their standard
        deviations.
    unmodelled : array (n_d,), optional
        Rms of force that the model does not describe, N or N m: part of `noise`, if it is known.
    unseen : tuple of Unseen
        Errors that the data could not show, whose sentences are in `known` or `warnings`.
    doubted_offsets : array (b, k), optional
        Root of the part of `covariance` that is there because forces may have offsets.
    doubted_gains : DoubtedGains, optional
        Gain errors of the forces that `covariance` contains.
    doubted_places : array (b, k), optional
        Root of the part of `covariance` that is there because joints may be elsewhere than in the
        model. Forces that are predicted for the same machine do not contain it.
    information : Information, optional
        Where `covariance` contains errors of model and sensors besides. Not kept in files.
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
    evidence: float | None = None
    full: Floats | None = None
    resting: tuple[str, ...] = ()
    unmodelled: Floats | None = None
    unseen: tuple[Unseen, ...] = ()
    doubted_offsets: Floats | None = None
    doubted_gains: DoubtedGains | None = None
    doubted_places: Floats | None = None
    information: Information | None = None
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

    @property
    def of_fit(self) -> Information:
        """What data and prior say of the values if the model is right: other values fit worse by
        their distance in this measure, and in no larger one."""
        cross = None if self.errors is None else self.errors.cross
        return self.information or Information(self.covariance, cross)

    def widened(self, covariance: Floats) -> Estimate:
        """Return the estimate with a larger covariance, and sentences that count in standard
        deviations as these are now."""
        return said_again(self, replace(self, covariance=covariance, information=self.of_fit))


def said_again(before: Estimate, after: Estimate) -> Estimate:
    """Return a changed estimate whose sentences count in its own standard deviations."""
    news = {
        word: new.words(after.sigma)
        for old, new in zip(before.unseen, after.unseen, strict=True)
        for word in old.words(before.sigma)
    }
    known, warnings = (
        tuple(new for word in words for new in news.get(word, (word,)))
        for words in (after.known, after.warnings)
    )
    return replace(after, known=known, warnings=warnings)


@dataclass(frozen=True, eq=False)
class Prediction:
    """Predicted forces of a motion.

    Attributes
    ----------
    forces : array (N, n_d)
    sigma : array (N, n_d)
        Standard deviation of the force: uncertainty of the parameters, and what the model does not
        describe. That joints may be elsewhere than in the model is not in it: they stay there, and
        their forces are those that the parameters took up.
    total : array (N, n_d)
        Of a measurement by a calibrated sensor: with the noise of the channel, and its drift.
    by_same_sensors : array (N, n_d)
        Of a measurement by the sensors of the identification: their gain errors, which the
        parameters took up, are in it as well.
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
    if estimate.doubted_places is not None:
        variance -= np.sum((r.W @ estimate.doubted_places) ** 2, axis=2)
    shared = _shared(estimate.doubted_gains, r.W, forces)
    if estimate.errors is not None:
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


def _shared(gains: DoubtedGains | None, W: Floats, forces: Floats) -> Floats:
    """Return by how much less the variance of predicted less measured forces is, where sensors have
    the same gain errors as in the identification, (N, n_d).

    Such an error shifts measured forces by g F, and predicted ones by what parameters took up.
    """
    if gains is None:
        return np.zeros(forces.shape)
    predicted = W @ gains.shifts
    own = gains.gains * forces[:, :, None]
    return np.asarray(np.sum(predicted**2 - (predicted - own) ** 2, axis=2))


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
