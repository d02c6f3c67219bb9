"""Random model files: one to four loops of all joint kinds, every number a finite decimal.

Hardpoints are decimals in the ground frame of the reference pose, so every joint is closed there in
exact numbers. Loops are generic spatial ones, and those of real machines whose mobility no count of
constraints tells: parallel axes, parallelograms, axes through one point, two planes across each
other, rods between balls. Which coordinates are independent follows from the null space of the
twists that joints and constraints allow, written here from frames alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg
import yaml

from mechid.kinematics.passive import passive_parts
from mechid.mechanism.records import GROUND, JOINT_KINDS, Joint, JointType, Mechanism
from mechid.modelfile import loads

Array = npt.NDArray[np.float64]
Exact = list[Fraction]

MOST_BODIES, MOST_FREEDOMS = 10, 4
_RANK = 1e-9  # relative: singular values of the twists are zero to rounding
_UNCLEAR = 1e-3  # or clear of it
_CLEAR = 0.05  # how much an independent coordinate moves when it alone moves
_UNITS = ((0, 0, 1), (0, 1, 0), (1, 0, 0), (0.6, 0, 0.8), (0.36, 0.48, 0.8), (0.28, -0.96, 0),
          (-0.48, 0.64, 0.6), (0.8, -0.6, 0))  # fmt: skip
# Norms² divide a power of ten, so that rotation matrices are finite decimals.
_TURNS = ((1, 0, 0, 0), (1, 2, 0, 0), (2, 0, 1, 0), (1, 0, 0, 3), (1, 2, 2, 1), (4, 3, 0, 0),
          (1, -2, 2, 4), (1, 1, 0, 0), (1, 1, -1, 1), (3, 1, 1, 3))  # fmt: skip
# Kinds in spatial loops; a kind that holds nothing closes no loop.
_SPATIAL: tuple[JointType, ...] = (
    "revolute", "revolute", "revolute", "prismatic", "helical", "cylindrical", "universal",
    "universal", "spherical", "spherical", "planar", "point_on_line", "point_on_plane", "fixed",
)  # fmt: skip


class NotUsableError(Exception):
    """A draw that cannot move, moves in too many ways, or is special in the reference pose."""


def drawn_model(seed: int, number: int) -> str:
    """Return the text of a model file: the first draw of this number that can be used."""
    for attempt in range(1000):
        draft = Draft(np.random.default_rng((seed, number, attempt)))
        try:
            return draft.text(f"chain_{seed}_{number}", loops=1 + number % 4)
        except NotUsableError:
            continue
    raise AssertionError(f"no mechanism among 1000 draws of {seed}/{number}")


@dataclass(eq=False)
class Draft:
    """A model file while it is drawn."""

    rng: np.random.Generator
    bodies: dict[str, Any] = field(default_factory=dict)
    points: dict[str, Any] = field(default_factory=dict)
    joints: dict[str, Any] = field(default_factory=dict)
    constraints: dict[str, Any] = field(default_factory=dict)
    elements: dict[str, Any] = field(default_factory=dict)
    planes: list[tuple[Exact, list[str]]] = field(default_factory=list)

    # ------------------------------------------------------------------ numbers

    def decimal(self, low: float, high: float) -> Fraction:
        """Return a number with two to four digits after the point."""
        digits = int(self.rng.integers(2, 5))
        return Fraction(round(self.rng.uniform(low, high) * 10**digits), 10**digits)

    def vector(self, size: float = 0.5) -> Exact:
        """Return three decimals."""
        return [self.decimal(-size, size) for _ in range(3)]

    def direction(self) -> Exact:
        """Return a decimal vector, often of unit length."""
        if self.rng.random() < 0.7:
            return [Fraction(str(x)) for x in _UNITS[self.rng.integers(len(_UNITS))]]
        found = [Fraction(int(self.rng.integers(-9, 10)), 10) for _ in range(3)]
        return found if any(found) else self.direction()

    def rotation(self) -> list[Exact]:
        """Return a rotation matrix of decimals."""
        w, x, y, z = map(int, self.rng.permutation(_TURNS[self.rng.integers(len(_TURNS))]))
        n = w * w + x * x + y * y + z * z
        rows = (
            (w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)),
            (2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)),
            (2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z),
        )
        return [[Fraction(t, n) for t in row] for row in rows]

    def chance(self, share: float) -> bool:
        """Return True that often."""
        return bool(self.rng.random() < share)

    def one(self, items: Any) -> Any:
        """Return one of them."""
        return items[int(self.rng.integers(len(items)))]

    # ------------------------------------------------------------------ parts

    def body(self) -> str:
        """Add a body."""
        if len(self.bodies) == MOST_BODIES:
            raise NotUsableError("too large")
        name = f"b{len(self.bodies) + 1}"
        words: dict[str, Any] = {}
        if self.chance(0.6):
            words["frame"] = {"origin": self.vector(), "rotation": self.rotation()}
        if self.chance(0.08):
            words["massless"] = True
        else:
            big = [self.decimal(0.03, 0.05) for _ in range(3)]
            words |= {
                "mass": self.decimal(0.5, 3),
                "center": self.vector(0.2),
                "inertia": dict(zip(("xx", "yy", "zz"), big, strict=True)) | {"about": "center"},
            }
        self.bodies[name] = words
        return name

    def point(self, at: Exact | None = None, body: str | None = None) -> str:
        """Add a hardpoint, or a point given in a body."""
        name = f"P{len(self.points) + 1}"
        place = self.vector() if at is None else at
        self.points[name] = place if body is None else {"in": body, "at": place}
        return name

    def joint(
        self, type: JointType, a: str, b: str, at: Exact | None = None, axis: Exact | None = None
    ) -> str:
        """Add a joint at a hardpoint."""
        kind, name = JOINT_KINDS[type], f"j{len(self.joints) + 1}"
        if self.chance(0.3):
            a, b = b, a
        words: dict[str, Any] = {"type": type, "between": [a, b], "at": self.point(at)}
        along = self.direction() if axis is None else axis
        if "axis" in kind.needs:
            words["axis"] = along
        if "axes" in kind.needs:
            words["axes"] = [along, across(along, self.one(_UNITS))]
        if "pitch" in kind.needs:
            words["pitch"] = self.decimal(0.05, 0.3) * self.one((1, -1))
        if "zero" in kind.needs or len(kind.slides) == 2:
            x = across(along, self.one(_UNITS))
            words["zero"] = [x, x]
        self.joints[name] = words
        return name

    def chain(self, a: str, b: str, kinds: list[JointType], **words: Any) -> None:
        """Add new bodies from a to b, with a joint of each kind."""
        new = [self.body() for _ in kinds[1:]]
        for type, one, other in zip(kinds, [a, *new], [*new, b], strict=True):
            self.joint(type, one, other, **words)

    def known(self) -> list[str]:
        """Return the bodies there are, with the ground."""
        return [GROUND, *self.bodies]

    def pair(self) -> tuple[str, str]:
        """Return two bodies, or one twice where there is only one."""
        a = self.one(self.known())
        return a, self.one([x for x in self.known() if x != a] or [a])

    # ------------------------------------------------------------------ loops

    def spatial(self) -> None:
        """Generic points and axes: as many freedoms as a loop needs to move."""
        a, b = self.pair() if self.chance(0.4) else (self.one(self.known()),) * 2
        wanted = int(self.rng.integers(7, 10)) if a == b else int(self.rng.integers(6, 9))
        kinds: list[JointType] = []
        while (count := sum(JOINT_KINDS[k].n_speeds for k in kinds)) < wanted:
            fitting = [k for k in _SPATIAL if count + JOINT_KINDS[k].n_speeds <= wanted]
            kinds.append(self.one(fitting))
        if len(kinds) < 3 - (a != b):
            raise NotUsableError("two joints between two bodies")
        self.chain(a, b, kinds)

    def planar(self) -> None:
        """Parallel axes on the ground or a moving body, sliders across them."""
        if self.planes and self.chance(0.5):
            axis, members = self.one(self.planes)
            a, b = (members[i] for i in self.rng.permutation(len(members))[:2])
            n = 3 if self.chance(0.7) else 2
        else:
            axis, a = self.direction(), self.one(self.known())
            b, n = a, int(self.rng.integers(4, 6))
            members = [a]
            self.planes.append((axis, members))
        before = len(self.bodies)
        new = [self.body() for _ in range(n - 1)]
        for one, other in zip([a, *new], [*new, b], strict=True):
            slides = self.chance(0.15)
            along = across(axis, self.one(_UNITS)) if slides else axis
            self.joint("prismatic" if slides else "revolute", one, other, axis=along)
        members += self.known()[before + 1 :]

    def parallelogram(self) -> None:
        """Two or three equal bars: the coupler only translates."""
        axis, base, arm = self.direction(), self.one(self.known()), self.vector(0.3)
        coupler = self.body()
        for _ in range(3 if self.chance(0.3) else 2):
            bar, foot = self.body(), self.vector()
            self.joint("revolute", base, bar, foot, axis)
            self.joint("revolute", bar, coupler, [x + d for x, d in zip(foot, arm, strict=True)],
                       axis)  # fmt: skip

    def spheric(self) -> None:
        """Axes through one point."""
        base, center = self.one(self.known()), self.vector()
        new = [self.body() for _ in range(3)]
        for a, b in zip([base, *new], [*new, base], strict=True):
            axis, shift = self.direction(), self.decimal(-0.3, 0.3)
            at = [c + shift * x for c, x in zip(center, axis, strict=True)]
            self.joint("revolute", a, b, at, axis)

    def sarrus(self) -> None:
        """Two chains in planes across each other: the platform goes straight."""
        base, platform = self.one(self.known()), self.body()
        for _ in range(2):
            self.chain(base, platform, ["revolute"] * 3, axis=self.direction())

    def rod(self) -> None:
        """A rod between two balls, which spins."""
        a, b = self.pair()
        if a == b:
            raise NotUsableError("a rod on one body")
        self.chain(a, b, ["spherical", "spherical"])

    def distance(self) -> None:
        """A distance constraint; its length is a decimal, or left out."""
        a, b = self.pair()
        at = self.vector()
        line = [x * self.decimal(0.1, 0.5) for x in self.direction()]
        ends = []
        for body, place in ((a, at), (b, [x + d for x, d in zip(at, line, strict=True)])):
            point = self.point(place)
            if body == GROUND:
                self.points[point] = {"in": GROUND, "at": place}
            else:
                self.bodies[body].setdefault("points", []).append(point)
            ends.append(f"{body}.{point}")
        words = {"type": "distance", "between": ends}
        self.constraints[f"c{len(self.constraints) + 1}"] = words

    def coupling(self) -> None:
        """Gears, racks, a differential: factors are decimals or fractions."""
        known = self.rng.permutation(self.scalars()).tolist()
        found = known[: 3 if self.chance(0.2) else 2]
        if len(found) < 2:
            raise NotUsableError("nothing to couple")
        factors = [self.one([Fraction(-1), Fraction("0.5"), Fraction("-0.75"), Fraction("1.25")])
                   for _ in found]  # fmt: skip
        words: dict[str, Any]
        if len(found) == 2:
            words = {"type": "coupling", "between": found, "ratio": factors[0]}
            if self.chance(0.3):
                words["ratio"] = f"{int(self.rng.integers(11, 40))}/{self.one((-45, 36, -27))}"
        else:
            words = {"type": "coupling", "coordinates": dict(zip(found, factors, strict=True))}
        self.constraints[f"c{len(self.constraints) + 1}"] = words

    def pendant(self) -> None:
        """A body that hangs on others by one joint."""
        type = self.one(("revolute", "prismatic", "helical", "cylindrical", "universal"))
        self.joint(type, self.one(self.known()), self.body())

    def scalars(self) -> list[str]:
        """Return the joint coordinates that are one angle or one displacement."""
        found = []
        for name, words in self.joints.items():
            kind = JOINT_KINDS[words["type"]]
            found += [
                name if len(kind.coordinates) == 1 else f"{name}.{kind.coordinates[k]}"
                for k in range(kind.n_scalars)
            ]
        return found

    # ------------------------------------------------------------------ the rest

    def text(self, name: str, loops: int) -> str:
        """Draw a mechanism with so many loops and return its file."""
        if self.chance(0.15):
            self.pendant()
        if self.chance(0.04):
            self.joint("free", GROUND, self.body())
        makers = [self.spatial] * 3 + [self.planar] * 3 + [self.rod] * 2
        makers += [self.parallelogram, self.spheric, self.sarrus]
        for _ in range(loops):
            self.one(makers)()
        if self.chance(0.3):
            self.pendant()
        if self.chance(0.2):
            self.distance()
        for _ in range(int(self.rng.choice(3, p=[0.6, 0.3, 0.1]))):
            self.coupling()
        if self.chance(0.1):
            self.joint("free", *self.pair())  # measures only
        words: dict[str, Any] = {"mechid": 1, "name": name}
        match int(self.rng.integers(4)):
            case 0:
                words["gravity"] = [0, 0, 0]
            case 1:
                words["gravity"] = [self.decimal(-9, 9) for _ in range(3)]
        mechanism = loads(self._file(words))
        coordinates = self._coordinates(mechanism)
        self._elements()
        return self._file(words | {"coordinates": coordinates})

    def _elements(self) -> None:
        if not (scalars := self.scalars()):
            return
        for kind in ("friction", "torsion_spring", "rotor", "spring_damper"):
            if not self.chance(0.25):
                continue
            unknown = {"value": self.decimal(0.5, 2), "identify": True, "uncertainty": "20 %"}
            joint = self.one(scalars)
            match kind:
                case "friction":
                    words = {"joint": joint, "viscous": unknown, "coulomb": unknown}
                case "torsion_spring":
                    free = self.decimal(-0.5, 0.5)
                    words = {"joint": joint, "stiffness": unknown, "free_angle": free}
                    words["damping"] = unknown
                case "rotor":
                    motor = {"inertia": unknown, "viscous": unknown}
                    words = {"coordinates": [joint], "motors": {"m1": motor}, "matrix": [[2]]}
                case _:
                    a, b = self.pair()
                    words = {"between": [{"in": x, "at": self.vector()} for x in (a, b)]}
                    words |= {
                        "stiffness": unknown,
                        "damping": unknown,
                        "free_length": Fraction("0.3"),
                    }
            kind = "transmission" if kind == "rotor" else kind
            self.elements[f"e{len(self.elements) + 1}"] = {"type": kind, **words}

    def _coordinates(self, mechanism: Mechanism) -> dict[str, Any]:
        """Choose independent coordinates among those of joints and points, by pivoting."""
        twists = Twists(mechanism)
        words: list[dict[str, Any]] = [{"joint": name} for name in self.scalars()]
        rates = [twists.coordinate(*name.partition(".")[::2]) for name in self.scalars()]
        for point in mechanism.points:
            if point.body != GROUND and self.chance(0.2):
                k = int(self.rng.integers(3))
                words.append({"point": f"{point.body}.{point.name}", "along": "xyz"[k]})
                rates.append(twists.point(point.body, np.array(point.local))[k])
        N = twists.motions()
        if not 1 <= N.shape[1] <= MOST_FREEDOMS:
            raise NotUsableError("cannot move, or in too many ways")
        weights = self.rng.uniform(0.5, 1, len(rates))
        _, r, order = scipy.linalg.qr((np.array(rates) @ N).T * weights, pivoting=True)
        n = N.shape[1]
        if r.shape[1] < n or abs(r[n - 1, n - 1]) < _CLEAR:
            raise NotUsableError("nearly dependent")
        found = {f"y{i + 1}": words[k] for i, k in enumerate(sorted(order[:n]))}
        if n > 1 and self.chance(0.1):
            found["y1"]["held"] = True
        return found

    def _file(self, words: dict[str, Any]) -> str:
        parts = ("points", "bodies", "joints", "constraints", "elements")
        whole = words | {key: getattr(self, key) for key in parts if getattr(self, key)}
        return yaml.safe_dump(_plain(whole), sort_keys=False, default_flow_style=None, width=110)


def across(v: Exact, helper: Any) -> Exact:
    """Return a decimal vector normal to another one."""
    h = [Fraction(str(x)) for x in helper]
    found = [v[i - 2] * h[i - 1] - v[i - 1] * h[i - 2] for i in range(3)]
    if any(found):
        return found
    return across(v, (0, 0, 1) if v[0] or v[1] else (1, 0, 0))


def _plain(x: Any) -> Any:
    if isinstance(x, Fraction):
        assert 10**12 % x.denominator == 0, x
        return float(x)
    if isinstance(x, dict):
        return {k: _plain(v) for k, v in x.items()}
    return [_plain(v) for v in x] if isinstance(x, list | tuple) else x


class Twists:
    """Rates that joints and constraints allow in the reference pose.

    Unknowns are ω and v (of the body point at the ground's origin) of every body, then the speeds
    of every joint; of a ball these are the three components of ω.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.body = {b.name: 6 * i for i, b in enumerate(mechanism.bodies)}
        self.speed: dict[str, int] = {}
        self.count = 6 * len(self.body)
        for joint in mechanism.joints:
            self.speed[joint.name] = self.count
            self.count += joint.kind.n_speeds

    def coordinate(self, joint: str, name: str = "") -> Array:
        """Return the row of a single joint coordinate."""
        kind = self.mechanism.joint(joint).kind
        return np.eye(self.count)[self.speed[joint] + (kind.coordinates.index(name) if name else 0)]

    def point(self, body: str, local: Array) -> Array:
        """Return the rows of the velocity of a point fixed in a body."""
        rows = np.zeros((3, self.count))
        if body != GROUND:
            r = self._place(body, local)
            k = self.body[body]
            rows[:, k : k + 3] = [[0, r[2], -r[1]], [-r[2], 0, r[0]], [r[1], -r[0], 0]]
            rows[:, k + 3 : k + 6] = np.eye(3)
        return rows

    def motions(self) -> Array:
        """Return the motions that are left, spins of rods between balls held."""
        rows = [self._joint(j) for j in self.mechanism.joints]
        for c in self.mechanism.couplings:
            row = np.zeros(self.count)
            for name, index, factor in c.terms:
                row[self.speed[name] + index] += factor
            rows.append(row[None])
        for d in self.mechanism.distances:
            a, b = (np.array(p.local) for p in (d.point_a, d.point_b))
            line = self._place(d.point_b.body, b) - self._place(d.point_a.body, a)
            row = line @ (self.point(d.point_b.body, b) - self.point(d.point_a.body, a))
            rows.append(row[None] / np.linalg.norm(line))
        for part in passive_parts(self.mechanism):
            row = np.zeros(self.count)
            frame = np.array(self.mechanism.body(part.inside).frame.rotation)
            other = np.array(self.mechanism.body(part.outside).frame.rotation)
            line = np.cross(frame @ part.direction_inside, other @ part.direction_outside)
            for name, sign in ((part.inside, 1.0), (part.outside, -1.0)):
                if name != GROUND:
                    row[self.body[name] : self.body[name] + 3] = sign * line
            rows.append(row[None])
        J = np.vstack(rows)
        s = scipy.linalg.svdvals(J)
        if np.any((s > _RANK * s[0]) & (s < _UNCLEAR * s[0])):
            raise NotUsableError("nearly singular")
        return scipy.linalg.null_space(J, rcond=_RANK)

    def _joint(self, joint: Joint) -> Array:
        rows = np.zeros((6, self.count))
        for name, sign in ((joint.body_b, 1.0), (joint.body_a, -1.0)):
            if name != GROUND:
                rows[:, self.body[name] : self.body[name] + 6] = sign * np.eye(6)
        Ra, Rb = (
            np.array(self.mechanism.body(body).frame.rotation) @ np.array(frame.rotation)
            for body, frame in ((joint.body_a, joint.frame_a), (joint.body_b, joint.frame_b))
        )
        at = self._place(joint.body_b, np.array(joint.frame_b.origin))
        columns: list[Array] = []
        for step in joint.kind.steps:
            axis = (Ra, Rb)[step.on][:, step.axis]
            turn = np.concatenate([axis, np.cross(at, axis)])
            slide = np.concatenate([np.zeros(3), axis])
            match step.motion:
                case "turn":
                    columns.append(turn)
                case "slide":
                    columns.append(slide)
                case "screw":
                    columns.append(turn + joint.pitch / (2 * np.pi) * slide)
                case "ball":
                    columns += [np.concatenate([e, np.cross(at, e)]) for e in np.eye(3)]
        k = self.speed[joint.name]
        if columns:
            rows[:, k : k + len(columns)] = -np.array(columns).T
        return rows

    def _place(self, body: str, local: Array) -> Array:
        frame = self.mechanism.body(body).frame
        return np.asarray(np.array(frame.origin) + np.array(frame.rotation) @ local)
