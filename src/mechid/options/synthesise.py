"""What makes synthetic measurements differ from the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from mechid.options.noise import NO_NOISE, NoiseLevels
from mechid.shown import changes_repr

NoiseKind: TypeAlias = Literal["white", "proportional", "coloured", "gain"]
NOISE_KINDS: tuple[NoiseKind, ...] = get_args(NoiseKind)


@dataclass(frozen=True)
class SynthesiseOptions:
    """What makes synthetic measurements differ from the model.

    Attributes
    ----------
    noise : NoiseLevels
        Of the forces. A relative level is a share of the root mean square of each force, for
        "proportional" of each sample, for "gain" the standard deviation of the factor from one.
    noise_kind : str
        "white": normal deviates of the same standard deviation at all samples. "proportional": of
        one proportional to each sample. "coloured": as white, but each sample remembers the one
        before. "gain": one constant factor per force.
    correlation : float
        Of neighbouring samples of coloured noise.
    time_constant : float, optional
        Instead of it, s: the correlation falls to 1/e in this time.
    position_noise : NoiseLevels
        White noise of the coordinates (m or rad); a relative level is a share of the standard
        deviation of each from its mean. Speeds and accelerations are then not measured.
    positions_only : bool
        Whether speeds and accelerations are left out anyway.
    cad_error : float
        Relative error of the CAD values: the truth is drawn about them.
    hardpoints, friction, viscous_friction, stribeck : NoiseLevels
        What the machine has and its model lacks, see `ERROR_KINDS`, given by joint.
    hysteresis, load_friction, elasticity, backlash : NoiseLevels
        The same of the drives.
    jitter : NoiseLevels
        Standard deviation of the instants of sampling about the recorded times, s.
    delay, lowpass, crosstalk, gain, offset, drift, random_walk, hum, outliers, clipping, \
quantisation : NoiseLevels
        What force sensors do, see `ERROR_KINDS`; they act in this order, noise before outliers.
    eccentricity, position_quantisation : NoiseLevels
        What encoders do: a wave of the measured angle, and steps of the positions, m or rad. With
        them, elasticity, backlash and jitter, speeds and accelerations are not measured.
    friction_fade : float
        Share by which friction, viscous_friction and stribeck fall from the start to the end of the
        log, linearly. Their sizes are the means over the log, and those on other motions.
    stribeck_speed : float
        v_s as a share of the root mean square of a joint's speed.
    hysteresis_width : float
        Travel after which hysteresis has come to (1 - 1/e) of its force, as a share of the
        standard deviation of a coordinate.
    hum_frequency : float
        Hz.
    outlier_size : float
        Standard deviation of outliers, as a multiple of the root mean square of a force.
    units : mapping channel → unit
        Units in which the table is written although it says SI: {"q1": "deg", "F": "kN"}.
    seed : int
        Everything random follows from it; truth, forces, positions and each kind of error have
        streams of their own, so that another noise does not mean another truth.
    """

    noise: NoiseLevels = NO_NOISE
    noise_kind: NoiseKind = "white"
    correlation: float = 0.9
    time_constant: float | None = None
    position_noise: NoiseLevels = NO_NOISE
    positions_only: bool = False
    cad_error: float = 0.0
    hardpoints: NoiseLevels = NO_NOISE
    friction: NoiseLevels = NO_NOISE
    viscous_friction: NoiseLevels = NO_NOISE
    stribeck: NoiseLevels = NO_NOISE
    stribeck_speed: float = 0.1
    friction_fade: float = 0.0
    hysteresis: NoiseLevels = NO_NOISE
    hysteresis_width: float = 0.05
    load_friction: NoiseLevels = NO_NOISE
    elasticity: NoiseLevels = NO_NOISE
    backlash: NoiseLevels = NO_NOISE
    jitter: NoiseLevels = NO_NOISE
    delay: NoiseLevels = NO_NOISE
    lowpass: NoiseLevels = NO_NOISE
    crosstalk: NoiseLevels = NO_NOISE
    gain: NoiseLevels = NO_NOISE
    offset: NoiseLevels = NO_NOISE
    drift: NoiseLevels = NO_NOISE
    random_walk: NoiseLevels = NO_NOISE
    hum: NoiseLevels = NO_NOISE
    hum_frequency: float = 50.0
    outliers: NoiseLevels = NO_NOISE
    outlier_size: float = 3.0
    clipping: NoiseLevels = NO_NOISE
    quantisation: NoiseLevels = NO_NOISE
    eccentricity: NoiseLevels = NO_NOISE
    position_quantisation: NoiseLevels = NO_NOISE
    units: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0

    __repr__ = changes_repr
