"""Advice about an experiment, as a record and in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mechid.excitation.trajectory import Trajectory
from mechid.shown import Shown


@dataclass(frozen=True, eq=False, repr=False)
class Advice(Shown):
    """What to measure, and what to expect of it.

    Attributes
    ----------
    model : str
    target : float
        E_p, mean over all forces, that is to be reached.
    forces : tuple of str
        That are measured.
    trajectory : Trajectory
        The motion to measure.
    rate : float
        Samples per second.
    seconds : float or None
        How long to measure it; None if the target is not reached in 1000 periods.
    random_seconds : float or None
        The same with a random motion (median of three).
    errors : mapping seconds → (designed, random)
        Expected E_p after so many seconds.
    cad : float
        E_p of the CAD values alone.
    without : mapping force → float
        E_p after the same time if this force is not measured.
    sensors : mapping sensor → float
        E_p after the same time with one sensor more, the best first.
    determined, resting : tuples of str
        Base parameters that the data determine, and those that stay with their CAD values.
    checked : tuple of float
        E_p of identifications of synthetic data with the default estimator, one per draw.
    inside : float
        Share of exact forces of other motions inside the 95 % intervals of these.
    words : tuple of str
        All of it in sentences.
    """

    model: str
    target: float
    forces: tuple[str, ...]
    trajectory: Trajectory
    rate: float
    seconds: float | None
    random_seconds: float | None
    errors: Mapping[float, tuple[float, float]]
    cad: float
    without: Mapping[str, float]
    sensors: Mapping[str, float]
    determined: tuple[str, ...]
    resting: tuple[str, ...]
    checked: tuple[float, ...]
    inside: float
    words: tuple[str, ...] = ()

    def summary(self) -> Mapping[str, object]:
        """Return what `repr` shows."""
        return {str(k + 1): text for k, text in enumerate(self.words)}


def advice_words(a: Advice, reached: float, checked_seconds: float) -> tuple[str, ...]:
    """Say it in sentences; `reached` is the expected E_p after the advised time."""
    longest = max(a.errors)
    said = [
        f"CAD values alone predict the forces of other motions with E_p = {a.cad:.1%} "
        f"(mean over {len(a.trajectory.names)} forces)."
    ]
    if a.seconds is not None:
        how = f"Measure {', '.join(a.forces)} for {a.seconds:.4g} s at {a.rate:.4g} Hz"
        said.append(f"{how}: E_p < {a.target:.1%} is reached ({reached:.1%} expected).")
    else:
        said.append(
            f"E_p < {a.target:.1%} is not reached with {', '.join(a.forces)}, not even in "
            f"{longest:.4g} s ({reached:.1%}): measure more, or with less noise."
        )
    if a.seconds is not None and a.random_seconds != a.seconds:
        instead = (
            "would not reach it" if a.random_seconds is None else f"takes {a.random_seconds:.4g} s"
        )
        said.append(f"Use this motion: a random one within the same limits {instead}.")
    elif a.seconds is not None:
        said.append("Any motion within the limits will do: a random one takes as long.")
    needed = [n for n, error in a.without.items() if error > a.target]
    if needed and a.seconds is not None:
        worst = max(needed, key=lambda n: a.without[n])
        said.append(
            f"Needed: {', '.join(needed)}; without {worst} E_p would be {a.without[worst]:.1%}."
        )
    spare = [n for n in a.without if n not in needed]
    if spare and a.seconds is not None:
        which = spare[0] if len(spare) == 1 else f"Any one of {', '.join(spare)}"
        said.append(f"{which} could be left out.")
    if a.sensors:
        name, error = next(iter(a.sensors.items()))
        said.append(f"What would help most is {sensor_words(name)}: E_p {error:.1%}.")
        missing = [n for n in a.sensors if ":" not in n]
        if missing and missing[0] != name:
            said.append(
                f"Of the forces that are not measured, {missing[0]} would help most: "
                f"E_p {a.sensors[missing[0]]:.1%}."
            )
    else:
        said.append("No further force sensor would reduce E_p by more than a fifth.")
    said.append(
        f"{len(a.determined)} of {len(a.determined) + len(a.resting)} base parameters are "
        "determined by the data"
        + (f"; these stay with CAD: {', '.join(a.resting)}." if a.resting else ".")
    )
    if a.checked:
        said.append(
            f"Check: {len(a.checked)} synthetic logs of {checked_seconds:.4g} s, identified by "
            f"default, gave E_p of {min(a.checked):.1%} to {max(a.checked):.1%}; {a.inside:.0%} of "
            "the forces lay in their 95 % intervals."
        )
    said.append(
        "This counts on white noise and a complete model; gains, offsets and friction that the "
        "model lacks do not average out."
    )
    return tuple(said)


def sensor_words(name: str) -> str:
    """Return what a sensor is: "force:G_r" is a load cell in a joint."""
    kind, _, place = name.rpartition(":")
    return {
        "": f"measuring {place}",
        "force": f"a three-component load cell in joint {place}",
        "axial": f"strain gauges along {place}",
    }.get(kind, name)
