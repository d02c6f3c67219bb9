"""What noise of positions does: to speeds and accelerations, and through W to forces.

Every way to derive is linear, so the standard deviation of what comes out is the standard deviation
of what goes in times the norm of the response to one sample.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from mechid.dynamics.inverse import inverse_dynamics
from mechid.kinematics.motion import Motion, solve_motion
from mechid.kinematics.tables import Floats
from mechid.signals.record import Noise

Derive: TypeAlias = Callable[[Floats], tuple[Floats, Floats, Floats]]
MATTERS = 0.1  # standard deviation over root mean square: least squares then lose its square, 1 %


def amplification(derive: Derive, n: int) -> tuple[float, float, float]:
    """Return the standard deviations of values, first and second derivatives from white noise of
    one.

    `derive` takes samples (n, 1).
    """
    impulse = np.zeros((n, 1))
    impulse[n // 2] = 1.0
    first, second, third = (float(np.linalg.norm(x)) for x in derive(impulse))
    return first, second, third


def noise_warnings(
    names: tuple[str, ...], sigma_yd: Floats, sigma_ydd: Floats, yd: Floats, ydd: Floats
) -> list[str]:
    """Return where standard deviations (n_i,) are large compared with the rates (N, n_i)."""
    out = []
    for what, deviation, values in (("speed", sigma_yd, yd), ("acceleration", sigma_ydd, ydd)):
        size = np.sqrt(np.mean(values**2, axis=0))
        for name, part in zip(names, deviation / np.where(size > 0, size, np.inf), strict=True):
            if part > MATTERS:
                lost = min(part**2, 1.0)  # noise counts in what it is compared with
                out.append(
                    f"noise is {part:.0%} of the {what} of {name}: least squares "
                    f"underestimates the related parameters by {lost:.0%}; filter more, or "
                    "use instrumental variables"
                )
    return out


def force_errors(motion: Motion, noise: Noise | None, seed: int = 0) -> Floats | None:
    """Return the root mean square of the force errors that position noise causes, (n_i,).

    With the CAD values: the forces of a prepared motion, and of that motion with the noise that
    its filter leaves. None if nothing is known of the noise.

    Raises
    ------
    ModelError
        If a body has no CAD values.
    """
    if noise is None or not np.isfinite([*noise.yd, *noise.ydd]).all():
        return None
    rng = np.random.default_rng(seed)
    # Position noise itself hardly counts beside its derivatives, and would only roughen the path.
    noisy = solve_motion(
        motion.model,
        motion.y,
        motion.yd + noise.yd * rng.standard_normal(motion.y.shape),
        motion.ydd + noise.ydd * rng.standard_normal(motion.y.shape),
        time=motion.time,
    )
    apart = inverse_dynamics(noisy).tau - inverse_dynamics(motion).tau
    return np.asarray(np.sqrt(np.mean(apart**2, axis=0)))
