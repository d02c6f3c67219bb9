"""The errors of synthetic measurements, written down once: what they are and how they are sized.

Each is a field of `SynthesiseOptions` of the same name. What an error does to signals stands in
`mechid.tasks.synthetic_errors`, by the same names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

ErrorOf: TypeAlias = Literal["force", "coordinate", "joint", "log"]


@dataclass(frozen=True)
class ErrorKind:
    """One kind of error.

    Attributes
    ----------
    name : str
        Of the option.
    of : str
        What has it, and what single sizes are given by: forces, coordinates or joints; a log has
        one size.
    what : str
        What it is.
    unit : str
        Of its size.
    share_of : str
        What a size in percent is a share of.
    machine : bool
        Whether the machine has it and not its sensors: other measurements of the same truth have
        it, too.
    below : float
        Sizes must be less than this.
    """

    name: str
    of: ErrorOf
    what: str
    unit: str
    share_of: str
    machine: bool = False
    below: float = float("inf")

    @property
    def help(self) -> str:
        """What the option means, in a sentence."""
        share = f", or % of {self.share_of}" if self.share_of else " or %"
        single = "" if self.of == "log" else f"; or {self.of.upper()}=SIZE; may be repeated"
        return f"{self.what}: {self.unit}{share}{single}."


_RMS = "the root mean square of each force"
_MOTION = "the standard deviation of each motion"
_JOINT = "the force on which it acts most"
ERROR_KINDS: tuple[ErrorKind, ...] = (
    # Of the machine.
    ErrorKind("hardpoints", "joint", "Joints are not where the model has them, by this distance in "
              "a random direction", "m", "the size of the mechanism", True, 1.0),
    ErrorKind("friction", "joint", "Coulomb friction in joints that the model lacks", "N m (N in "
              "joints that only slide)", _JOINT, True),
    ErrorKind("viscous_friction", "joint", "Viscous friction in joints that the model lacks, at "
              "the root mean square of the joint's speed", "N m or N", _JOINT, True),
    ErrorKind("stribeck", "joint", "Friction in joints near standstill that the model lacks, "
              "exp(-(v/v_s)²)", "N m or N", _JOINT, True),
    ErrorKind("hysteresis", "force", "Friction that remembers where the motion turned (Dahl)",
              "N or N m", _RMS, True),
    ErrorKind("load_friction", "force", "Friction of drives that grows with the force they "
              "transmit, by this part of it", "a number", "", True, 1.0),
    ErrorKind("elasticity", "coordinate", "Positions are measured at motors behind springs, which "
              "the root mean square of the force deflects by this (quasi-static)", "m or rad",
              _MOTION, True),
    ErrorKind("backlash", "coordinate", "Positions are measured at motors in front of a play, of "
              "which the mechanism is at one end or the other", "m or rad", _MOTION, True),
    # Of sensors, in the order in which they act.
    ErrorKind("delay", "force", "Forces are recorded late", "s", "the sampling interval"),
    ErrorKind("lowpass", "force", "Cut-off frequency of a low-pass filter of second order in the "
              "sensor", "Hz", "the sampling rate"),
    ErrorKind("jitter", "log", "Positions and forces are sampled at other instants than recorded; "
              "standard deviation", "s", "the sampling interval"),
    ErrorKind("crosstalk", "force", "Other forces show up in a channel; root mean square",
              "N or N m", _RMS),
    ErrorKind("gain", "force", "Constant factor, more or less than one by this", "a number", "",
              below=1.0),
    ErrorKind("offset", "force", "Constant error, of either sign", "N or N m", _RMS),
    ErrorKind("drift", "force", "Slow waves, of twice the duration and of the duration; root mean "
              "square", "N or N m", _RMS),
    ErrorKind("random_walk", "force", "Error that walks away from zero at random; root mean "
              "square", "N or N m", _RMS),
    ErrorKind("hum", "force", "Amplitude of a sine wave of the mains", "N or N m", _RMS),
    ErrorKind("outliers", "force", "Share of samples with a large error", "a number", "",
              below=1.0),
    ErrorKind("clipping", "force", "Largest force that is measured", "N or N m",
              "the largest value of each force"),
    ErrorKind("quantisation", "force", "Step of the measured forces", "N or N m", _RMS),
    ErrorKind("eccentricity", "coordinate", "Measured angles are q + e sin(q + phase), e of this "
              "size; not of what slides", "rad", _MOTION),
    ErrorKind("position_quantisation", "coordinate", "Step of the measured positions", "m or rad",
              _MOTION),
)  # fmt: skip
