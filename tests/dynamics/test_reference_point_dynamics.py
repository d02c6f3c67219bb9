"""Reference-point dynamics: against the fast formulation, closed forms, balances of each body."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.integrate import solve_ivp

from mechid.dynamics import reference_point as rp
from mechid.dynamics.reference_point.body_matrix import Speeds
from mechid.dynamics.reference_point.eliminate import Method
from mechid.dynamics.regressor import Observation, observation_matrix
from mechid.errors import DataError, ModelError, SingularPoseError
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import Motion, solve_motion
from mechid.kinematics.reference_point import assemble, jacobian
from mechid.mechanism.records import GROUND, Mechanism, PointCoordinate
from mechid.modelfile import build, load
from mechid.modelfile.zoo import zoo
from mechid.spatial import inertia
from mechid.spatial.rotations import skew

Array = npt.NDArray[np.float64]
METHODS: tuple[Method, ...] = ("partition", "svd", "qr", "gauss")
ZOO = [
    f"{entry.name}@{variant}" if variant else entry.name
    for entry in zoo()
    for variant in ("", *(name for name, _ in entry.variants))
]
FEW = ["bricard", "spatial_slider_crank@two-balls", "sla_suspension", "screw_press@motor"]


@cache
def samples(name: str, n: int = 3) -> tuple[Motion, rp.ReferenceModel, list[rp.State]]:
    """Random states near home, solved by each formulation for itself."""
    mechanism = load(name)
    return solved(mechanism, n)


def solved(mechanism: Mechanism, n: int = 3) -> tuple[Motion, rp.ReferenceModel, list[rp.State]]:
    rng = np.random.default_rng(5)
    tree = kinematic_model(mechanism)
    reach = [0.015 * tree.size if c.unit == "m" else 0.05 for c in mechanism.coordinates]
    y = tree.home_y + reach * rng.uniform(-1, 1, (n, len(reach)))
    yd, ydd = rng.standard_normal((2, *y.shape))
    motion = solve_motion(tree, y, yd, 5 * ydd, ordered=False)
    model = rp.reference_model(mechanism)
    states = rp.solve_states(model, motion.y, motion.yd, motion.ydd, ordered=False)
    return motion, model, states


def blocks(A: Array) -> Array:
    """Sizes of the forces (or velocities) and of the moments (or rates) in rows of twists."""
    parts = A.reshape(-1, 2, 3, A.shape[1])
    return np.asarray(np.linalg.norm(parts, axis=(0, 2)))


def assert_same(fast: Observation, k: int, R: Array, H: Array, known: Array) -> None:
    """W = Rᵀ H of both formulations, to rounding.

    An entry is a sum of velocity times force and rate times moment over the bodies; its rounding
    is relative to the sizes of these, not to what is left of the sum: many columns vanish exactly.
    1e-11 leaves a factor of 1e4 for the condition of the closure. Velocities that vanish exactly,
    of an origin on a fixed axis, are rounding of the largest rate.
    """
    scale = (blocks(R).T @ blocks(H)).max(axis=0)
    rounding = np.finfo(float).eps * np.abs(R).max() * np.abs(H).sum(axis=0)
    assert np.all(np.abs(R.T @ H - fast.W[k]) <= 1e-11 * scale + rounding)
    # What is known need not act on a coordinate at all: then its rounding is that of the others.
    scale = (blocks(R).T @ blocks(known[:, None])).max()
    assert np.all(np.abs(R.T @ known - fast.known[k])[:, None] <= 1e-11 * scale)


@pytest.mark.parametrize("name", ZOO)
class TestZoo:
    def test_four_eliminations_agree_with_the_tree(self, name: str) -> None:
        motion, model, states = samples(name)
        fast = observation_matrix(motion)
        assert fast.columns == model.columns
        for k, state in enumerate(states):
            H, known = rp.unprojected(model, state)
            for method in METHODS:
                R = rp.admissible_motions(model, state.q, method)
                assert_same(fast, k, R, H, known)

    def test_speeds_of_the_bodies_are_R_times_the_declared(self, name: str) -> None:
        motion, model, states = samples(name)
        for k, state in enumerate(states):
            R = rp.admissible_motions(model, state.q)
            assert R @ motion.yd[k] == pytest.approx(state.twist, abs=1e-9)
            D = jacobian(model.system.drivers, state.q)
            R7 = rp.admissible_motions(model, state.q, speeds="euler")
            assert pytest.approx(np.eye(model.n_independent), abs=1e-10) == D @ R7
            left = jacobian(model.system.closure, state.q) @ R7
            assert np.abs(left).max(initial=0) < 1e-9 * max(1, np.abs(R7).max(initial=0))

    def test_mass_matrix_is_the_regressor_with_numbers(self, name: str) -> None:
        _, model, states = samples(name)
        rng = np.random.default_rng(1)
        phi = rng.standard_normal(len(model.columns))
        for state in states:
            M, h = rp.mass_and_bias(model, phi, state.q, state.qd, state.near)
            H, known = rp.unprojected(model, state, "euler")
            scale = np.abs(M) @ np.abs(state.qdd) + np.abs(h) + np.abs(H) @ np.abs(phi)
            assert np.abs(M @ state.qdd + h - H @ phi - known).max() < 1e-12 * scale.max()
            assert pytest.approx(M.T) == M

    def test_forces_give_back_the_accelerations(self, name: str) -> None:
        _, model, states = samples(name)
        phi = numbers(model)
        for state in states:
            tau, multipliers = rp.inverse_dynamics(model, state, phi)
            found = rp.accelerations(model, state.q, state.qd, tau, phi=phi, near=state.near)
            scale = max(1.0, float(np.abs(state.qdd).max()))
            assert np.abs(found.qdd - state.qdd).max() < 1e-8 * scale
            system = rp.augmented(model, state.q, state.qd, tau, phi=phi, near=state.near)
            left = system.M @ found.qdd - system.C.T @ found.multipliers - system.force
            assert np.abs(left).max() < 1e-9 * np.abs(system.force).max()
            scale = max(float(np.abs(multipliers).max(initial=0)), 1e-9)
            assert np.abs(found.multipliers - multipliers).max(initial=0) < 1e-7 * scale

    def test_every_body_is_in_balance(self, name: str) -> None:
        """Newton and Euler for each body, from the reactions of its joints and their opposites."""
        _, model, states = samples(name)
        phi = numbers(model)
        state = states[0]
        tau, multipliers = rp.inverse_dynamics(model, state, phi)
        reactions = rp.joint_reactions(model, state.q, multipliers)
        H, known = rp.unprojected(model, state)
        twist_of = rp.speed_map(state.q, "euler")
        to_q = np.asarray(np.linalg.pinv(twist_of), dtype=float)
        actuators = to_q.T @ (jacobian(model.system.drivers, state.q).T @ tau)
        gauges = gauge_forces(model, state, multipliers, to_q)
        left = (H @ phi + known - actuators - gauges).reshape(-1, 6)
        scale = np.abs(left).max()
        bodies = model.mechanism.bodies
        place = {b.name: state.q[7 * i : 7 * i + 3] for i, b in enumerate(bodies)}
        turn = {b.name: state.rotation[i] for i, b in enumerate(bodies)}
        place[GROUND], turn[GROUND] = np.zeros(3), np.eye(3)
        for joint, f, n in zip(
            model.mechanism.joints, reactions.force, reactions.moment, strict=True
        ):
            at = place[joint.body_b] + turn[joint.body_b] @ np.array(joint.frame_b.origin)
            for body, sign in ((joint.body_a, -1), (joint.body_b, 1)):
                if body != GROUND:
                    i = model.elements.numbers[body]
                    left[i, :3] -= sign * f
                    left[i, 3:] -= sign * (n + np.cross(at - place[body], f))
            scale = max(scale, np.abs(f).max(), np.abs(n).max())
        assert np.abs(left).max() < 1e-9 * scale


def numbers(model: rp.ReferenceModel) -> Array:
    """CAD values, and something for coefficients that have none."""
    return np.array([0.1 if c.value is None else c.value for c in model.columns])


def gauge_forces(
    model: rp.ReferenceModel, state: rp.State, multipliers: Array, to_q: Array
) -> Array:
    # Rows that are no part of joint reactions: spins that are held, rods; couplings are.
    rows = [
        i
        for i, row in enumerate(model.constraints.rows)
        if not row.joint and row.form != "coupling"
    ]
    C = jacobian(model.constraints, state.q) @ to_q
    return np.asarray(C[rows].T @ multipliers[rows])


def test_observation_of_a_motion() -> None:
    motion, model, _ = samples("spatial_slider_crank@two-balls")
    fast = observation_matrix(motion)
    again = rp.observation_matrix_reference(model.mechanism, motion)
    assert again.W.shape == fast.W.shape
    assert again.columns == fast.columns
    assert np.abs(again.W - fast.W).max() < 1e-11 * np.abs(fast.W).max()
    plain = rp.observation_matrix_reference(model, (motion.y, motion.yd, motion.ydd), "qr")
    assert np.abs(plain.W - fast.W).max() < 1e-11 * np.abs(fast.W).max()
    assert np.abs(plain.known - fast.known).max() < 1e-11


@pytest.mark.parametrize("name", FEW)
class TestFew:
    @pytest.mark.parametrize("speeds", ["euler", "rpy"])
    def test_other_speeds_give_the_same_matrix(self, name: str, speeds: Speeds) -> None:
        _, model, states = samples(name)
        for state in states:
            W, known = rp.observe(model, state)
            H, k = rp.unprojected(model, state, speeds)
            R = rp.admissible_motions(model, state.q, speeds=speeds)
            assert pytest.approx(W, abs=1e-10 * np.abs(W).max()) == R.T @ H
            assert R.T @ k == pytest.approx(known, abs=1e-10 * max(1, np.abs(k).max()))

    @pytest.mark.parametrize("method", METHODS)
    def test_own_basis(self, name: str, method: Method) -> None:
        """Own forces are (D Z)ᵀ τ, and own speeds (D Z)⁻¹ ẏ: the power is the same."""
        motion, model, states = samples(name)
        for k, state in enumerate(states):
            W, _ = rp.observe(model, state)
            own, _ = rp.observe(model, state, method, own_basis=True)
            Z = rp.admissible_motions(model, state.q, method, own_basis=True, speeds="euler")
            DZ = jacobian(model.system.drivers, state.q) @ Z
            assert own == pytest.approx(DZ.T @ W, abs=1e-10 * np.abs(own).max())
            speed = np.linalg.solve(DZ, motion.yd[k])
            power = speed @ own
            assert power == pytest.approx(motion.yd[k] @ W, abs=1e-10 * np.abs(power).max())
        if method in ("svd", "qr"):
            C = rp.admissible_motions(model, states[0].q, method, own_basis=True)
            assert C.shape == (6 * model.n_bodies, model.n_independent)

    def test_lstsq_of_the_augmented_matrix_agrees(self, name: str) -> None:
        """The textbook way: shortest solution of the whole system, in dimensionless form."""
        _, model, states = samples(name)
        phi = numbers(model)
        state = states[0]
        tau, _ = rp.inverse_dynamics(model, state, phi)
        a = rp.augmented(model, state.q, state.qd, tau, phi=phi, near=state.near)
        unit = np.abs(a.M).max()  # keeps forces and accelerations comparable
        s = np.concatenate(
            [model.system.q_scale, unit * model.system.closure.scale(model.system.size)]
        )
        K = s[:, None] * a.matrix * s / unit
        x = np.linalg.lstsq(K, s * np.concatenate([a.force, a.right]) / unit, rcond=1e-13)[0] * s
        found = rp.accelerations(model, state.q, state.qd, tau, phi=phi, near=state.near)
        n = len(state.q)
        assert np.abs(x[:n] - found.qdd).max() < 1e-6 * np.abs(found.qdd).max()
        force = a.C.T @ found.multipliers
        assert np.abs(-a.C.T @ x[n:] - force).max() < 1e-6 * np.abs(force).max()

    def test_power_is_the_rate_of_energy(self, name: str) -> None:
        """τ ẏ of the inertial columns against kinetic and potential energy, differenced."""
        motion, model, _ = samples(name)
        y0, yd, ydd = motion.y[0], motion.yd[0], motion.ydd[0]
        h = 1e-3
        times = h * np.arange(-2.0, 3.0)[:, None]
        y = y0 + yd * times + ydd * times**2 / 2
        states = rp.solve_states(model, y, yd + ydd * times, np.tile(ydd, (5, 1)))
        phi = np.zeros(len(model.columns))
        n = 10 * model.n_bodies
        phi[:n] = numbers(model)[:n]
        energy = [energy_of(model, s, phi) for s in states]
        rate = (energy[0] - 8 * energy[1] + 8 * energy[3] - energy[4]) / (12 * h)
        W, _ = rp.observe(model, states[2])
        assert yd @ W @ phi == pytest.approx(rate, rel=1e-6, abs=1e-7 * abs(energy[2]))


def energy_of(model: rp.ReferenceModel, state: rp.State, phi: Array) -> float:
    total = 0.0
    table, speeds = state.q.reshape(-1, 7), state.twist.reshape(-1, 6)
    for i in range(model.n_bodies):
        p = phi[10 * i : 10 * i + 10]
        mc, v, w = state.rotation[i] @ p[1:4], speeds[i, :3], speeds[i, 3:]
        local = state.rotation[i].T @ w
        kinetic = p[0] * v @ v / 2 + v @ np.cross(w, mc) + local @ inertia.tensor(p[4:]) @ local / 2
        total += float(kinetic - model.gravity @ (p[0] * table[i, :3] + mc))
    return total


def given(value: float) -> dict[str, Any]:
    return {"value": value, "identify": True}


COORDINATES = {
    "revolute": ["J"],
    "prismatic": ["J"],
    "helical": ["J"],
    "cylindrical": ["J.angle", "J.displacement"],
    "universal": ["J.angle_1", "J.angle_2"],
    "planar": ["J.x", "J.y", "J.angle"],
}


def with_every_element(kind: str, cut: bool) -> Mechanism:
    """Two bodies, a joint of this kind between them, all elements on its coordinates."""
    words = COORDINATES[kind]
    joint: dict[str, Any] = {"type": kind, "between": ["a", "b"], "at": "P"}
    joint |= {"axes": ["n", "m"]} if kind == "universal" else {"axis": "n"}
    joint |= {"pitch": 0.3} if kind == "helical" else {}
    elements: dict[str, Any] = {}
    for i, word in enumerate(words):
        elements[f"t{i}"] = {
            "type": "torsion_spring",
            "joint": word,
            "stiffness": given(3.0 + i),
            "damping": 0.4,
            "free_angle": given(0.2),
        }
        elements[f"f{i}"] = {
            "type": "friction",
            "joint": word,
            "viscous": given(0.3),
            "coulomb": 0.7,
        }
    n = len(words)
    elements |= {
        "drive": {
            "type": "transmission",
            "coordinates": ["base", *words],
            "motors": {"m1": {"inertia": given(0.02), "viscous": 0.3}, "m2": {"inertia": 0.05}},
            "matrix": [[3.0, *[2.0] * n], [1.0, *[-4.0] * n]],
        },
        "s1": {
            "type": "spring_damper",
            "between": ["a.A", "b.B"],
            "stiffness": given(50),
            "damping": given(2),
            "free_length": 0.3,
        },
        "s2": {
            "type": "spring_damper",
            "between": ["ground.G", "b.B"],
            "stiffness": 70,
            "damping": 2,
            "free_length": given(0.3),
        },
        "F1": {"type": "force", "body": "b", "at": "B", "vector": [1, 2, 3], "axes": "body"},
        "F2": {"type": "force", "body": "a", "at": "A", "vector": [1, -2, 3]},
        "M": {"type": "moment", "body": "a", "vector": [1, 2, -3], "axes": "body"},
    }
    along = ([0.2, 0.9, 0.1], [1, 0.1, 0.1], [0.5, 0.1, -1])
    points = ("B", "B", "C")
    coordinates: dict[str, Any] = {"base": {"joint": "base"}}
    for i in range(n):
        coordinates[f"p{i}"] = {"point": f"b.{points[i]}", "along": along[i]}
    joints = {
        "base": {
            "type": "revolute",
            "between": ["ground", "a"],
            "at": [0, 0, 0],
            "axis": [0.2, 0.1, 1],
        },
        "J": joint,
    }
    loose = {"loose": {"type": "free", "between": ["ground", "b"]}}
    return build(
        name=kind,
        gravity=[1, 2, -9],
        points={
            "P": [0.3, 0.1, 0.2],
            "A": {"in": "a", "at": [0.5, 0.2, -0.1]},
            "B": {"in": "b", "at": [-0.1, 0.6, 0.3]},
            "C": {"in": "b", "at": [0.7, 0.1, -0.2]},
            "G": [1, 1, 0],
        },
        directions={"n": [0.3, 0.5, 1.0], "m": [1, 0.3, -0.45]},
        bodies={
            "a": {
                "frame": {"origin": [0.1, 0, 0], "x": [1, 0.2, 0], "y": [0, 1, 0.3]},
                "mass": 2,
                "center": [0.1, 0.2, 0.3],
                "inertia": {"xx": 0.1, "yy": 0.2, "zz": 0.15, "xy": 0.01},
            },
            "b": {
                "frame": {"origin": [0.3, 0.2, 0], "x": [1, 0.2, 0.4], "y": [0, 1, -0.3]},
                "mass": 3,
                "center": [-0.1, 0.2, 0.1],
                "inertia": {"xx": 0.12, "yy": 0.2, "zz": 0.17, "yz": 0.02},
            },
        },
        joints=joints | (loose if cut else {}),
        elements=elements,
        coordinates=coordinates,
        cut=["J"] if cut else [],
    )


@pytest.mark.parametrize("cut", [True, False], ids=["cut", "tree"])
@pytest.mark.parametrize("kind", COORDINATES)
class TestElements:
    def test_every_element_on_every_joint(self, kind: str, cut: bool) -> None:
        motion, model, states = solved(with_every_element(kind, cut))
        fast = observation_matrix(motion)
        assert np.abs(fast.W[:, :, 20:]).max(axis=(0, 1)).min() > 1e-3  # all of them do something
        for k, state in enumerate(states):
            R = rp.admissible_motions(model, state.q)
            assert_same(fast, k, R, *rp.unprojected(model, state))
        tau, _ = rp.inverse_dynamics(model, states[0])
        found = rp.accelerations(model, states[0].q, states[0].qd, tau, near=states[0].near)
        assert found.qdd == pytest.approx(states[0].qdd, abs=1e-9)


def test_springs_push_along_their_line() -> None:
    """The wrenches of a spring on both bodies, from the force between its points."""
    _, model, states = solved(with_every_element("universal", cut=False), n=1)
    state = states[0]
    H, _ = rp.unprojected(model, state)
    names = [c.name for c in model.columns]
    a = state.q[:3] + state.rotation[0] @ [0.5, 0.2, -0.1]
    b = state.q[7:10] + state.rotation[1] @ [-0.1, 0.6, 0.3]
    push = (np.linalg.norm(b - a) - 0.3) * (b - a) / np.linalg.norm(b - a)
    want = np.concatenate(
        [-push, -np.cross(a - state.q[:3], push), push, np.cross(b - state.q[7:10], push)]
    )
    assert H[:, names.index("k_s1")] == pytest.approx(want, abs=1e-13)


def test_angles_are_followed_through_turns() -> None:
    """A spring on a joint that is no coordinate: its moment is that of the angle, not of its sine.

    A parallelogram: the rocker turns with the crank.
    """
    mechanism = parallelogram(
        elements={"t": {"type": "torsion_spring", "joint": "D", "stiffness": given(1.0)}}
    )
    y = np.linspace(0.3, 2.6, 24)[:, None]
    W = rp.observation_matrix_reference(mechanism, (y, 0 * y, 0 * y)).W
    assert W[:, 0, -1] == pytest.approx(y[:, 0], abs=1e-9)
    drag = drag_link(
        elements={"t": {"type": "torsion_spring", "joint": "D", "stiffness": given(1.0)}}
    )
    y = np.linspace(0.0, 2 * np.pi, 20)[:, None]
    model = rp.reference_model(drag)
    states = rp.solve_states(model, y)
    angle = np.array([s.near[0] for s in states if s.near is not None])
    assert angle[-1] - angle[0] == pytest.approx(-2 * np.pi)  # from the bar to the ground
    assert np.all(np.diff(angle) < 0)


def bar(origin: npt.ArrayLike, length: float = 0.5, mass: float = 1.0) -> dict[str, Any]:
    return {
        "frame": {"origin": np.asarray(origin, float).tolist()},
        "mass": mass,
        "center": [length / 2, 0.05, 0],
        "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1},
    }


def four_points(places: list[Array], **words: Any) -> Mechanism:
    """Planar linkage of three bars in the plane xy; the crank is bar b1, at A."""
    a, b, c, d = ([*p, 0.0] for p in places)
    hinge: dict[str, Any] = {"type": "revolute", "axis": "z"}
    return build(
        name="linkage",
        gravity=[0, -9.81, 0],
        bodies={"b1": bar(a), "b2": bar(b, mass=2.0), "b3": bar(d, mass=1.5)},
        joints={
            "A": {**hinge, "between": ["ground", "b1"], "at": a},
            "B": {**hinge, "between": ["b1", "b2"], "at": b},
            "C": {**hinge, "between": ["b2", "b3"], "at": c},
            "D": {**hinge, "between": ["b3", "ground"], "at": d},
        },
        coordinates={"q": {"joint": "A"}},
        **words,
    )


def parallelogram(**words: Any) -> Mechanism:
    elements = {k: v | {"free_angle": 0} for k, v in words.pop("elements", {}).items()}
    corners = [np.array(p) for p in ([0, 0], [0.5, 0], [1.3, 0.0], [0.8, 0])]
    bodies = {"b1": bar([0, 0, 0]), "b2": bar([0.5, 0, 0]), "b3": bar([0.8, 0, 0])}
    hinge: dict[str, Any] = {"type": "revolute", "axis": "z"}
    turned = [[np.cos(0.5), np.sin(0.5), 0.0], [-np.sin(0.5), np.cos(0.5), 0.0]]
    frame = {"x": turned[0], "y": turned[1]}
    p = [np.array([*c, 0.0]) for c in corners]
    arm = 0.5 * np.array(turned[0])
    places = [p[0], arm, p[3] + arm, p[3]]
    for name, origin, axes in (
        ("b1", places[0], frame),
        ("b2", places[1], {}),
        ("b3", places[3], frame),
    ):
        bodies[name]["frame"] = {"origin": origin.tolist(), **axes}
    ends: dict[str, Any] = {
        "A": (["ground", "b1"], places[0], ["x", "b1.x"]),
        "B": (["b1", "b2"], places[1], None),
        "C": (["b2", "b3"], places[2], None),
        "D": (["ground", "b3"], places[3], ["x", "b3.x"]),
    }
    joints = {
        name: {**hinge, "between": pair, "at": at.tolist()} | ({"zero": zero} if zero else {})
        for name, (pair, at, zero) in ends.items()
    }
    return build(
        name="parallelogram",
        bodies=bodies,
        joints=joints,
        coordinates={"q": {"joint": "A"}},
        elements=elements,
    )


def circles(a: Array, ra: float, b: Array, rb: float) -> Array:
    """Left intersection of two circles, seen along a → b."""
    d = np.linalg.norm(b - a)
    n = (b - a) / d
    along = (ra**2 - rb**2 + d**2) / (2 * d)
    across = np.sqrt(ra**2 - along**2)
    return np.asarray(a + along * n + across * np.array([-n[1], n[0]]))


def drag_link(**words: Any) -> Mechanism:
    """Four-bar whose shortest link is the ground: both cranks turn fully."""
    b, d = 0.5 * np.array([np.cos(1), np.sin(1)]), np.array([0.2, 0.0])
    return four_points([np.zeros(2), b, circles(b, 0.45, d, 0.55), d], **words)


def crank_rocker(**words: Any) -> Mechanism:
    b, d = 0.3 * np.array([np.cos(0.6), np.sin(0.6)]), np.array([0.8, 0.0])
    return four_points([np.zeros(2), b, circles(b, 0.9, d, 0.7), d], **words)


class TestPlanarLinkage:
    """Redundant in space: what is determined, and what it is."""

    def planar_forces(self, state: rp.State, model: rp.ReferenceModel) -> tuple[Array, float]:
        """Nine equations of the three bars: forces in A, B, C, D on the second body, crank moment.

        Written for the centres of mass, with accelerations by the rule of rigid bodies.
        """
        A = np.zeros((9, 9))
        right = np.zeros(9)
        table = state.q.reshape(-1, 7)
        joints = {
            j.name: j.frame_b if j.body_b != GROUND else j.frame_a for j in model.mechanism.joints
        }
        carrier = {"A": 0, "B": 1, "C": 2, "D": 2}
        at = {
            name: table[k, :3] + state.rotation[k] @ np.array(joints[name].origin)
            for name, k in carrier.items()
        }
        acts = {0: {"A": 1, "B": -1}, 1: {"B": 1, "C": -1}, 2: {"C": 1, "D": -1}}
        for i, body in enumerate(model.mechanism.bodies):
            assert body.inertia is not None
            arm = state.rotation[i] @ np.array(body.inertia.center)
            w, alpha = state.omega[i, 2], state.alpha[i, 2]
            a = state.acceleration[i] + alpha * np.array([-arm[1], arm[0], 0]) - w**2 * arm
            right[3 * i : 3 * i + 2] = body.inertia.mass * (a - model.gravity)[:2]
            right[3 * i + 2] = body.inertia.inertia_center[5] * alpha
            for name, sign in acts[i].items():
                c = 2 * "ABCD".index(name)
                lever = at[name] - table[i, :3] - arm
                A[3 * i, c] = A[3 * i + 1, c + 1] = sign
                A[3 * i + 2, c : c + 2] = [-sign * lever[1], sign * lever[0]]
        A[2, 8] = 1.0
        x = np.linalg.solve(A, right)
        return np.asarray(x[:8], dtype=float).reshape(4, 2), float(x[8])

    def test_in_plane_forces(self) -> None:
        _, model, states = solved(crank_rocker())
        for state in states:
            tau, multipliers = rp.inverse_dynamics(model, state)
            reactions = rp.joint_reactions(model, state.q, multipliers)
            forces, moment = self.planar_forces(state, model)
            assert tau[0] == pytest.approx(moment, rel=1e-10)
            assert reactions.force[:, :2] == pytest.approx(forces, rel=1e-9)
            assert reactions.moment[:, 2] == pytest.approx(np.zeros(4), abs=1e-10)

    def test_flags(self) -> None:
        _, model, states = solved(crank_rocker(), n=1)
        _, multipliers = rp.inverse_dynamics(model, states[0])
        reactions = rp.joint_reactions(model, states[0].q, multipliers)
        assert reactions.internal.shape == (4, 6, 3)  # three constraints too many
        for r in (reactions, reactions.in_frame_a()):
            assert not r.undetermined[:, [0, 1, 5]].any()
            assert r.undetermined[:, [2, 3, 4]].all()
        # Everything is symmetric about the plane: the shortest answer lies in it.
        assert np.abs(reactions.force[:, 2]).max() < 1e-9

    def test_static_moment_by_virtual_work(self) -> None:
        """At rest the crank moment is the slope of the potential energy."""
        mechanism = crank_rocker()
        model = rp.reference_model(mechanism)
        h = 1e-4
        y = np.array([[-h], [0.0], [h]])
        states = rp.solve_states(model, y)
        phi = rp.parameter_values(model)
        tau, _ = rp.inverse_dynamics(model, states[1])
        slope = (energy_of(model, states[2], phi) - energy_of(model, states[0], phi)) / (2 * h)
        assert tau[0] == pytest.approx(slope, rel=1e-6)

    def test_falls_with_its_energy(self) -> None:
        """Redundant rows that drift apart during integration do no harm."""
        model = rp.reference_model(crank_rocker())
        phi = rp.parameter_values(model)
        start = rp.solve_states(model, np.array([[0.4]]), np.array([[3.0]]))[0]

        def rate(t: float, x: Array) -> Array:
            found = rp.accelerations(model, x[:21], x[21:], np.zeros(1), t, alpha=10, beta=10)
            return np.concatenate([x[21:], found.qdd])

        x0 = np.concatenate([start.q, start.qd])
        end = solve_ivp(rate, (0, 0.2), x0, rtol=1e-8, atol=1e-9).y[:, -1]
        assert 1e-13 < np.abs(rp.constraint_error(model, end[:21])).max() < 1e-6
        later = rp.State(end[:21], end[21:], np.zeros(21))
        assert energy_of(model, later, phi) == pytest.approx(energy_of(model, start, phi), rel=1e-6)

    def test_isostatic_joints_are_determined(self) -> None:
        for name in ("spatial_slider_crank", "stewart_platform"):
            _, model, states = samples(name)
            _, multipliers = rp.inverse_dynamics(model, states[0])
            assert not rp.joint_reactions(model, states[0].q, multipliers).undetermined.any()


@pytest.mark.parametrize(
    "name", ["four_bar", "stewart_platform", "bricard", "planar_3rrr", "delta"]
)
def test_ground_reactions_carry_the_momentum(name: str) -> None:
    """Sum of forces on joints with the ground = Σ m (a_c - g): actuators are inside or moments."""
    _, model, states = samples(name)
    phi = numbers(model)
    for state in states:
        _, multipliers = rp.inverse_dynamics(model, state, phi)
        reactions = rp.joint_reactions(model, state.q, multipliers)
        total = np.zeros(3)
        for joint, f in zip(model.mechanism.joints, reactions.force, strict=True):
            total += f if joint.body_a == GROUND else -f if joint.body_b == GROUND else 0.0
        want = np.zeros(3)
        for i in range(model.n_bodies):
            p = phi[10 * i : 10 * i + 10]
            mc = state.rotation[i] @ p[1:4]
            w = skew(state.omega[i])
            a = p[0] * (state.acceleration[i] - model.gravity)
            want += a + np.cross(state.alpha[i], mc) + w @ w @ mc
        assert total == pytest.approx(want, rel=1e-8, abs=1e-8 * np.abs(want).max())


class TestPendulum:
    def test_closed_form(self) -> None:
        """J q̈ = τ - m g s sin: rod along -z at angle zero, turning about y."""
        model = rp.reference_model(load("pendulum@point-mass-like"))
        y, yd = np.array([[0.7]]), np.array([[1.3]])
        state = rp.solve_states(model, y, yd)[0]
        found = rp.accelerations(model, state.q, state.qd, lambda t: np.array([2.0 * t]), 0.25)
        m, s = 1.2, 0.5
        want = (0.5 - m * 9.81 * s * np.sin(0.7)) / (m * s**2 + 1e-9)
        bodies = rp.State(state.q, state.qd, found.qdd)
        assert bodies.alpha[0] == pytest.approx([0, want, 0], rel=1e-12)
        reactions = rp.joint_reactions(model, state.q, found.multipliers)
        # radial: centripetal and weight; the rod points to (-sin, 0, -cos)
        rod = np.array([-np.sin(0.7), 0, -np.cos(0.7)])
        across = np.array([-np.cos(0.7), 0, np.sin(0.7)])
        force = m * (s * want * across - s * 1.3**2 * rod) - m * np.array([0, 0, -9.81])
        assert reactions.force[0] == pytest.approx(force, rel=1e-9)

    def test_hangs(self) -> None:
        model = rp.reference_model(load("pendulum@point-mass-like"))
        state = rp.solve_states(model, np.zeros((1, 1)))[0]
        tau, multipliers = rp.inverse_dynamics(model, state)
        reactions = rp.joint_reactions(model, state.q, multipliers)
        assert tau == pytest.approx([0.0], abs=1e-12)
        assert reactions.force[0] == pytest.approx([0, 0, 1.2 * 9.81])
        assert reactions.moment[0] == pytest.approx(np.zeros(3), abs=1e-12)
        in_a = reactions.in_frame_a()
        axes = np.array(model.mechanism.joints[0].frame_a.rotation)
        assert in_a.force[0] == pytest.approx(axes.T @ [0, 0, 1.2 * 9.81])

    def test_sticks_out(self) -> None:
        """Held level by the actuator: the hinge carries the weight, the actuator the moment."""
        model = rp.reference_model(load("pendulum@point-mass-like"))
        state = rp.solve_states(model, np.array([[np.pi / 2]]))[0]
        tau, multipliers = rp.inverse_dynamics(model, state)
        reactions = rp.joint_reactions(model, state.q, multipliers)
        assert tau == pytest.approx([1.2 * 9.81 * 0.5])
        assert reactions.force[0] == pytest.approx([0, 0, 1.2 * 9.81], abs=1e-12)
        assert reactions.moment[0] == pytest.approx(np.zeros(3), abs=1e-12)


def test_bridge() -> None:
    """A beam on a hinge and on an upright strut of balls: each carries its share of the weight."""
    mechanism = build(
        name="bridge",
        bodies={
            "beam": {"mass": 10, "center": [1.2, 0, 0], "inertia": {"xx": 1, "yy": 1, "zz": 1}},
            "strut": {"frame": {"origin": [3, 0, -1]}, "massless": True},
        },
        joints={
            "left": {
                "type": "revolute",
                "between": ["ground", "beam"],
                "at": [0, 0, 0],
                "axis": "y",
            },
            "foot": {"type": "spherical", "between": ["ground", "strut"], "at": [3, 0, -1]},
            "head": {"type": "spherical", "between": ["strut", "beam"], "at": [3, 0, 0]},
        },
    )
    model = rp.reference_model(mechanism)
    q = assemble(model.system).q
    still = rp.State(q, np.zeros(14), np.zeros(14))
    tau, multipliers = rp.inverse_dynamics(model, still)
    reactions = rp.joint_reactions(model, q, multipliers)
    weight = 98.1
    assert tau.shape == (0,)
    forces = [[0, 0, weight * (1 - 1.2 / 3)], [0, 0, weight * 1.2 / 3], [0, 0, weight * 1.2 / 3]]
    assert reactions.force == pytest.approx(np.array(forces), abs=1e-9)
    assert not reactions.undetermined.any()
    assert rp.accelerations(model, q, still.qd, tau).qdd == pytest.approx(np.zeros(14), abs=1e-9)


def free_body() -> Mechanism:
    return build(
        name="stone",
        gravity=[0, 0, 0],
        bodies={
            "stone": {
                "mass": 2,
                "center": [0.1, -0.2, 0.3],
                "inertia": {"xx": 0.3, "yy": 0.5, "zz": 0.6, "xy": 0.02, "yz": -0.03},
            }
        },
        joints={"base": {"type": "free", "between": ["ground", "stone"]}},
        coordinates={"stone": {"joint": "base"}},
    )


class TestFreeBody:
    def state(self) -> tuple[rp.ReferenceModel, rp.State]:
        model = rp.reference_model(free_body())
        y = np.array([[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]])
        return model, rp.solve_states(model, y, np.array([[1.0, 0, -1, 2, -1, 3]]))[0]

    def test_euler_equations(self) -> None:
        model, state = self.state()
        found = rp.accelerations(model, state.q, state.qd, np.zeros(6))
        moved = rp.State(state.q, state.qd, found.qdd)
        body = model.mechanism.bodies[0].inertia
        assert body is not None
        I = inertia.tensor(np.array(body.inertia_center))  # noqa: E741
        w = state.rotation[0].T @ state.omega[0]
        want = np.linalg.solve(I, -np.cross(w, I @ w))
        assert state.rotation[0].T @ moved.alpha[0] == pytest.approx(want, abs=1e-12)
        arm = state.rotation[0] @ np.array(body.center)
        spin = skew(state.omega[0])
        center = moved.acceleration[0] + np.cross(moved.alpha[0], arm) + spin @ spin @ arm
        assert center == pytest.approx(np.zeros(3), abs=1e-12)

    def test_tumbling_keeps_momentum_energy_and_norm(self) -> None:
        model, state = self.state()
        phi = rp.parameter_values(model)

        def rate(t: float, x: Array) -> Array:
            found = rp.accelerations(model, x[:7], x[7:], np.zeros(6), t, alpha=5, beta=5)
            return np.concatenate([x[7:], found.qdd])

        end = solve_ivp(
            rate, (0, 0.3), np.concatenate([state.q, state.qd]), rtol=1e-9, atol=1e-11
        ).y[:, -1]
        later = rp.State(end[:7], end[7:], np.zeros(7))
        assert np.abs(rp.constraint_error(model, end[:7])).max() < 1e-9
        before, after = energy_of(model, state, phi), energy_of(model, later, phi)
        assert after == pytest.approx(before, rel=1e-8)
        assert self.momentum(later, phi) == pytest.approx(self.momentum(state, phi), rel=1e-7)

    def momentum(self, state: rp.State, phi: Array) -> Array:
        """Linear, and angular about the centre of mass."""
        R, w, v = state.rotation[0], state.omega[0], state.twist[:3]
        m, c, six = inertia.central(phi)
        linear = m * (v + np.cross(w, R @ c))
        return np.concatenate([linear, R @ inertia.tensor(six) @ R.T @ w])

    def test_nothing_to_eliminate(self) -> None:
        model, state = self.state()
        for method in METHODS:
            W, _ = rp.observe(model, state, method)
            assert pytest.approx(rp.observe(model, state)[0], abs=1e-12) == W
        _, multipliers = rp.inverse_dynamics(model, state)
        reactions = rp.joint_reactions(model, state.q, multipliers)
        assert reactions.force == pytest.approx(np.zeros((1, 3)))


class TestPassiveSpins:
    NAME = "spatial_slider_crank@two-balls"

    def test_free_spin_without_inertia_of_its_own_changes_nothing_else(self) -> None:
        """A slender rod about its line: only its own spin tells whether it is held."""
        _, held, states = samples(self.NAME)
        free = rp.reference_model(held.mechanism, hold_spins=False)
        assert (held.n_free, free.n_free) == (1, 2)
        state = states[0]
        phi = numbers(held)
        k = held.elements.numbers[held.spins[0].inside]
        ends = [
            np.array(j.frame_a.origin if j.body_a == held.spins[0].inside else j.frame_b.origin)
            for j in map(held.mechanism.joint, held.spins[0].joints)
        ]
        line = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
        center = (ends[0] + ends[1]) / 2
        central = 0.01 * (np.eye(3) - np.outer(line, line)) + 1e-8 * np.outer(line, line)
        phi[10 * k : 10 * k + 10] = inertia.parameters(0.8, center, inertia.six(central))
        tau = np.array([0.7])
        one = rp.accelerations(held, state.q, state.qd, tau, phi=phi).qdd
        two = rp.accelerations(free, state.q, state.qd, tau, phi=phi).qdd
        others = np.delete(np.arange(len(one)), np.arange(7 * k, 7 * k + 7))
        assert two[others] == pytest.approx(one[others], rel=1e-4, abs=1e-6)
        bodies = [rp.State(state.q, state.qd, x) for x in (one, two)]
        turn = state.rotation[k] @ line
        apart = bodies[1].alpha[k] - bodies[0].alpha[k]
        assert np.linalg.norm(apart) > 1e-2
        assert apart == pytest.approx(turn * (turn @ apart), abs=1e-4)
        # Torque-free about its line: the spin speed ω · n is constant.
        n_rate = np.cross(state.omega[k], turn)
        assert bodies[1].alpha[k] @ turn + state.omega[k] @ n_rate == pytest.approx(0, abs=1e-6)

    def test_a_free_spin_has_no_declared_force(self) -> None:
        _, held, states = samples(self.NAME)
        free = rp.reference_model(held.mechanism, hold_spins=False)
        with pytest.raises(ModelError, match="spin"):
            rp.observe(free, states[0])
        own, _ = rp.observe(free, states[0], "svd", own_basis=True)
        assert own.shape == (2, len(free.columns))


def test_states_of_the_tree_and_of_reference_points_agree() -> None:
    for name in FEW:
        motion, model, states = samples(name)
        for a, b in zip(rp.state_from_motion(model, motion), states, strict=True):
            sign = np.sign(np.sum(a.q.reshape(-1, 7)[:, 3:] * b.q.reshape(-1, 7)[:, 3:], axis=1))
            flip = np.concatenate([np.ones((len(sign), 3)), np.tile(sign[:, None], 4)], 1).ravel()
            scale = np.abs(b.qdd).max()
            assert np.abs(a.q * flip - b.q).max() < 1e-11
            assert np.abs(a.qd * flip - b.qd).max() < 1e-10
            assert np.abs(a.qdd * flip - b.qdd).max() < 1e-10 * scale
            assert a.near == pytest.approx(b.near, abs=1e-10)
            W, W2 = rp.observe(model, a)[0], rp.observe(model, b)[0]
            assert pytest.approx(W2, abs=1e-10 * np.abs(W2).max()) == W


def test_baumgarte() -> None:
    """Φ̈ + 2 α Φ̇ + β² Φ = 0 in a state that is a little open, full row rank."""
    model = rp.reference_model(load("spatial_slider_crank"))
    state = rp.solve_states(model, kinematic_model(model.mechanism).home_y[None])[0]
    rng = np.random.default_rng(2)
    q = state.q + 1e-4 * rng.standard_normal(len(state.q))
    qd = 1e-3 * rng.standard_normal(len(q))
    found = rp.accelerations(model, q, qd, np.zeros(1), alpha=3.0, beta=7.0)
    plain = rp.augmented(model, q, qd, np.zeros(1))
    second = plain.C @ found.qdd - plain.right
    want = -6.0 * plain.C @ qd - 49.0 * rp.constraint_error(model, q)
    assert second == pytest.approx(want, abs=1e-9)


def test_thread_error_counts_turns() -> None:
    model = rp.reference_model(load("screw_press"))
    states = rp.solve_states(model, np.array([[20.0]]))
    assert np.abs(rp.constraint_error(model, states[0].q)).max() < 1e-12


class TestRefusals:
    def test_missing_values(self) -> None:
        mechanism = build(
            name="m",
            bodies={"b": {}},
            joints={
                "J": {"type": "revolute", "between": ["ground", "b"], "at": [0, 0, 0], "axis": "y"}
            },
            coordinates={"q": {"joint": "J"}},
        )
        model = rp.reference_model(mechanism)
        with pytest.raises(DataError, match="m_1 of b has no value"):
            rp.parameter_values(model)
        with pytest.raises(DataError, match="shape"):
            rp.parameter_values(model, np.zeros(3))

    def test_a_motion_without_mass(self) -> None:
        mechanism = build(
            name="m",
            bodies={"b": {"massless": True}},
            joints={
                "J": {"type": "revolute", "between": ["ground", "b"], "at": [0, 0, 0], "axis": "y"}
            },
            coordinates={"q": {"joint": "J"}},
        )
        model = rp.reference_model(mechanism)
        state = rp.solve_states(model, np.zeros((1, 1)))[0]
        with pytest.raises(ModelError, match="no mass"):
            rp.accelerations(model, state.q, state.qd, np.ones(1))

    @pytest.mark.parametrize("method", METHODS)
    def test_singular_constraints(self, method: Method) -> None:
        C = np.array([[1.0, 2, 3], [2, 4, 6]])
        with pytest.raises(SingularPoseError):
            rp.null_basis(C, 1, method)
        Z = rp.null_basis(np.array([[1.0, 2, 3], [2, 4, 6], [0, 1, 1]]), 1, method)
        assert np.abs(C @ Z).max() < 1e-12
        assert rp.null_basis(np.zeros((0, 2)), 2, method) == pytest.approx(np.eye(2))
        with pytest.raises(ModelError):
            rp.null_basis(C, 0, method)

    def test_stretched_parallelogram(self) -> None:
        model = rp.reference_model(parallelogram())
        with pytest.raises(SingularPoseError):
            rp.solve_states(model, np.array([[0.0]]))

    def test_pitch_of_ninety_degrees(self) -> None:
        model = rp.reference_model(load("pendulum"))
        state = rp.solve_states(model, np.array([[np.pi / 2]]))[0]
        with pytest.raises(SingularPoseError, match="pitch"):
            rp.unprojected(model, state, "rpy")


def test_point_forces_act_on_the_point() -> None:
    """The generalised force of a point coordinate is a force on that point along its direction."""
    _, model, states = samples("sla_suspension")
    state = states[0]
    D = jacobian(model.system.drivers, state.q) @ np.linalg.pinv(rp.speed_map(state.q, "euler"))
    for row, c in zip(D, model.mechanism.coordinates, strict=True):
        if isinstance(c, PointCoordinate):
            k = model.elements.numbers[c.point.body]
            arm = state.rotation[k] @ np.array(c.point.local)
            want = np.concatenate([c.direction, np.cross(arm, c.direction)])
            assert row[6 * k : 6 * k + 6] == pytest.approx(want, abs=1e-12)
