"""Benchmark problems with references that are published, closed forms, or computed independently.

Data and sources are in the model files; here are equations written by hand for the same mechanisms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import sympy as sp
from scipy.special import ellipj, ellipk

from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Mechanism
from mechid.modelfile import build, load

from .equations import System, X, Y, Z, body, rates, turn

G = 9.81
ROD = 1 / 12  # kg m², of a uniform rod of 1 kg and 1 m about its centre
# beta, Theta, gamma, phi, delta, Omega, epsilon at 0.03 s, rad: Test Set for IVP Solvers, problem
# "andrews" (PSIDE with tolerances of 1e-14).
SQUEEZER = (
    0.1581077119629904e2,
    -0.1575637105984298e2,
    0.4082224013073101e-1,
    -0.5347301163226948,
    0.5244099658805304,
    0.5347301163226948,
    0.1048080741042263e1,
)


@dataclass(frozen=True)
class Problem:
    """A mechanism, times (s), and the true values of its first coordinate at these times.

    `spec` is a model of the zoo, or a call of this module; `source` says where the truth comes
    from; `stiff` problems need an implicit integrator.
    """

    name: str
    title: str
    spec: str
    end: float
    truth: Callable[[Floats], Floats]
    source: str
    samples: int = 101
    stiff: bool = False

    def mechanism(self) -> Mechanism:
        """Return the model."""
        return n_four_bar(40) if self.spec == "n_four_bar(40)" else load(self.spec)

    @property
    def times(self) -> Floats:
        """Equidistant, from zero."""
        return np.linspace(0, self.end, self.samples)


# --------------------------------------------------------------------------- references


def simple_pendulum(times: Floats) -> Floats:
    """Swing from the horizontal: sin(y/2) = k cd(ω t), k = sin(π/4)."""
    sn, _, _, _ = ellipj(np.sqrt(G) * times + ellipk(0.5), 0.5)
    return np.asarray(2 * np.arcsin(np.sqrt(0.5) * sn))


def row_of_parallelograms(n: int, times: Floats) -> Floats:
    """Cranks stay parallel and couplers do not turn: a pendulum that goes round."""
    (angle,) = x = sp.symbols("angle,")
    end = turn(Z, angle) * Y
    vectors, height = [], sp.Integer(0)
    for _ in range(n + 1):
        vectors += body(1, end / 2, turn(Z, angle), (ROD, 0, ROD))
        height += end[1] / 2
    for _ in range(n):
        vectors.append((1, end))
        height += end[1]
    return System(x, vectors, G * height).solve([0], [-1], times)[:, 0]


def squeezer(times: Floats) -> Floats:
    """The seven angles of the test set, with its six constraints."""
    x = sp.symbols("beta Theta gamma phi delta Omega epsilon")
    b, t, c, f, d, o, e = x
    A, B, C = (
        sp.Matrix([-0.06934, -0.00227, 0]),
        sp.Matrix([-0.03635, 0.03273, 0]),
        sp.Matrix([0.014, 0.072, 0]),
    )
    R1, R2, R3, R4 = turn(Z, b), turn(Z, b + t), turn(Z, c), turn(Z, f + d)
    R5, R6, R7 = turn(Z, d), turn(Z, o + e), turn(Z, e)
    F, corner, H = 0.007 * R1 * X, A + 0.04 * R5 * X, A - 0.04 * R7 * Y
    pin = F - 0.028 * R2 * X
    D = B + R3 * sp.Matrix([0.02, -0.018, 0])
    parts = [
        (0.04325, 0.00092 * R1 * X, R1, 2.194e-6),
        (0.00365, F - 0.0115 * R2 * X, R2, 4.41e-7),
        (0.02373, B + R3 * sp.Matrix([0.01043, -0.01874, 0]), R3, 5.255e-6),
        (0.00706, corner - (0.02 - 0.01421) * R4 * Y, R4, 5.667e-7),
        (0.0705, A + R5 * sp.Matrix([0.02308, 0.00916, 0]), R5, 1.169e-5),
        (0.00706, H + (0.02 - 0.01421) * R6 * X, R6, 5.667e-7),
        (0.05498, A + R7 * sp.Matrix([-0.00449, -0.01228, 0]), R7, 1.912e-5),
    ]
    vectors = [v for m, c, R, J in parts for v in body(m, c, R, (J / 2, J / 2, J))]
    ends = (B - 0.035 * R3 * Y, corner - 0.02 * R4 * Y, H + 0.02 * R6 * X)
    held = tuple(x for end in ends for x in (pin - end)[:2])
    spring = 4530 / sp.Integer(2) * (sp.sqrt((D - C).dot(D - C)) - 0.07785) ** 2
    start = [
        -0.0617138900142764496358948458001,
        0,
        0.455279819163070380255912382449,
        0.222668390165885884674473185609,
        0.487364979543842550225598953530,
        -0.222668390165885884674473185609,
        1.23054744454982119249735015568,
    ]
    system = System(x, vectors, spring, constraints=held, forces=(0.033, *[0.0] * 6))
    return system.solve(start, [0] * 7, times)[:, :7]


def bricard(times: Floats) -> Floats:
    """Two alternating angles with sin a + sin b + sin a sin b = 0 (Bricard's closure)."""
    (a,) = x = sp.symbols("a,")
    b = -sp.asin(sp.sin(a) / (1 + sp.sin(a)))
    R, P, height, vectors = sp.eye(3), sp.zeros(3, 1), sp.Integer(0), []
    axes, edges = (Y, Z, X, Y, Z), (X, -Y, Z, -X, Y)
    for i, (axis, edge) in enumerate(zip(axes, edges, strict=True)):
        R = R * turn(axis, b if i % 2 else a)
        along, across = sp.Rational(101, 1200), sp.Rational(2, 1200)
        moments = tuple(across if edge[k] else along for k in range(3))
        vectors += body(1, P + R * edge / 2, R, moments)
        height += (P + R * edge / 2)[1]
        P = P + R * edge
    closed = sp.lambdify(a, [P, R * X])
    for angle in (0.3, 1.1):
        end, last = closed(angle)
        assert np.allclose(np.ravel(end), [0, 0, 1])
        assert np.allclose(np.ravel(last), [1, 0, 0])
    return System(x, vectors, G * height).solve([0], [0], times)[:, 0]


def spatial_slider_crank(times: Floats) -> Floats:
    """One angle: the ends of the rod, and its second axis normal to the slider's line."""
    (angle,) = x = sp.symbols("angle,")
    pin = sp.Matrix([0, 0.1, 0.12]) + turn(X, angle) * sp.Matrix([0, 0, 0.08])
    reach = sp.sqrt(0.09 - pin[1] ** 2 - pin[2] ** 2)
    slider = sp.Matrix([reach, 0, 0])
    along = (pin - slider) / 0.3
    across = X.cross(along)
    across = across / sp.sqrt(across.dot(across))
    rod = sp.Matrix.hstack(across, along, across.cross(along))
    vectors = [
        *body(0.12, sp.Matrix([0, 0.1, 0.12]), turn(X, angle), (1e-4, 1e-4, 1e-5)),
        *body(0.5, (pin + slider) / 2, rod, (0.004, 0.0004, 0.004)),
        (2.0, slider),
    ]
    return System(x, vectors, 0.5 * G * pin[2] / 2).solve([0], [6], times)[:, 0]


def governor(times: Floats, *, rigid: bool = False) -> Floats:
    """Height of the slider and slope of both rods, which stay mirror images.

    The turn of the shaft is cyclic: its constant momentum becomes a potential, L² / 2J.
    """
    x = s, slope = sp.symbols("s slope")
    vectors = body(3, s * Z, sp.eye(3), (0.005, 0.005, 0.005))
    vectors += body(0.3, Z / 2, sp.eye(3), (0.0250025, 0.0250025, 5e-6))
    potential = 3 * G * s
    for side in (0, sp.pi):
        R = turn(Z, side) * turn(Y, slope)
        hinge = turn(Z, side) * X / 20 + Z
        vectors += body(0.3, hinge + R * X / 2, R, (5e-6, 0.0250025, 0.0250025))
        vectors.append((5.0, hinge + R * X))
        potential += G * (0.3 * (hinge + R * X / 2)[2] + 5 * (hinge + R * X)[2])
    J = sum(w * (v[0] ** 2 + v[1] ** 2) for w, v in vectors)
    momentum = 2 * np.pi * float(J.subs(slope, np.pi / 6))
    potential += momentum**2 / (2 * J)
    gap = sp.sqrt((sp.cos(slope) / 2) ** 2 + (1 - sp.sin(slope) / 2 - s) ** 2)
    if rigid:
        system, method = System(x, vectors, potential, constraints=(gap,)), "DOP853"
    else:
        rate = sum(sp.diff(gap, a) * b for a, b in zip(x, rates(x), strict=True))
        potential += 8e5 * (gap - sp.Rational(1, 2)) ** 2  # of two springs, as is the damping
        system, method = System(x, vectors, potential, dissipation=4e4 * rate**2), "Radau"
    return system.solve([0.5, np.pi / 6], [0, 0], times, method)[:, 0]


# --------------------------------------------------------------------------- problems


@cache
def n_four_bar(n: int) -> Mechanism:
    """N parallelograms in a row, as `n_four_bar` of the zoo, for any N."""
    rod = {"mass": 1.0}
    up = {
        **rod,
        "center": [0, 0.5, 0],
        "inertia": {"about": "center", "xx": ROD, "yy": 1e-4, "zz": ROD},
    }
    flat = {
        **rod,
        "center": [0.5, 0, 0],
        "inertia": {"about": "center", "xx": 1e-4, "yy": ROD, "zz": ROD},
    }
    hinge = {"type": "revolute", "axis": "z"}
    points = {f"A{i}": [i, 0, 0] for i in range(n + 1)} | {f"B{i}": [i, 1, 0] for i in range(n + 1)}
    bodies = {f"crank{i}": {**up, "frame": {"origin": f"A{i}"}} for i in range(n + 1)}
    joints = {
        f"a{i}": {**hinge, "between": ["ground", f"crank{i}"], "at": f"A{i}"} for i in range(n + 1)
    }
    for i in range(1, n + 1):
        rod_i = f"coupler{i}"
        bodies[rod_i] = {**flat, "frame": {"origin": f"B{i - 1}"}}
        joints[f"b{i}"] = {**hinge, "between": [f"crank{i - 1}", rod_i], "at": f"B{i - 1}"}
        joints[f"c{i}"] = {**hinge, "between": [rod_i, f"crank{i}"], "at": f"B{i}"}
    return build(
        name="n_four_bar",
        gravity=[0, -9.81, 0],
        points=points,
        bodies=bodies,
        joints=joints,
        coordinates={"angle": {"joint": "a0"}},
        start={"speeds": {"angle": -1.0}},
    )


_BY_HAND = "equations by hand in the fewest coordinates, integrated with tolerances of 1e-12"
_PUBLISHED = (
    "equations of the Test Set for IVP Solvers, integrated with tolerances of 1e-12; they give its "
    "published digits"
)
PROBLEMS = {
    p.name: p
    for p in (
        Problem(
            "pendulum",
            "Simple pendulum (A01)",
            "pendulum@horizontal",
            10.0,
            simple_pendulum,
            "closed form, elliptic functions",
        ),
        *(
            Problem(
                f"four-bar-{n}",
                f"N-four-bar, N = {n} (A02)",
                spec,
                10.0,
                partial(row_of_parallelograms, n),
                _BY_HAND,
            )
            for n, spec in ((1, "n_four_bar@one"), (2, "n_four_bar"), (40, "n_four_bar(40)"))
        ),
        Problem(
            "squeezer",
            "Andrews' squeezer (A03)",
            "andrews_squeezer",
            0.03,
            lambda t: squeezer(t)[:, 0],
            _PUBLISHED,
        ),
        Problem("bricard", "Bricard's linkage (A04)", "bricard@cube", 10.0, bricard, _BY_HAND),
        Problem(
            "governor",
            "Stiff flyball governor (A05)",
            "flyball_governor",
            10.0,
            governor,
            _BY_HAND,
            stiff=True,
        ),
        Problem(
            "governor-rigid",
            "Flyball governor, rigid couplers",
            "flyball_governor@rigid",
            10.0,
            partial(governor, rigid=True),
            _BY_HAND,
        ),
        Problem(
            "slider-crank",
            "Spatial slider-crank",
            "spatial_slider_crank",
            5.0,
            spatial_slider_crank,
            _BY_HAND,
        ),
    )
}


# --------------------------------------------------------------------------- change points


@dataclass(frozen=True)
class ChangePoint:
    """A four-bar linkage of uniform rods with crank + coupler = ground + rocker, without weight.

    With the crank along the ground all links lie on one line, where two branches meet; `root` = ±1
    names one of them. In t = tan(θ/2) of the crank and u = tan(φ/2) of the rocker the closure is
    A t² u² + B t² + C u² + D t u = 0, so that u = m t with m smooth in t, through t = 0 too.
    """

    crank: float
    coupler: float
    ground: float
    root: int

    @property
    def rocker(self) -> float:
        """Length that makes it a change-point linkage."""
        return self.crank + self.coupler - self.ground

    def slope(self, t: sp.Expr) -> sp.Expr:
        """Return u / t."""
        a, b, g, c = self.crank, self.coupler, self.ground, self.rocker
        K = g * g + c * c + a * a - b * b
        A, B = K - 2 * g * c + 2 * g * a - 2 * a * c, K + 2 * g * c + 2 * g * a + 2 * a * c
        C, D = K - 2 * g * c - 2 * g * a + 2 * a * c, -8 * a * c
        quadratic = C + A * t**2
        return (-D + self.root * sp.sqrt(D * D - 4 * B * quadratic)) / (2 * quadratic)

    def rods(self, angle: sp.Expr) -> list[tuple[float, sp.Matrix, sp.Expr]]:
        """Return length, first end and direction (an angle) of crank, coupler and rocker."""
        t = sp.tan(angle / 2)
        rocker = 2 * sp.atan(self.slope(t) * t)
        pin = self.crank * turn(Z, angle) * X
        far = self.ground * X + self.rocker * turn(Z, rocker) * X
        middle = sp.atan2((far - pin)[1], (far - pin)[0])
        return [
            (self.crank, sp.zeros(3, 1), angle),
            (self.coupler, pin, middle),
            (self.rocker, self.ground * X, rocker),
        ]

    def mechanism(self, start: float) -> Mechanism:
        """Return the model with the crank at an angle."""
        x = sp.Symbol("angle")
        bodies = {}
        for i, (length, end, angle) in enumerate(self.rods(x)):
            place = [float(v) for v in end.subs(x, start)]
            way = float(angle.subs(x, start))
            moment = length**3 / 12
            bodies[f"rod{i}"] = {
                "frame": {"origin": place, "z": "z", "x": [np.cos(way), np.sin(way), 0.0]},
                "mass": length,
                "center": [length / 2, 0, 0],
                "inertia": {"about": "center", "xx": 1e-3, "yy": moment, "zz": moment},
            }
        pin, far = bodies["rod1"]["frame"]["origin"], {"in": "rod1", "at": [self.coupler, 0, 0]}
        hinge = {"type": "revolute", "axis": "z"}
        return build(
            name="change_point",
            gravity=[0, 0, 0],
            bodies=bodies,
            joints={
                "crank": {
                    **hinge,
                    "between": ["ground", "rod0"],
                    "at": [0, 0, 0],
                    "zero": ["x", "rod0.x"],
                },
                "pin": {**hinge, "between": ["rod0", "rod1"], "at": pin},
                "far": {
                    **hinge,
                    "between": ["rod1", "rod2"],
                    "at": [far, {"in": "rod2", "at": [self.rocker, 0, 0]}],
                },
                "rocker": {**hinge, "between": ["ground", "rod2"], "at": [self.ground, 0, 0]},
            },
            coordinates={"angle": {"joint": "crank"}},
        )

    def truth(self, start: float, speed: float, times: Floats) -> Floats:
        """Return the angle of the crank."""
        (angle,) = x = sp.symbols("angle,")
        vectors = []
        for length, end, way in self.rods(angle):
            R = turn(Z, way)
            moment = length**3 / 12
            vectors += body(length, end + R * X * length / 2, R, (0, moment, moment))
        return System(x, vectors).solve([start], [speed], times)[:, 0]


CHANGE_POINTS = tuple(
    ChangePoint(*lengths, root)
    for lengths in ((1.0, 4.0, 3.0), (1.5, 2.5, 2.2), (2.0, 1.0, 1.4))
    for root in (1, -1)
)
