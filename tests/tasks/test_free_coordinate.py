"""A coordinate that nothing drives: its force is exactly zero, and no sign of a dead sensor."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

import mechid
from mechid.tables.files import write_table

MASS, ROD, CENTER, INERTIA, G = 4.0, 1.5, 0.4, 0.08, 9.80665
MODEL = f"""\
mechid: 1
name: cart
gravity: -z
units: {{length: m, mass: kg, angle: rad, force: N}}
bodies:
  cart: {{mass: {MASS}, inertia: {{xx: 0.1, yy: 0.1, zz: 0.1}}}}
  rod:
    mass: {ROD}
    center: {{ground: [0, 0, -{CENTER}]}}
    inertia: {{xx: {INERTIA}, yy: {INERTIA}, zz: 0.004}}
joints:
  s: {{type: prismatic, between: [ground, cart], at: [0, 0, 0], axis: x}}
  p: {{type: revolute, between: [cart, rod], at: [0, 0, 0], axis: y}}
coordinates:
  x: {{joint: s, force: F}}
  th: {{joint: p, force: M}}
"""


def test_a_pendulum_that_swings_freely_on_a_cart(tmp_path: Path) -> None:
    """Lagrange's equations, with θ about +y: the hanging rod moves by -c sin θ along x."""
    total, first, second = MASS + ROD, ROD * CENTER, INERTIA + ROD * CENTER**2

    def force(t: float) -> float:
        return float(6 * np.sin(3 * t) + 4 * np.sin(7 * t + 1))

    def acceleration(t: float, state: np.ndarray) -> np.ndarray:
        _, angle, _, rate = state
        c, s = np.cos(angle), np.sin(angle)
        M = np.array([[total, -first * c], [-first * c, second]])
        return np.linalg.solve(M, [force(t) - first * s * rate**2, -first * G * s])

    time = np.arange(400) / 100
    motion = solve_ivp(
        lambda t, z: [*z[2:], *acceleration(t, z)], (0, time[-1]), [0, 0.5, 0, 0],
        t_eval=time, rtol=1e-9, atol=1e-9,
    ).y  # fmt: skip
    ydd = np.array([acceleration(t, z) for t, z in zip(time, motion.T, strict=True)])
    noise = 0.05 * np.random.default_rng(0).standard_normal(len(time))
    model = tmp_path / "cart.yaml"
    model.write_text(MODEL)
    write_table(
        tmp_path / "log.csv",
        {
            "time": time,
            "x": motion[0], "x.d": motion[2], "x.dd": ydd[:, 0],
            "th": motion[1], "th.d": motion[3], "th.dd": ydd[:, 1],
            "F": np.array([force(t) for t in time]) + noise, "M": np.zeros(len(time)),
        },
    )  # fmt: skip
    run = mechid.identify(model, tmp_path / "log.csv", cad_error="20%", without="gains, offsets")
    assert run.estimate is not None
    assert not [word for word in run.warnings if "was not used" in word]
    found = dict(zip(run.estimate.parameters, run.estimate.values, strict=True))
    for name, value in (("m_1", total), ("mz_2", -first), ("Iyy_2", second)):
        np.testing.assert_allclose(found[name], value, rtol=0.005)
