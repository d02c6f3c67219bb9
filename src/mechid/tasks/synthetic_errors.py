"""The kinds of `mechid.options.error_kinds` at work: what a machine has, what its sensors do.

Sizes are in the units of the signals or relative to them; what is *drawn* is absolute, by channel,
so that another motion of the same machine has the same friction, geometry and springs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from mechid.dynamics.joint_friction import joint_sliding
from mechid.errors import DataError
from mechid.kinematics.motion import Motion
from mechid.kinematics.tables import Floats
from mechid.measurementfile.units import parse_unit
from mechid.mechanism.altered import movable_joints, with_joints_moved
from mechid.mechanism.records import Mechanism, force_unit
from mechid.mechanism.size import characteristic_size
from mechid.options import NoiseLevels, SynthesiseOptions
from mechid.options.error_kinds import ERROR_KINDS
from mechid.signals import errors
from mechid.signals.errors import Sensing, rms

Drawn: TypeAlias = dict[str, dict[str, Any]]
Step: TypeAlias = Callable[[Floats, Floats, Sensing], errors.Drawn]

# Resistance of a joint per unit of its coefficient: speed (N, k), v_s → (N, k).
FRICTION_LAWS: Mapping[str, Callable[[Floats, float], Floats]] = MappingProxyType(
    {
        "friction": lambda v, v_s: np.ones_like(v),
        "viscous_friction": lambda v, v_s: v,
        "stribeck": lambda v, v_s: np.exp(-((v / v_s) ** 2)) if v_s else np.zeros_like(v),
    }
)
# Signals on their way into the file: forces through line, sensor and recorder. The line has no
# samples yet; noise comes between sensor and recorder.
LINE: Mapping[str, Step] = MappingProxyType({"delay": errors.delay, "lowpass": errors.lowpass})
SENSOR: Mapping[str, Step] = MappingProxyType(
    {
        "crosstalk": errors.crosstalk,
        "gain": errors.gain,
        "offset": errors.offset,
        "drift": errors.drift,
        "random_walk": errors.random_walk,
        "hum": errors.hum,
    }
)
RECORDER: Mapping[str, Step] = MappingProxyType(
    {
        "outliers": errors.outliers,
        "clipping": errors.clipping,
        "quantisation": errors.quantisation,
    }
)
ENCODER: Mapping[str, Step] = MappingProxyType({"eccentricity": errors.eccentricity})
READER: Mapping[str, Step] = MappingProxyType({"position_quantisation": errors.quantisation})
# With these, speeds and accelerations are not those of the measured positions.
WITHOUT_RATES = (
    "positions_only", "position_noise", "position_quantisation", "eccentricity", "jitter",
)  # fmt: skip
_ALL = "log"  # what has the one size of errors of a log


def stream(seed: int, name: str) -> np.random.Generator:
    """Return the random numbers of one kind of error: no other kind takes any of them."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=tuple(name.encode())))


def sizes(levels: NoiseLevels, names: Sequence[str], whole: Floats | float) -> Floats:
    """Return the size of an error in each channel; shares are relative to `whole`."""
    found = [levels.of(name) for name in names]
    share = np.array([x.relative for x in found], dtype=bool)
    return np.array([x.value for x in found]) * np.where(share, whole, 1.0)


# ------------------------------------------------------------------------------- the machine


@dataclass(frozen=True)
class MachineErrors:
    """What a machine has and its model lacks.

    Attributes
    ----------
    options : SynthesiseOptions
    drawn : mapping kind → channel → value
        What is known from an earlier measurement of the same machine; it is not drawn again.
    """

    options: SynthesiseOptions
    drawn: Mapping[str, Mapping[str, Any]]

    def __post_init__(self) -> None:
        """Reject errors that are given twice."""
        for kind in ERROR_KINDS:
            if kind.machine and kind.name in self.drawn and getattr(self.options, kind.name):
                raise DataError(
                    f"{kind.name} is given, and the truth has its own",
                    remedy=f"leave {kind.name} out, or use another truth",
                )
        given = any(self.drawn.get(name) or getattr(self.options, name) for name in FRICTION_LAWS)
        if self.options.friction_fade and not given:
            raise DataError(
                "there is no friction that could fade",
                remedy=f"give {', '.join(FRICTION_LAWS)} besides friction_fade",
            )

    def has(self, name: str) -> bool:
        """Whether there is an error of this kind."""
        return name in self.drawn or bool(getattr(self.options, name))

    def mechanism(self, mechanism: Mechanism) -> tuple[Mechanism, Drawn]:
        """Return the mechanism with its joints where they are, and their displacements (m)."""
        if not self.has("hardpoints"):
            return mechanism, {}
        moved = self.drawn.get("hardpoints")
        if moved is None:
            names = movable_joints(mechanism)
            away = sizes(self.options.hardpoints, names, characteristic_size(mechanism))
            direction = stream(self.options.seed, "hardpoints").standard_normal((len(names), 3))
            direction /= np.linalg.norm(direction, axis=1)[:, None]
            vectors = (away[:, None] * direction).tolist()
            moved = {n: v for n, v in zip(names, vectors, strict=True) if any(v)}
        return with_joints_moved(mechanism, moved), {"hardpoints": dict(moved)}

    def forces(self, motion: Motion, rigid: Floats) -> tuple[Floats, Drawn]:
        """Return the forces (N, n_i) of a machine that has `rigid` forces without errors."""
        drawn: Drawn = {}
        tau = rigid + self._friction(motion, rms(rigid), drawn)
        if self.has("hysteresis"):
            forces = [c.force for c in motion.model.mechanism.coordinates]
            size = self._known("hysteresis", forces, rms(rigid))
            known = self.drawn.get("hysteresis_width")
            width = (
                self.options.hysteresis_width * np.std(motion.y, axis=0)
                if known is None
                else np.array([known[name] for name in forces])
            )
            tau = tau + errors.hysteresis(motion.y, size, width)
            drawn |= {"hysteresis": _by(forces, size), "hysteresis_width": _by(forces, width)}
        if self.has("load_friction"):
            forces = [c.force for c in motion.model.mechanism.coordinates]
            part = self._known("load_friction", forces, 1.0)
            tau = tau + part * np.abs(tau) * np.sign(motion.yd)
            drawn["load_friction"] = _by(forces, part)
        return tau, drawn

    def positions(
        self, motion: Motion, tau: Floats, at: tuple[Floats, Floats] | None = None
    ) -> tuple[Floats, Drawn]:
        """Return the coordinates as motors behind springs and in front of a play have them; drawn
        are compliance and play.

        `at` are coordinates and forces at the instants of sampling, if these are others.
        """
        names = [c.name for c in motion.model.mechanism.coordinates]
        y, force = (motion.y, tau) if at is None else at
        drawn: Drawn = {}
        if self.has("elasticity"):
            compliance = self._compliance(motion, tau, names)
            y = y + compliance * force
            drawn["elasticity"] = _by(names, compliance)
        if self.has("backlash"):
            play = self._known("backlash", names, np.std(motion.y, axis=0))
            y = y + play / 2 * np.sign(force)
            drawn["backlash"] = _by(names, play)
        return y, drawn

    def _compliance(self, motion: Motion, tau: Floats, names: Sequence[str]) -> Floats:
        if "elasticity" in self.drawn:
            return self._known("elasticity", names, 0.0)
        deflection = sizes(self.options.elasticity, names, np.std(motion.y, axis=0))
        force = rms(tau)
        return np.asarray(deflection / np.where(force > 0, force, np.inf))

    def _known(self, name: str, channels: Sequence[str], whole: Floats | float) -> Floats:
        if name in self.drawn:
            return np.array([self.drawn[name].get(c, 0.0) for c in channels])
        return sizes(getattr(self.options, name), channels, whole)

    def _friction(self, motion: Motion, scale: Floats, drawn: Drawn) -> Floats:
        """Return generalised forces of friction in joints; its coefficients go into `drawn`."""
        total = np.zeros_like(motion.y)
        fade = self._fade(motion)
        laws = {name: law for name, law in FRICTION_LAWS.items() if self.has(name)}
        known_speeds = self.drawn.get("stribeck_speed", {})
        for sliding in joint_sliding(motion) if laws else ():
            speed = float(np.sqrt(np.mean(sliding.speeds**2)))
            v_s = known_speeds.get(sliding.joint, self.options.stribeck_speed * speed)
            for name, law in laws.items():
                forces = sliding.forces(law(sliding.speeds, v_s))
                if name in self.drawn:
                    coefficient = float(self.drawn[name].get(sliding.joint, 0.0))
                else:
                    level = getattr(self.options, name).of(sliding.joint)
                    most = float(np.max(rms(forces) / np.where(scale > 0, scale, np.inf)))
                    # A size is that at the usual speed: matters to a law that grows with it.
                    usual = most if level.relative else speed if name == "viscous_friction" else 1.0
                    coefficient = level.value / usual if usual else 0.0
                total += coefficient * fade * forces
                drawn.setdefault(name, {})[sliding.joint] = coefficient
            if "stribeck" in laws:
                drawn.setdefault("stribeck_speed", {})[sliding.joint] = v_s
        return total

    def _fade(self, motion: Motion) -> Floats | float:
        """Return friction over its mean, (N, 1)."""
        share, time = self.options.friction_fade, motion.time
        if not share or time is None or len(time) < 2:
            return 1.0
        passed = (time - time[0]) / (time[-1] - time[0])
        return np.asarray((1 - share * passed) / (1 - share / 2))[:, None]


# ------------------------------------------------------------------------------- its sensors


@dataclass(frozen=True, eq=False)
class Channels:
    """Signals without errors, to which sizes in percent are relative.

    Attributes
    ----------
    names : tuple of str
    time : array (N,)
        s.
    size : array (n,)
        Root mean square of forces, standard deviation of coordinates.
    largest : array (n,)
        Largest absolute value.
    """

    names: tuple[str, ...]
    time: Floats
    size: Floats
    largest: Floats

    @staticmethod
    def of_forces(mechanism: Mechanism, time: Floats, tau: Floats) -> Channels:
        """Return the channels of forces (N, n_i)."""
        names = tuple(c.force for c in mechanism.coordinates)
        return Channels(names, time, rms(tau), np.max(np.abs(tau), axis=0, initial=0.0))

    @staticmethod
    def of_coordinates(mechanism: Mechanism, time: Floats, y: Floats) -> Channels:
        """Return the channels of coordinates (N, n_i)."""
        names = tuple(c.name for c in mechanism.coordinates)
        return Channels(names, time, np.std(y, axis=0), np.max(np.abs(y), axis=0, initial=0.0))

    def sizes(self, name: str, levels: NoiseLevels) -> Floats:
        """Return the sizes of an error of a kind, (n,)."""
        step = _step(self.time)
        wholes: dict[str, Floats | float]
        wholes = {"delay": step, "gain": 1.0, "outliers": 1.0, "clipping": self.largest}
        wholes["lowpass"] = 1 / step if step else 0.0
        return sizes(levels, self.names, wholes.get(name, self.size))

    def sensing(self, options: SynthesiseOptions, name: str) -> Sensing:
        """Return what an error of a kind needs."""
        rng = stream(options.seed, name)
        return Sensing(self.time, self.size, rng, options.hum_frequency, options.outlier_size)


def sensed(
    x: Floats, channels: Channels, options: SynthesiseOptions, steps: Mapping[str, Step]
) -> tuple[Floats, Drawn]:
    """Return signals (N, n) after some steps of their way into the file, and what was drawn."""
    found: Drawn = {}
    for name, step in steps.items():
        if levels := getattr(options, name):
            x, drawn = step(x, channels.sizes(name, levels), channels.sensing(options, name))
            found[name] = _by(channels.names, drawn)
    return x, found


@dataclass(frozen=True, eq=False)
class ForcePath:
    """Forces with samples in between.

    Attributes
    ----------
    time : array (M,)
        s.
    tau : array (M, n)
    dense : bool
        Whether there are samples in between indeed.
    """

    time: Floats
    tau: Floats
    dense: bool = True

    def sensing(self) -> Sensing:
        """Return what errors of these signals need; nothing of them is drawn."""
        return Sensing(self.time, rms(self.tau), np.random.default_rng(0), dense=self.dense)

    def at(self, instants: Floats) -> Floats:
        """Return forces at instants (N,), as they are where they have a sample."""
        place = np.minimum(np.searchsorted(self.time, instants), len(self.time) - 1)
        if np.array_equal(self.time[place], instants):
            return self.tau[place]
        return errors.sampled(self.tau, instants, self.sensing())


def transmitted(
    x: Floats, channels: Channels, options: SynthesiseOptions, path: ForcePath, instants: Floats
) -> tuple[Floats, Drawn]:
    """Return what arrives of forces (N, n) at some instants behind the line, and what was drawn.

    Forces are read off the path: they may vary faster than their samples show.
    """
    found: Drawn = {}
    for name, step in LINE.items():
        if levels := getattr(options, name):
            size = channels.sizes(name, levels)
            late, drawn = step(path.tau, size, path.sensing())
            path = replace(path, tau=late)
            found[name] = _by(channels.names, drawn)
    return (x if not found and instants is channels.time else path.at(instants)), found


def of_encoders(mechanism: Mechanism, options: SynthesiseOptions) -> SynthesiseOptions:
    """Return options in which only angles have the error of encoders that turn."""
    levels = options.eccentricity
    angles = {c.name: levels.of(c.name) for c in mechanism.coordinates if c.unit != "m"}
    return replace(options, eccentricity=NoiseLevels(channels=angles) if levels else levels)


def sampling(time: Floats, options: SynthesiseOptions) -> tuple[Floats, Drawn]:
    """Return the instants (N,) of samples whose record says time, and what was drawn.

    Raises
    ------
    DataError
        If samples would often follow each other in another order than recorded.
    """
    step = _step(time)
    (size,) = sizes(options.jitter, [_ALL], step).tolist()
    if not size or not step:
        return time, {}
    if size >= step:
        raise DataError(
            f"jitter must be less than the sampling interval, {step:g} s, got {size:g} s"
        )
    return errors.jittered(time, size, stream(options.seed, "jitter")), {"jitter": {_ALL: size}}


def unit_factors(mechanism: Mechanism, units: Mapping[str, str]) -> tuple[Floats, Floats]:
    """Return the factors by which coordinates and forces are too large for their units.

    Raises
    ------
    DataError
        For a channel that does not exist, or a unit of something else.
    """
    proper = {c.name: c.unit for c in mechanism.coordinates}
    proper |= {c.force: force_unit(c) for c in mechanism.coordinates}
    factor = dict.fromkeys(proper, 1.0)
    for name, text in units.items():
        if name not in proper:
            raise DataError(
                f"there is no channel {name}",
                where=f"units {name}={text}",
                remedy=f"choose one of: {', '.join(proper)}",
            )
        unit = parse_unit(text)
        if unit.dimension != parse_unit(proper[name]).dimension:
            raise DataError(
                f"{name} is not measured in {text}",
                where=f"units {name}={text}",
                remedy=f"give a unit of the same quantity as {proper[name]}",
            )
        factor[name] = 1 / unit.size
    coordinates = np.array([factor[c.name] for c in mechanism.coordinates])
    return coordinates, np.array([factor[c.force] for c in mechanism.coordinates])


def _step(time: Floats) -> float:
    return float(np.median(np.diff(time))) if len(time) > 1 else 0.0


def _by(names: Sequence[str], values: Floats) -> dict[str, float]:
    return dict(zip(names, values.tolist(), strict=True))
