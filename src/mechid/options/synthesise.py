"""What makes synthetic measurements differ from the model."""

from __future__ import annotations

from dataclasses import dataclass
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
        standard deviation of each from its mean. Speeds and accelerations are then not measured.
    positions_only : bool
        Whether speeds and accelerations are left out anyway.
    cad_error : float
        Relative error of the CAD values: the truth is drawn about them.
    seed : int
        Everything random follows from it; truth, forces and positions have streams of their own,
        so that another noise does not mean another truth.
    """

    noise: NoiseLevels = NO_NOISE
    noise_kind: NoiseKind = "white"
    correlation: float = 0.9
    time_constant: float | None = None
    position_noise: NoiseLevels = NO_NOISE
    positions_only: bool = False
    cad_error: float = 0.0
    seed: int = 0

    __repr__ = changes_repr
