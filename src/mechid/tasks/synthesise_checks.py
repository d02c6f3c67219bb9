"""Options of synthetic measurements that make no sense for a mechanism."""

from __future__ import annotations

import numpy as np

from mechid.dynamics.joint_friction import sliding_joints
from mechid.errors import DataError
from mechid.mechanism.altered import movable_joints
from mechid.mechanism.records import Mechanism
from mechid.options import SynthesiseOptions
from mechid.options.error_kinds import ERROR_KINDS


def check_options(mechanism: Mechanism, options: SynthesiseOptions) -> None:
    """Reject sizes that are out of range, channels that do not exist, and contradictions.

    Raises
    ------
    DataError
    """
    _check_sizes(mechanism, options)
    _check_noise(options)
    _check_encoders(mechanism, options)
    if len(mechanism.coordinates) < 2 and options.crosstalk:
        raise DataError("crosstalk needs two forces or more", where=mechanism.name)
    if not 0 <= options.friction_fade <= 1:
        raise DataError(f"friction_fade must be between 0 and 1, got {options.friction_fade:g}")
    if not 0 <= options.cad_error < 1:
        raise DataError(f"cad_error must be between 0 and 1, got {options.cad_error:g}")


def _check_sizes(mechanism: Mechanism, options: SynthesiseOptions) -> None:
    names = {
        "force": [c.force for c in mechanism.coordinates],
        "coordinate": [c.name for c in mechanism.coordinates],
        "joint": sliding_joints(mechanism),
        "hardpoint": movable_joints(mechanism),
    }
    names["log"] = []
    rows = [("noise", "force", np.inf), ("position_noise", "coordinate", np.inf)]
    for name, of, below in rows + [(k.name, k.of, k.below) for k in ERROR_KINDS]:
        levels = getattr(options, name)
        known = names["hardpoint" if name == "hardpoints" else of]
        for key, level in {"": levels.every, **levels.channels}.items():
            if not 0 <= level.value < below:
                wanted = "≥ 0" if np.isinf(below) else f"between 0 and {below:g}"
                where = f" of {key}" if key else ""
                raise DataError(f"{name}{where} must be {wanted}, got {level.value:g}")
            if key and of == "log":
                raise DataError(
                    f"{name} is the same for all channels, got one of {key}",
                    remedy=f"give one size of {name}",
                )
            if key and key not in known:
                kind = f" for {name}" if of == "joint" else ""
                raise DataError(
                    f"there is no {of} {key}{kind}",
                    where=mechanism.name,
                    remedy=f"choose one of: {', '.join(known)}",
                )


def _check_encoders(mechanism: Mechanism, options: SynthesiseOptions) -> None:
    """Reject eccentricity of what slides."""
    sliding = [c.name for c in mechanism.coordinates if c.unit == "m"]
    angles = [c.name for c in mechanism.coordinates if c.name not in sliding]
    named = [name for name in options.eccentricity.channels if name in sliding]
    if named or (options.eccentricity and not angles):
        raise DataError(
            f"{(named or sliding)[0]} slides: only angles have eccentricity",
            where=mechanism.name,
            remedy=f"choose one of: {', '.join(angles)}" if angles else "leave eccentricity out",
        )


def _check_noise(options: SynthesiseOptions) -> None:
    if options.noise_kind in ("proportional", "gain"):
        for key, level in options.noise.channels.items():
            if not level.relative:
                raise DataError(
                    f"the {options.noise_kind} noise of {key} is absolute",
                    remedy="give it in percent of the force",
                )
    usual = SynthesiseOptions()
    memory = options.time_constant is not None or options.correlation != usual.correlation
    if memory and options.noise_kind != "coloured":
        raise DataError(
            "correlation and time_constant belong to coloured noise",
            remedy="choose the noise kind coloured",
        )
    if not -1 < options.correlation < 1:
        raise DataError(f"correlation must be between -1 and 1, got {options.correlation:g}")
    if options.time_constant is not None:
        if not 0 < options.time_constant < np.inf:
            raise DataError(f"time_constant must be > 0, got {options.time_constant:g} s")
        if options.correlation != usual.correlation:
            raise DataError("correlation and time_constant exclude each other", remedy="give one")
