"""Errors of sensors and logs as components: offsets, gains, drifts, delays.

Offsets and drifts belong to one log, gains and delays to the sensor. A drift is a sum of cosines of
half periods over the log, with amplitudes that fall as 1/k: a random walk seen over its time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from mechid.estimation.posterior.component import FAMILIES, Component, Family
from mechid.estimation.regression import Floats, Regression

DRIFT_TERMS = 8
# A factor common to all forces has half of the variance of that of one force.
_OF_ALL = np.sqrt(0.5)


def sensor_components(
    r: Regression, families: Mapping[str, Family] = FAMILIES
) -> tuple[Component, ...]:
    """Return the errors that the forces of a problem may have.

    Columns of gains and delays are filled in when a problem is linearised.
    """
    found: list[Component] = []
    if "gains" in families:
        found += _gains(r, families["gains"])
    found += _of_logs(r, families)
    if "delays" in families:
        found += _delay(r, families["delays"])
    return tuple(found)


def _gains(r: Regression, family: Family) -> Iterator[Component]:
    empty = np.zeros((len(r.time), 1))
    used = [d for d in range(len(r.channels)) if r.valid[:, d].any()]
    # A factor of all forces is one of all parameters: nothing but CAD values speaks against it.
    yield Component("gain of all forces", family, "common gain", columns=empty, seen=False)
    for d in used if len(used) > 1 else ():
        yield Component(f"gain of {r.channels[d]}", family, "gains", columns=empty, channel=d)


def sizes(r: Regression) -> Floats:
    """Return the root mean square of each force, (n_d,)."""
    squares = np.sum(np.where(r.valid, r.tau, 0.0) ** 2, axis=0)
    return np.asarray(np.sqrt(squares / np.maximum(np.sum(r.valid, axis=0), 1)))


def _of_logs(r: Regression, families: Mapping[str, Family]) -> Iterator[Component]:
    offsets, drifts = families.get("offsets"), families.get("drifts")
    logs = r.logs
    n_logs, rms = int(logs.max(initial=0)) + 1, sizes(r)
    for d, name in enumerate(r.channels):
        valid, size = r.valid[:, d], float(rms[d])
        for k in range(n_logs):
            own = logs == k
            if not (valid & own).any() or size == 0:
                continue
            label = name if n_logs == 1 else f"{name} in log {k + 1}"
            one = own.astype(float)[:, None]
            if offsets is not None:
                yield Component(f"offset of {label}", offsets, "offsets",
                                columns=offsets.usual * size * one, channel=d, log=k)  # fmt: skip
            if drifts is not None:
                waves = one * cosines(r.time, own)
                yield Component(f"drift of {label}", drifts, "drifts",
                                columns=drifts.usual * size * waves, channel=d, log=k)  # fmt: skip


def cosines(time: Floats, own: Floats) -> Floats:
    """Return cosines over the time of a log, of root mean square one together, (N, K)."""
    t = time[own]
    s = np.zeros(len(time))
    s[own] = (t - t.min()) / max(float(np.ptp(t)), np.finfo(float).tiny)
    k = np.arange(1, DRIFT_TERMS + 1)
    waves = np.cos(np.pi * k * s[:, None]) / k
    return np.asarray(waves * np.sqrt(2.0 / np.sum(1.0 / k**2)))


def _delay(r: Regression, family: Family) -> Iterator[Component]:
    if len(r.time) > 1:
        # Forces are recorded together, and are late together.
        yield Component("delay of the forces", family, "delays", columns=np.zeros((len(r.time), 1)))


def unit_gain(component: Component) -> float:
    """Return the gain that is one unit of a component."""
    return component.family.usual * (_OF_ALL if component.channel < 0 else 1.0)


def usual_step(time: Floats) -> float:
    """Return the sampling interval, in which delays are counted; 1 without one."""
    steps = np.diff(time)
    return float(np.median(steps[steps > 0])) if np.any(steps > 0) else 1.0
