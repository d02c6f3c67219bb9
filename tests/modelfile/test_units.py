"""Files in other units load to the same mechanism: every file of the zoo in mm, t and degrees."""

from __future__ import annotations

import copy
import math
from dataclasses import fields, is_dataclass
from decimal import Decimal
from typing import Any

import pytest

from mechid.errors import ModelError
from mechid.mechanism.element_kinds import ELEMENT_KINDS
from mechid.mechanism.records import Frame, Mechanism, Parameter, Point
from mechid.modelfile import build, dumps, load, loads, zoo, zoo_path
from mechid.modelfile.include import merged
from mechid.textfile.expressions import evaluate_text
from mechid.textfile.yamlio import read_file, write

DEGREE = math.pi / 180

# ------------------------------------------------------- a file of the zoo in mm, t and degrees

LENGTHS = ("center", "ground", "radius", "width", "size", "free_length", "pitch", "b", "d", "r")
ANGLES = ("gamma", "alpha", "theta", "free_angle", "rpy")


def times(value: Any, factor: str | float) -> Any:
    """Return a number, or the numbers of a list, times a factor; text becomes an expression."""
    if isinstance(value, list):
        return [times(v, factor) for v in value]
    if isinstance(value, dict):  # a coefficient
        return {
            k: times(v, factor) if k in ("value", "uncertainty") else v for k, v in value.items()
        }
    if isinstance(value, str):
        return value if value.endswith("%") else f"({value})*({factor})"
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(factor, str):
        return float(Decimal(repr(value)) * Decimal(factor))
    return value * factor


def angle(value: Any) -> Any:
    """Return an angle in degrees; text says its unit, or has parameters that are in degrees."""
    if isinstance(value, list):
        return [angle(v) for v in value]
    if isinstance(value, str):
        return f"({value}) rad" if "pi" in value else value
    return None if value is None else value / DEGREE


def per_coordinate(value: Any, unit: str, power: int) -> Any:
    """Return what has N or N m per (m or rad) to a power, in N or N mm per (mm or degree)."""
    if unit == "m":
        return times(value, {0: "1", -1: "1000", 1: "0.001"}[power])
    return times(value, 1000 * DEGREE**power)


class Rewriter:
    """Rewrites the data of a file, section by section."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.types: dict[str, str] = {}
        for part in (data, *data.get("subassemblies", {}).values()):
            for name, joint in part.get("joints", {}).items():
                self.types[name] = joint["type"]
        for i, row in enumerate(data.get("denavit_hartenberg", []), 1):
            self.types[row.get("joint", f"q{row.get('link', i)}")] = row["type"]
        for name in list(self.types):
            for use in data.get("use", {}).values():
                final = f"{use.get('prefix', '')}{name}{use.get('suffix', '')}"
                self.types.setdefault(final, self.types[name])
        self.coordinates: dict[str, str] = {}
        for part in (data, *data.get("subassemblies", {}).values()):
            for name, c in part.get("coordinates", {}).items():
                self.coordinates[name] = self.unit(c["joint"]) if "joint" in c else "m"
        for use in data.get("use", {}).values():
            for name in data["subassemblies"][use["subassembly"]].get("coordinates", {}):
                final = f"{use.get('prefix', '')}{name}{use.get('suffix', '')}"
                self.coordinates[final] = self.coordinates[name]

    def unit(self, word: str) -> str:
        name, _, choice = word.partition(".")
        slides = self.types[name] in ("P", "prismatic") or choice in ("displacement", "x", "y", "z")
        return "m" if slides else "rad"

    def file(self, data: dict[str, Any]) -> dict[str, Any]:
        new = self.part(data)
        if "gravity" in data:
            new["gravity"] = times(data["gravity"], "1000")
        for name, part in data.get("subassemblies", {}).items():
            new["subassemblies"][name] = self.part(part)
        for use in new.get("use", {}).values():
            if isinstance(use.get("mirror"), dict) and "point" in use["mirror"]:
                use["mirror"]["point"] = times(use["mirror"]["point"], "1000")
        if "denavit_hartenberg" in data:
            new["denavit_hartenberg"] = [self.row(row) for row in data["denavit_hartenberg"]]
        for values in new.get("start", {}).values():
            for name, value in values.items():
                whole = name.partition(".")[0]
                kind = "m" if name.endswith((".x", ".y", ".z")) else self.coordinates[whole]
                values[name] = times(value, "1000") if kind == "m" else angle(value)
        return new

    def part(self, data: dict[str, Any]) -> dict[str, Any]:
        new = copy.deepcopy(data)
        for name, point in data.get("points", {}).items():
            new["points"][name] = self.point(point)
        for name, body in data.get("bodies", {}).items():
            new["bodies"][name] = self.body(body)
        for name, joint in data.get("joints", {}).items():
            new["joints"][name] = self.joint(joint, name)
        for name, element in data.get("elements", {}).items():
            new["elements"][name] = self.element(element)
        for name, c in data.get("constraints", {}).items():
            new["constraints"][name] = self.constraint(c)
        for name, c in data.get("coordinates", {}).items():
            for key in ("point", "distance"):
                if key in (c or {}):
                    new["coordinates"][name][key] = self.points(c[key])
        return new

    def point(self, p: Any) -> Any:
        if isinstance(p, list):
            return times(p, "1000") if len(p) == 3 else [self.point(q) for q in p]
        if isinstance(p, dict):
            new = dict(p)
            for key in ("at", "rounded"):
                new |= {key: times(p[key], "1000")} if key in p else {}
            if "on" in p:
                new["on"] = {body: self.point(at) for body, at in p["on"].items()}
            if "between" in p:
                new["between"] = [self.point(q) for q in p["between"]]
            return new
        return p

    def points(self, p: Any) -> Any:
        return [self.point(q) for q in p] if isinstance(p, list) else self.point(p)

    def direction(self, d: Any) -> Any:
        if isinstance(d, dict):
            return {k: self.point(v) if k in ("from", "to") else v for k, v in d.items()}
        return [self.direction(v) for v in d] if isinstance(d, list) and len(d) == 2 else d

    def joint(self, joint: Any, name: str) -> Any:
        if not isinstance(joint, dict):
            return joint
        new = dict(joint)
        kind = joint.get("type", self.types.get(name, "R"))
        for key, value in joint.items():
            if key == "at":
                new[key] = self.point(value)
            elif key in ("axis", "axes", "zero"):
                new[key] = self.direction(value)
            elif key == "pitch":
                new[key] = times(value, "1000")
            elif key == "limits":
                new[key] = times(value, "1000") if kind in ("P", "prismatic") else angle(value)
                if kind in ("C", "cylindrical"):
                    new[key] = [angle(value[0]), times(value[1], "1000")]
                if kind in ("E", "planar"):
                    new[key] = [times(value[0], "1000"), times(value[1], "1000"), angle(value[2])]
        return new

    def constraint(self, c: dict[str, Any]) -> dict[str, Any]:
        if c["type"] == "distance":
            lengths = {"length": times(c["length"], "1000")} if "length" in c else {}
            return c | {"between": self.points(c["between"])} | lengths
        size = {"m": 1000.0, "rad": 1 / DEGREE}
        words = c.get("between") or list(c["coordinates"])
        first, *_ = units = [size[self.unit(word)] for word in words]
        new = dict(c)
        if "ratio" in c:
            new["ratio"] = times(c["ratio"], first / units[1])
        for word, unit in zip(c.get("coordinates", {}), units, strict=False):
            new["coordinates"] = new["coordinates"] | {
                word: times(c["coordinates"][word], first / unit)
            }
        return new | ({"constant": times(c["constant"], first)} if "constant" in c else {})

    def row(self, row: dict[str, Any]) -> dict[str, Any]:
        new = dict(row)
        slides = row.get("type") in ("P", "prismatic")
        for key, value in row.items():
            if key in LENGTHS or (slides and key in ("at", "limits")):
                new[key] = times(value, "1000")
            elif key in ANGLES or key in ("at", "limits"):
                new[key] = angle(value)
            elif key == "to":
                new[key] = self.row(value)
        return new

    def body(self, body: Any) -> Any:
        if not isinstance(body, dict):
            return body
        new = copy.deepcopy(body)
        if frame := body.get("frame"):
            for key, value in frame.items():
                if key == "origin":
                    new["frame"][key] = self.point(value)
                elif key in "xyz":
                    new["frame"][key] = self.direction(value)
        if "mass" in body:
            new["mass"] = times(body["mass"], "0.001")
        if "point_masses" in body:
            new["point_masses"] = [
                {"mass": times(p["mass"], "0.001"), "at": self.point(p["at"])}
                for p in body["point_masses"]
            ]
        if isinstance(center := body.get("center"), dict):
            new["center"] = {"ground": times(center["ground"], "1000")}
        elif center:
            new["center"] = times(center, "1000")
        for key, value in (body.get("inertia") or {}).items():
            if key != "about":
                new["inertia"][key] = times(value, "1000")
        for key, value in (body.get("uncertainty") or {}).items():
            factor = {"mass": "0.001"}.get(key, "1000")
            new["uncertainty"][key] = (
                {k: times(v, factor) for k, v in value.items()}
                if isinstance(value, dict)
                else times(value, factor)
            )
        for shape in new.get("shapes") or []:
            for words in shape.values():
                for key, value in words.items():
                    if key != "axis" and not (
                        isinstance(value, str) and key in ("center", "from", "to")
                    ):
                        words[key] = times(value, "1000")
        return new

    def element(self, e: Any) -> Any:
        if not isinstance(e, dict):
            return e
        new = dict(e)
        match e.get("type"):
            case "spring_damper":
                new["between"] = self.points(e["between"])
                powers = {"stiffness": "0.001", "damping": "0.001", "free_length": "1000"}
                new |= {k: times(e[k], f) for k, f in powers.items() if k in e}
            case "torsion_spring" | "friction":
                unit = self.unit(e["joint"])
                powers = {"stiffness": 1, "damping": 1, "viscous": 1, "coulomb": 0}
                new |= {k: per_coordinate(e[k], unit, n) for k, n in powers.items() if k in e}
                if "free_angle" in e:
                    free = e["free_angle"]
                    new["free_angle"] = times(free, "1000") if unit == "m" else angle(free)
            case "transmission":
                units = [self.unit(word) for word in e["coordinates"]]
                new["matrix"] = [
                    [
                        s if unit == "rad" else times(s, 1 / DEGREE / 1000)
                        for s, unit in zip(row, units, strict=True)
                    ]
                    for row in e["matrix"]
                ]
                factors = {"inertia": "1000", "viscous": 1000 * DEGREE, "coulomb": "1000"}
                new["motors"] = {
                    name: {k: times(v, factors[k]) for k, v in motor.items()}
                    for name, motor in e["motors"].items()
                }
            case "moment":
                new["vector"] = times(e["vector"], "1000")
        if "at" in e:
            new["at"] = self.point(e["at"])
        return new


def angles_in_degrees(data: dict[str, Any]) -> None:
    """Convert parameters that are angles without saying so."""
    for spec in data.get("parameters", {}).values():
        if (
            isinstance(spec, dict)
            and spec.get("unit") == "rad"
            and not isinstance(spec["value"], str)
        ):
            spec["value"] = spec["value"] / DEGREE


# ------------------------------------------------------------------------------- comparison


def same(a: Any, b: Any, where: str = "") -> None:
    """Demand that two records are equal to rounding; expressions are compared by their values."""
    if isinstance(a, float) and isinstance(b, float):
        assert b == pytest.approx(a, rel=1e-12, abs=1e-13), where
    elif isinstance(a, tuple):
        assert len(a) == len(b), where
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            same(x, y, f"{where}[{i}]")
    elif is_dataclass(a) and not isinstance(a, Parameter):
        assert type(a) is type(b), where
        for f in fields(a):
            if f.name not in ("expr", "exprs", "origin_expr", "rotation_expr"):
                same(getattr(a, f.name), getattr(b, f.name), f"{where}.{f.name}")
            else:
                assert (getattr(a, f.name) is None) == (getattr(b, f.name) is None), where
    elif isinstance(a, Parameter):
        assert (a.name, a.unit, a.source) == (b.name, b.unit, b.source) or a.unit == "rad"
    else:
        assert a == b, where


def check_expressions(m: Mechanism) -> None:
    """Demand that every expression has the value that stands beside it."""
    values = {p.name: p.value for p in m.parameters}
    frames = [f for j in m.joints for f in (j.frame_a, j.frame_b)] + [b.frame for b in m.bodies]
    pairs: list[tuple[Any, Any]] = [(p.local, p.expr) for p in m.points if isinstance(p, Point)]
    pairs += [(f.origin, f.origin_expr) for f in frames if isinstance(f, Frame)]
    for numbers, texts in pairs:
        if texts is not None:
            found = [evaluate_text(text, values) for text in texts]
            assert found == pytest.approx(list(numbers), rel=1e-12, abs=1e-14)


NAMES = [
    spec
    for entry in zoo()
    for spec in (entry.name, *(f"{entry.name}@{variant}" for variant, _ in entry.variants))
]


@pytest.mark.slow
@pytest.mark.parametrize("spec", NAMES)
def test_zoo_in_millimetres_tonnes_and_degrees(spec: str) -> None:
    name, _, variant = spec.partition("@")
    data, _ = read_file(zoo_path(name), name)
    data = merged(data, data.pop("variants", {}).get(variant, {}), ())
    angles_in_degrees(data)
    other = Rewriter(data).file(data)
    other["units"] = {"length": "mm", "mass": "t", "angle": "deg"}
    expected = load(spec)
    found = loads(write(other))
    same(expected, found, spec)
    check_expressions(found)
    assert loads(dumps(found)) == found


# ------------------------------------------------------------------------------ single numbers


def small(units: dict[str, str], **words: Any) -> Mechanism:
    parts: dict[str, Any] = {
        "bodies": {"b": {}},
        "joints": {"j": {"type": "R", "between": ["ground", "b"], "at": "P", "axis": "y"}},
        "points": {"P": [250, "l/2", 0]},
        "parameters": {"l": 1000},
        "coordinates": {"q": {"joint": "j"}},
    }
    return build(name="m", units=units, **{**parts, **words})


def test_numbers_are_converted_to_the_last_digit_and_expressions_stay_exact() -> None:
    m = small({"length": "mm"})
    P = m.point("P", "ground")
    assert P.local == (0.25, 0.5, 0)
    assert P.expr == ("0.25", "l / 2 / 1000", "0")
    assert m.parameters[0].value == 1000


@pytest.mark.parametrize(
    ("units", "metres"),
    [("m", 250), ("cm", 2.5), ("mm", 0.25), ("in", 6.35), ("ft", 76.2)],
)
def test_lengths(units: str, metres: float) -> None:
    assert small({"length": units}).point("P", "ground").local[0] == metres


def test_units_of_force() -> None:
    element = {"type": "force", "body": "b", "at": "P", "vector": [1, 0, 0]}
    spring = {
        "type": "spring_damper",
        "between": ["ground.P", "b.Q"],
        "stiffness": {"value": 3, "identify": True, "uncertainty": 0.5},
        "damping": {"value": 2, "uncertainty": "5 %"},
        "free_length": 40,
    }
    points = {"P": [0, 0, 0], "Q": {"in": "b", "at": [10, 0, 0]}}
    words = {"elements": {"f": element, "k": spring}, "points": points}

    def numbers(**units: str) -> list[float]:
        text = dumps(small(units, **words))
        m = loads(text)
        f, k = m.elements
        stiffness, damping = k.parts[0]["stiffness"], k.parts[0]["damping"]
        return [f.direction[0], stiffness.value, stiffness.sigma, damping.value, damping.sigma]

    # g mm/s² is 1e-6 N; with it the stiffness 1e-3 N/m.
    assert numbers(length="mm", mass="g") == pytest.approx([1e-6, 3e-3, 5e-4, 2e-3, 1e-4])
    assert numbers(length="mm", mass="g", force="kN") == pytest.approx([1e3, 3e6, 5e5, 2e6, 1e5])
    assert numbers(length="mm", mass="t") == pytest.approx([1, 3e3, 500, 2e3, 100])
    assert numbers(length="mm", mass="t", time="ms") == pytest.approx([1e6, 3e9, 5e8, 2e6, 1e5])
    assert numbers(length="in", mass="lb", force="lbf") == pytest.approx(
        [4.4482216152605, *(x * 4.4482216152605 / 0.0254 for x in (3, 0.5, 2, 0.1))]
    )


def test_angles_in_expressions() -> None:
    """In a file in degrees functions take and give degrees; a unit that is written counts."""
    m = small(
        {"angle": "deg"},
        parameters={"a": 30, "b": "0.5 rad", "c": "atan2(1, 1)", "d": "a + 15 deg"},
        points={"P": ["sin(a)", "cos(60 deg)", "tan(c)"]},
        start={"positions": {"q": 90}, "speeds": {"q": "2*a"}},
        joints={
            "j": {
                "type": "R",
                "between": ["ground", "b"],
                "at": "P",
                "axis": "y",
                "limits": ["-a", "3 rad"],
            }
        },
    )
    values = {p.name: p.value for p in m.parameters}
    assert values == pytest.approx({"a": 30, "b": 0.5 / DEGREE, "c": 45, "d": 45})
    assert m.point("P", "ground").local == pytest.approx((0.5, 0.5, 1))
    assert m.point("P", "ground").expr == (
        "sin(a * pi / 180)",
        "cos(60 * pi / 180)",
        "tan(c * pi / 180)",
    )
    assert m.start.positions[0][1] == pytest.approx(math.pi / 2)
    assert m.start.speeds[0][1] == pytest.approx(math.pi / 3)
    limit = m.joint("j").limits[0]
    assert (limit.lower, limit.upper) == pytest.approx((-math.pi / 6, 3))


def test_quarter_turns_of_a_table_stay_exact() -> None:
    row = {"link": 1, "antecedent": 0, "type": "R", "alpha": 90, "d": 300, "rotor": {"ratio": 5}}
    m = build(name="m", units={"length": "mm", "angle": "deg"}, denavit_hartenberg=[row])
    assert m.joint("q1").frame_a.rotation == ((1, 0, 0), (0, 0, -1), (0, 1, 0))
    assert m.joint("q1").frame_a.origin_expr == ("0.3", "0", "0")


def test_default_gravity_is_that_of_the_earth() -> None:
    assert small({"length": "mm"}).gravity == (0, 0, -9.81)
    assert small({"length": "mm"}, gravity=[0, -9810, 0]).gravity == (0, -9.81, 0)
    assert small({"length": "mm"}, gravity="-y").gravity == (0, -9.81, 0)
    assert small({"length": "mm"}, gravity={"magnitude": 1620}).gravity == (0, 0, -1.62)


def test_new_words_have_units_too() -> None:
    m = small(
        {"length": "mm", "mass": "g", "angle": "deg"},
        bodies={
            "b": {
                "frame": {"origin": [10, 0, 0], "rpy": [0, 0, 90]},
                "point_masses": [{"mass": 500, "at": [0, 100, 0]}],
                "mass": 1500,
                "center": [0, 0, 20],
                "inertia": {
                    "about": [0, 0, 0],
                    "axes": {"rpy": [90, 0, 0]},
                    "xx": 3e6,
                    "yy": 2e6,
                    "zz": 3e6,
                },
                "uncertainty": {"mass": 100, "center": 2, "inertia": 1e4},
            }
        },
    )
    found = m.body("b").inertia
    assert found is not None
    assert found.mass == pytest.approx(2)
    assert found.center == pytest.approx((0, 0.025, 0.015))
    assert (found.sigma_mass, found.sigma_center[0], found.sigma_inertia[0]) == pytest.approx(
        (0.1, 0.002, 1e-5)
    )
    assert m.body("b").frame.rotation == ((0, -1, 0), (1, 0, 0), (0, 0, 1))


def test_rounded_coordinates() -> None:
    m = small(
        {"length": "mm"},
        points={"P": {"on": {"ground": {"rounded": [1, 2, 3], "expr": ["1", "l", "3"]}}}},
    )
    P = m.point("P", "ground")
    assert P.local == (0.001, 0.002, 0.003)
    assert P.expr == ("0.001", "l / 1000", "0.003")


@pytest.mark.parametrize(
    ("units", "message"),
    [
        ({"length": "miles"}, r"units\.length: expected 'm', 'cm', 'mm', 'in' or 'ft', got"),
        ({"lenght": "mm"}, r"units\.lenght: unknown key lenght; did you mean length\?"),
        ("mm", r"units: expected a mapping, got \"mm\""),
        ({"angle": "grad"}, r"units\.angle: expected 'rad' or 'deg', got \"grad\""),
    ],
)
def test_errors(units: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        small(units)


def test_numbers_that_are_too_large() -> None:
    with pytest.raises(ModelError, match=r"points\.P"):
        small({"mass": "t", "length": "ft"}, points={"P": [1e308, 0, 0], "Q": [10**308, 0, 0]})


def test_every_coefficient_of_every_element_has_a_unit() -> None:
    """Without one in the table, files in mm would be read wrongly."""
    for name, kind in ELEMENT_KINDS.items():
        for key in kind.keys:
            assert key.unit or key.form in ("number", "numbers"), (name, key.name)


def on_a_slider(
    units: dict[str, str] | None, joint_type: str, element: dict[str, Any]
) -> Mechanism:
    joint = {"type": joint_type, "between": ["ground", "b"], "at": [0, 0, 0]}
    joint |= {} if joint_type == "F" else {"axis": "z"}
    return build(
        name="m",
        units=units or {},
        bodies={"b": {}},
        joints={"j": joint},
        coordinates={"q": {"joint": "j"}},
        elements={"e": element},
    )


# Per key: (number in mm, t, degrees; in SI) on a slider and on a hinge.
D = DEGREE
CASES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    (
        "P",
        {
            "type": "polynomial_spring_damper",
            "joint": "j",
            "stiffness": [2, 3],
            "damping": [5, 7],
            "free": 4,
            "preload": 6,
        },
        {"stiffness": [2e3, 3e6], "damping": [5e3, 7e6], "free": 4e-3, "preload": 6},
    ),
    (
        "R",
        {"type": "polynomial_spring_damper", "joint": "j", "stiffness": [2, 3], "free": 4},
        {"stiffness": [2e-3 / D, 3e-3 / D**2], "free": 4 * D},
    ),
    (
        "P",
        {
            "type": "piecewise_spring_damper",
            "joint": "j",
            "stiffness": [1, 2],
            "knots": [30],
            "free": 0,
            "damping": [3, 4],
            "speed_knots": [50],
        },
        {
            "stiffness": [1e3, 2e3],
            "knots": [0.03],
            "free": 0,
            "damping": [3e3, 4e3],
            "speed_knots": [0.05],
        },
    ),
    (
        "F",
        {"type": "bushing", "joint": "j", "stiffness": [1, 2, 3, 4, 5, 6], "preload": [1] * 6},
        {
            "stiffness": [1e3, 2e3, 3e3, 4e-3 / D, 5e-3 / D, 6e-3 / D],
            "preload": [1, 1, 1, 1e-3, 1e-3, 1e-3],
        },
    ),
    (
        "R",
        {"type": "friction", "joint": "j", "stribeck": 3, "stribeck_speed": 90, "smoothing": 2},
        {"stribeck": 3e-3, "stribeck_speed": 90 * D, "smoothing": 2 * D},
    ),
    ("P", {"type": "joint_force", "joint": "j", "force": 3}, {"force": 3}),
    ("R", {"type": "joint_force", "joint": "j", "force": 3}, {"force": 3e-3}),
    (
        "R",
        {"type": "moment", "body": "b", "direction": [0, 0, 2], "magnitude": 5},
        {"magnitude": 5e-3},
    ),
    ("R", {"type": "moment", "body": "b", "vector": [0, 0, 2]}, {"vector": [0, 0, 2e-3]}),
]


COUPLINGS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    # 2 mm per degree; 1 mm + 3 mm/° · q = 5 mm
    (
        {"between": ["slide", "turn"], "ratio": 2, "constant": 7},
        {"ratio": 2e-3 / D, "constant": 7e-3},
    ),
    (
        {"coordinates": {"slide": 1, "turn": 3}, "constant": 5},
        {"coordinates": {"slide": 1, "turn": 3e-3 / D}, "constant": 5e-3},
    ),
    (
        {"coordinates": {"turn": 2, "slide": "1/2"}, "constant": 90},
        {"coordinates": {"turn": 2, "slide": 500 * D}, "constant": 90 * D},
    ),
]


@pytest.mark.parametrize(("words", "si"), COUPLINGS)
def test_couplings(words: dict[str, Any], si: dict[str, Any]) -> None:
    def rack(given: dict[str, Any], **units: str) -> Mechanism:
        joint = {"at": [0, 0, 0], "axis": "z"}
        return build(
            name="m",
            units=units,
            bodies={"a": {}, "b": {}},
            joints={
                "slide": {"type": "P", "between": ["ground", "a"], **joint},
                "turn": {"type": "R", "between": ["ground", "b"], **joint},
            },
            constraints={"mesh": {"type": "coupling", **given}},
            coordinates={"q": {"joint": "turn"}},
        )

    found, expected = rack(words, length="mm", angle="deg"), rack(words | si)
    for one, other in zip(found.constraints, expected.constraints, strict=True):
        assert [t[:2] for t in one.terms] == [t[:2] for t in other.terms]
        assert [t[2] for t in one.terms] == pytest.approx([t[2] for t in other.terms])
        assert one.constant == pytest.approx(other.constant)


def test_distances_and_times() -> None:
    points = {"P": [0, 0, 0], "Q": {"in": "b", "at": [0, 0, 30]}}
    m = small(
        {"length": "mm", "time": "ms"},
        points=points,
        constraints={"rod": {"type": "distance", "between": ["ground.P", "b.Q"], "length": 30}},
        elements={
            "push": {
                "type": "joint_force",
                "joint": "j",
                "force": 1,
                "over_time": {"time": [0, 500], "factor": [1, 2]},
            }
        },
    )
    assert m.constraints[0].length == 0.03
    assert m.elements[0].history.time == (0, 0.5)


@pytest.mark.parametrize(("joint_type", "words", "si"), CASES)
def test_elements(joint_type: str, words: dict[str, Any], si: dict[str, Any]) -> None:
    found = on_a_slider({"length": "mm", "mass": "t", "angle": "deg"}, joint_type, words)
    expected = on_a_slider(None, joint_type, words | si)
    same(expected.elements, found.elements)
