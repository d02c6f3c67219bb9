"""Number of samples, rate and periods, and how a criterion changes with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from mechid.errors import DataError
from mechid.excitation.families.family import SPAN_SLACK, Floats
from mechid.excitation.observe import Observe
from mechid.excitation.trajectory import Sampled, Trajectory, sample, times_at, usual_rate


@dataclass(frozen=True)
class SamplingRow:
    """A criterion at one choice of samples.

    Attributes
    ----------
    samples : int
    rate : float
        Hz.
    duration : float
        s.
    periods : float or None
        Of the trajectory, if it repeats.
    value : float
        Of the criterion.
    per_sample : float
        Of the criterion for the information of one sample (its `repeats` divided by the number of
        samples): what is left of the change is due to where the samples lie, not to how many they
        are. The same as `value` for condition numbers.
    """

    samples: int
    rate: float
    duration: float
    periods: float | None
    value: float
    per_sample: float


def sample_times(
    trajectory: Trajectory,
    *,
    samples: int | None = None,
    rate: float | None = None,
    periods: float | None = None,
) -> Floats:
    """Return sample times, (N,), equally spaced from 0 on.

    Over a whole number of periods the end is left out: it is the start of the next one, and would
    count twice. Otherwise it is a sample.

    Parameters
    ----------
    trajectory : Trajectory
    samples : int, optional
        Number of samples. Without it and without a rate: the usual rate.
    rate : float, optional
        Samples per second, instead.
    periods : float, optional
        Periods to go through; by default the duration of the trajectory.

    Raises
    ------
    DataError
        For both samples and rate, or periods of a trajectory that does not repeat.
    """
    if samples is not None and rate is not None:
        raise DataError("samples and rate exclude each other", remedy="give one of them")
    if samples is not None and samples < 2:
        raise DataError(f"samples must be ≥ 2, got {samples}")
    duration, whole = _duration(trajectory, periods)
    if samples is not None:
        return np.linspace(0.0, duration, samples, endpoint=not whole)
    t = times_at(duration, rate or trajectory.rate or usual_rate(trajectory))
    return t[:-1] if whole and t[-1] >= duration * (1 - SPAN_SLACK) else t


def sampling_table(
    trajectory: Trajectory,
    observe: Observe,
    criterion: Callable[[Floats], float],
    *,
    samples: Sequence[int] | None = None,
    rates: Sequence[float] | None = None,
    periods: Sequence[float] | None = None,
) -> tuple[SamplingRow, ...]:
    """Return how a criterion changes with the samples.

    Parameters
    ----------
    trajectory : Trajectory
    observe : callable
        W_b of a sampled trajectory, such as `base_observation`.
    criterion : callable
        `Criterion`, or any function of W_b. A matrix divided by the root of the number of samples
        carries the information of one of them.
    samples, rates : sequences, optional
        Numbers of samples, or rates (Hz); one of them.
    periods : sequence, optional
        Numbers of periods; every one with every number of samples or rate.
    """
    chosen: list[dict[str, float]] = [{"samples": n} for n in samples or ()]
    chosen += [{"rate": r} for r in rates or ()]
    rows = []
    for choice, count in product(chosen or [{}], periods or (None,)):
        n = choice.get("samples")
        times = sample_times(
            trajectory,
            samples=None if n is None else int(n),
            rate=choice.get("rate"),
            periods=count,
        )
        rows.append(_row(trajectory, sample(trajectory, times=times), observe, criterion, count))
    return tuple(rows)


def _row(
    trajectory: Trajectory,
    sampled: Sampled,
    observe: Observe,
    criterion: Callable[[Floats], float],
    periods: float | None,
) -> SamplingRow:
    W = observe(sampled)
    n = len(W)
    duration = _duration(trajectory, periods)[0]
    period = trajectory.period
    return SamplingRow(
        samples=n,
        rate=float(1 / (sampled.time[1] - sampled.time[0])),
        duration=duration,
        periods=duration / period if period else None,
        value=criterion(W),
        per_sample=criterion(W / np.sqrt(n)),
    )


def _duration(trajectory: Trajectory, periods: float | None) -> tuple[float, bool]:
    """Return how long to sample, and whether that is a whole number of periods."""
    period = trajectory.period
    if periods is not None and not period:
        raise DataError(
            "the trajectory is not periodic, or constant",
            remedy="give a duration instead of periods",
        )
    duration = trajectory.duration if periods is None or not period else periods * period
    if duration <= 0:
        raise DataError(f"periods must be > 0, got {periods:g}")
    count = duration / period if period else 0.5
    return duration, abs(count - round(count)) <= SPAN_SLACK * count
