"""The four-bar linkage and the 3-RRR robot of the source, by every formulation."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from report import table

from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.loads import table_forces
from mechid.dynamics.simulate import FORMULATIONS, Simulation, SimulationError, simulate
from mechid.dynamics.trajectory import simulated_motion
from mechid.kinematics.joints import joint_motion
from mechid.kinematics.motion import solve_motion
from mechid.kinematics.tables import Floats
from mechid.modelfile import load
from mechid.plots import Panel

# What the source integrates with: an NDF code of order 1 to 5 (SciPy's BDF uses these formulas as
# well), relative tolerance 1e-3; the absolute one is that code's default. No stabilisation.
AS_PUBLISHED = {"integrator": "BDF", "rtol": 1e-3, "atol": 1e-6, "stabilise": "none"}
ACCURATE = {"integrator": "DOP853", "rtol": 1e-9, "atol": 1e-11}
PEERS = ("gibbs-appell", "explicit-gibbs-appell")  # the two methods of the source


@dataclass(frozen=True)
class Case:
    """An example of the source: model, duration (s), published (evaluations, seconds) by method.

    `engines` are q1 at 1, 2, 3 and 4 s by two other engines.
    """

    title: str
    model: str
    end: float
    published: dict[str, tuple[int, float]]
    engines: tuple[float, ...] = ()
    forces: object = None


CASES = (
    Case(
        "I",
        "four_bar@example-1",
        4.0,
        {"gibbs-appell": (53, 1.272), "explicit-gibbs-appell": (51, 1.382)},
        (0.884094348, 1.162501991, 1.590886006, 2.167943075),
    ),
    Case(
        "II",
        "four_bar@example-2",
        30.0,
        {"gibbs-appell": (665, 23.1), "explicit-gibbs-appell": (656, 26.8)},
        (-1.334765597, -4.045094565, -1.066312311, 0.772350138),
    ),
    Case(
        "III",
        "four_bar@example-3",
        3.0,
        {"gibbs-appell": (85, 2.64), "explicit-gibbs-appell": (85, 2.92)},
    ),
    Case(
        "IV",
        "planar_3rrr@example-4",
        6.0,
        {"gibbs-appell": (53, 4.126), "explicit-gibbs-appell": (53, 4.006)},
        (1.101891515, 1.248428562, 1.459513252, 1.733233749),
    ),
)


def with_torque(case: Case) -> Case:
    """Give example III its torque law: inverse dynamics of 1 rad/s, a table of 1000 samples/s."""
    if case.title != "III":
        return case
    t = np.linspace(0.0, case.end, 3001)
    y = (0.785 + t)[:, None]
    found = inverse_dynamics(solve_motion(load(case.model), y, np.ones_like(y), time=t))
    return replace(case, forces=table_forces(t, found.tau, "cubic"))


def run(case: Case, formulation: str, rate: float = 100.0, **options: object) -> Simulation:
    """Simulate an example at the given rate of samples; what stops early is returned as it is."""
    times = np.linspace(0.0, case.end, round(rate * case.end) + 1)
    try:
        return simulate(
            load(case.model), times, formulation=formulation, forces=case.forces, **options
        )
    except SimulationError as error:
        return error.partial


def metres(s: Simulation) -> float:
    """Return the largest constraint error, m."""
    return float(s.constraint_error.max()) * s.model.kinematics.size


def as_published(cases: tuple[Case, ...]) -> str:
    """Return the table of runs with the settings of the source, beside its figures."""
    rows = []
    for case in cases:
        for name in PEERS:
            run(case, name, **AS_PUBLISHED)  # first use
            s = run(case, name, **AS_PUBLISHED)
            count, seconds = case.published[name]
            rows.append(
                (case.title, name, count, s.evaluations, seconds, f"{s.seconds:.3f}",
                 f"{metres(s):.0e}", "" if s.time[-1] == case.end else f"{s.time[-1]:.1f}")
            )  # fmt: skip
    return table(
        ("example", "formulation", "evaluations, published", "here", "seconds, published", "here",
         "constraint error here, m", "stopped at, s"),
        rows,
        words=2,
    )  # fmt: skip


def accurate(cases: tuple[Case, ...]) -> tuple[str, dict[str, Simulation]]:
    """Return the table of accurate runs by every formulation, and those by the first one."""
    rows, kept = [], {}
    for case in cases:
        for name in FORMULATIONS:
            s = run(case, name, **ACCURATE)
            kept.setdefault(case.title, s)
            rows.append(
                (case.title, name, s.evaluations, f"{s.seconds:.2f}", f"{metres(s):.0e}",
                 f"{relative_energy(s):.0e}", off(case, s))
            )  # fmt: skip
    head = ("example", "formulation", "evaluations", "seconds", "constraint error, m",
            "energy error / range", "largest difference of q1, rad")  # fmt: skip
    return table(head, rows, words=2), kept


def relative_energy(s: Simulation) -> float:
    """Return the largest energy error relative to the range of the energies."""
    parts = (s.kinetic, s.potential, s.work)
    return float(np.abs(s.energy_error).max() / max(np.ptp(part) for part in parts))


def off(case: Case, s: Simulation) -> str:
    """Compare q1 with other engines at 1 to 4 s, or with the straight line of example III."""
    if case.engines:
        places = np.searchsorted(s.time, np.arange(1.0, 5.0) - 1e-9)
        return f"{np.abs(s.y[places, 0] - case.engines).max():.0e}"
    return f"{np.abs(s.y[:, 0] - 0.785 - s.time).max():.0e} (from the line)"


def bars(s: Simulation, title: str) -> list[Panel]:
    """Return the angles of the bars over time."""
    motion = simulated_motion(s)
    angles = {name: joint_motion(motion, name).coordinates[:, 0] for name in ("q1", "q2", "q3")}
    return [Panel("angle / rad", s.time, angles, title=title)]


def example_1(s: Simulation) -> list[Panel]:
    """Return angles and energies of example I."""
    energies = {"kinetic": s.kinetic, "work of the moment": s.work}
    return [
        *bars(s, "example I: constant moment of 0.5 N m on bar 1"),
        Panel("energy / J", s.time, energies, dashed=("work of the moment",)),
    ]


def example_2(case: Case, s: Simulation) -> list[Panel]:
    """Return q1 over 30 s, accurate and with the settings of the source, and energy errors."""
    loose = run(case, "gibbs-appell", rate=20.0, **AS_PUBLISHED)
    held = run(case, "independent", rate=20.0, **(AS_PUBLISHED | {"stabilise": None}))
    thin = slice(None, None, 5)
    span = float(np.ptp(s.kinetic))
    time = loose.time if len(loose.time) > len(held.time) else held.time
    curves = {
        "gibbs-appell, 1e-3": _until(time, loose, loose.y[:, 0]),
        "independent, 1e-3": _until(time, held, held.y[:, 0]),
        "independent, 1e-9": np.interp(time, s.time, s.y[:, 0]),
    }
    errors = {
        "gibbs-appell, 1e-3": _until(time, loose, np.abs(loose.energy_error) / span),
        "independent, 1e-3": _until(time, held, np.abs(held.energy_error) / span),
        "independent, 1e-9": np.abs(s.energy_error[thin])[: len(time)] / span,
    }
    return [
        Panel("q1 / rad", time, curves, title="example II: weight only, 30 s"),
        Panel("energy error / range", time, errors, log=True),
    ]


def example_3(case: Case, s: Simulation) -> list[Panel]:
    """Return the torque law and how far q1 leaves the line."""
    away = {"": np.abs(s.y[:, 0] - 0.785 - s.time)}
    return [
        Panel("M_1 / N m", s.time, {"M_1": s.tau[:, 0]},
              title="example III: the moment that turns bar 1 at 1 rad/s, fed back"),
        Panel("q1 / rad", s.time, {"q1": s.y[:, 0]}),
        Panel("q1 off the line / rad", s.time, away, log=True),
    ]  # fmt: skip


def example_4(s: Simulation) -> list[Panel]:
    """Return the driven angles of the 3-RRR robot."""
    angles = {c.name: s.y[:, i] for i, c in enumerate(s.model.mechanism.coordinates)}
    return [Panel("angle / rad", s.time, angles, title="example IV: torques 0.1, 0.1, -0.1 N m")]


def _until(time: Floats, s: Simulation, values: Floats) -> Floats:
    """Fill with nan what a simulation that stopped early does not have."""
    out = np.full(len(time), np.nan)
    out[: len(values)] = values
    return out
