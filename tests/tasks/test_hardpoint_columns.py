"""Columns of hardpoints, against mechanisms whose joints are elsewhere."""

from __future__ import annotations

import numpy as np

import mechid
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.parameters import parameter_values
from mechid.kinematics.motion import solve_motion
from mechid.mechanism.altered import with_joints_moved
from mechid.tables.motion import MotionTable
from mechid.tasks.hardpoint_columns import hardpoint_columns


def test_first_order_of_moved_joints() -> None:
    mechanism = mechid.load("sla_suspension")
    tour = mechid.tour(mechanism)
    at = slice(0, 60, 6)
    time = np.arange(10) / 10
    table = MotionTable(time, tour.y[at], tour.yd[at], tour.ydd[at])
    phi = parameter_values(dynamic_model(mechanism))
    joints = ("G_r", "H_l")
    found = hardpoint_columns(mechanism, table, joints)
    assert found.names[:2] == ("hardpoint G_r.x", "hardpoint G_r.y")

    def forces(h: np.ndarray) -> np.ndarray:
        by = {name: h[3 * k : 3 * k + 3].tolist() for k, name in enumerate(joints)}
        moved = with_joints_moved(mechanism, by)
        motion = solve_motion(moved, table.y, table.yd, table.ydd, time=table.time)
        return inverse_dynamics(motion, phi).tau

    rng = np.random.default_rng(0)
    h = rng.normal(size=6)
    start, G = forces(np.zeros(6)), found.columns(phi)
    off = []
    for size in (1e-4, 2e-4):
        change = forces(size * h) - start
        off.append(np.linalg.norm(change - size * G @ h))
        assert off[-1] < 1e-2 * np.linalg.norm(change)
    # What is left is of second order.
    assert 3.0 < off[1] / off[0] < 5.0
