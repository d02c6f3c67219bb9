"""Templates that are filled with the numbers of the zoo have the forces of the zoo.

The rows are written here from the records of the zoo: points in the ground frame, inertia by
Steiner and by rotation, in mm and t, in any order, about the centre or about the origin.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import yaml

import mechid
from mechid.importing.hardpoint_targets import targets
from mechid.importing.template import template_model
from mechid.kinematics.model import kinematic_model
from mechid.mechanism.records import Mechanism

Array = npt.NDArray[np.float64]
BODY_TITLES = (
    "body", "Inertia Unit", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz", "about", "axes", "mass",
    "mass unit", "center unit", "cx", "cy", "cz", "center in",
)  # fmt: skip


def point(name: str) -> Callable[[Mechanism], Array]:
    def place(m: Mechanism) -> Array:
        p = next(p for p in m.points if p.name == name)
        frame = m.body(p.body).frame
        return np.array(frame.origin) + np.array(frame.rotation) @ np.array(p.local)

    return place


def along(start: str, name: str) -> Callable[[Mechanism], Array]:
    """Return a point 0.1 m from another one, along the axis of a joint."""

    def place(m: Mechanism) -> Array:
        joint = next(j for j in m.joints if j.name == name)
        R = np.array(m.body(joint.body_b).frame.rotation) @ np.array(joint.frame_b.rotation)
        return point(start)(m) + 0.1 * R[:, 2]

    return place


@dataclass(frozen=True)
class Case:
    """A template, a model of the zoo, and what that calls the points and bodies of the template."""

    template: str
    zoo: str
    mirror: bool = False
    suffix: str = ""
    points: Mapping[str, Callable[[Mechanism], Array]] = field(default_factory=dict)
    bodies: Mapping[str, str] = field(default_factory=dict)
    local: tuple[str, ...] = ()  # bodies with several copies: seen from their own frame


CASES = [
    Case(
        "double-wishbone",
        "double_wishbone",
        mirror=True,
        suffix="_left",
        points={"spindle": along("wheel_centre_left", "hub_left")},
    ),
    Case("macpherson", "macpherson", points={"spindle": along("wheel_centre", "hub")}),
    Case(
        "push-rod",
        "pushrod_suspension",
        mirror=True,
        suffix="_l",
        points={"K_axis": along("K_l", "hub_l"), "C_axis": along("C_l", "crank_l")},
        bodies={"strut_crank": "strut_upper_l", "strut_chassis": "strut_lower_l"},
    ),
    Case("four-bar", "four_bar"),
    Case(
        "stewart",
        "stewart_platform",
        suffix="_1",
        points={
            "platform_centre": lambda m: np.array(m.body("platform").frame.origin),
            **{f"leg_{i}.{p}": point(f"{p}_{i}") for i in range(1, 7) for p in ("foot", "head")},
        },
        local=("cylinder", "rod"),
    ),
]


def forces(m: Mechanism) -> Array:
    """Return W φ + known, τ of random motions about the reference pose (N, n_i)."""
    rng = np.random.default_rng(4)
    n = len(m.coordinates)
    y = kinematic_model(m).home_y + 0.01 * rng.standard_normal((12, n))
    yd, ydd = rng.standard_normal((2, 12, n))
    return mechid.inverse_dynamics(mechid.solve_motion(m, y, yd, ydd)).tau


def table_of(case: Case, zoo: Mechanism, about: str) -> list[list[object]]:
    """Return the numbers of the zoo in mm and t, seen from the ground, in random order."""
    data, _ = template_model(case.template, mirror=case.mirror)
    wanted, rng = targets(data), np.random.default_rng(7)
    table: list[list[object]] = [["hardpoint", "y", "x", "z", "unit"]]
    known = [p.name for p in zoo.points]
    for name in rng.permutation(list(wanted.points)):
        own = str(name) if name in known else f"{name}{case.suffix}"
        x, y, z = (repr(1000 * float(v)) for v in case.points.get(name, point(own))(zoo))
        table.append([name, y, x, z, "mm"])
    table.append(list(BODY_TITLES))
    known = [b.name for b in zoo.bodies]
    for name in rng.permutation(list(wanted.bodies)):
        own = str(name) if name in known else f"{name}{case.suffix}"
        body = zoo.body(case.bodies.get(name, own))
        assert body.inertia is not None
        m, frame = body.inertia.mass, "body" if name in case.local else "ground"
        R, origin = np.array(body.frame.rotation), np.array(body.frame.origin)
        if frame == "body":
            R, origin = np.eye(3), np.zeros(3)
        xx, xy, xz, yy, yz, zz = body.inertia.inertia_center
        tensor = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
        d = R @ np.array(body.inertia.center)
        if about == "origin":
            tensor = tensor + m * (d @ d * np.eye(3) - np.outer(d, d))
        six = [repr(1000 * float(tensor[k])) for k in zip(*np.triu_indices(3), strict=True)]
        center = [repr(1000 * float(v)) for v in origin + d]
        table.append(
            [name, "t mm^2", *six, about, frame, repr(m / 1000), "t", "mm", *center, frame]
        )
    return table


def write_rows(path: Path, rows: list[list[object]]) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file, delimiter=";").writerows(rows)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("about", ["centre", "origin"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.template)
def test_forces_are_those_of_the_zoo(case: Case, about: str, tmp_path: Path) -> None:
    zoo = mechid.load(case.zoo)
    model, *_ = mechid.template(case.template, tmp_path, mirror=case.mirror)
    table = table_of(case, zoo, about)
    # First another mechanism, so that every number has to come from the table.
    rng = np.random.default_rng(1)
    other = table_of(case, zoo, "centre")
    width = kinematic_model(zoo).size
    for row in other:
        if len(row) == 5 and row[0] != "hardpoint":
            row[1:4] = [float(str(v)) + 20 * width * rng.uniform(-1, 1) for v in row[1:4]]
        elif len(row) > 5 and row[0] != "body":
            row[2:8] = [1.3 * float(str(v)) for v in row[2:8]]
            row[10] = 1.3 * float(str(row[10]))
            row[13:16] = [float(str(v)) + 1 for v in row[13:16]]
    if case.template == "four-bar":  # a plane mechanism stays one
        for row in other[1:5]:
            row[3] = 0.0
    moved = mechid.fill(model, write_rows(tmp_path / "other.csv", other))
    (tmp_path / "other.yaml").write_text(moved.text)
    filled = mechid.fill(tmp_path / "other.yaml", write_rows(tmp_path / "zoo.csv", table))
    assert filled.kept == ()
    assert filled.warnings == ()
    (tmp_path / "filled.yaml").write_text(filled.text)
    right, found = forces(zoo), forces(mechid.load(tmp_path / "filled.yaml"))
    size = np.abs(right).max(axis=0)
    assert np.all(np.abs(found - right).max(axis=0) < 1e-9 * size)
    assert np.any(np.abs(forces(moved.mechanism) - right).max(axis=0) > 1e-3 * size)


def test_parameters_of_the_zoo(tmp_path: Path) -> None:
    """Lengths in cm, an angle in rad and a mass in g give the delta robot of the zoo."""
    zoo = mechid.load("delta")
    values = {p.name: p.value for p in zoo.parameters}
    lengths = ("base_radius", "platform_radius", "arm_length", "rod_length", "half_width")
    rows: list[list[object]] = [["parameter", "unit", "value"]]
    rows += [[name, "cm", repr(100 * values[name])] for name in lengths]
    rows += [["rod_mass", "g", repr(1000 * values["rod_mass"])]]
    rows += [["arm_angle", "rad", repr(float(np.deg2rad(22)))]]
    rows += [[f"chain_{i}.azimuth", "deg", 120 * (i - 1)] for i in (1, 2, 3)]
    other = [list(row) for row in rows]
    for row in other[1:7]:
        row[2] = 1.1 * float(str(row[2]))
    other[7][2] = 0.4
    model, *_ = mechid.template("delta", tmp_path)
    moved = mechid.fill(model, write_rows(tmp_path / "other.csv", other))
    (tmp_path / "other.yaml").write_text(moved.text)
    filled = mechid.fill(tmp_path / "other.yaml", write_rows(tmp_path / "zoo.csv", rows))
    assert len(filled.parameters) == 10
    assert filled.kept == ("body platform", "body arm")
    right = forces(zoo)
    np.testing.assert_allclose(forces(filled.mechanism), right, rtol=1e-9)
    assert np.abs(forces(moved.mechanism) / right - 1).max() > 1e-2


@pytest.mark.parametrize("case", CASES[:3], ids=lambda case: case.template)
def test_workbook_and_text_give_the_same_model(case: Case, tmp_path: Path) -> None:
    """The tables that a template writes give its own model, without rounding."""
    model, table, book = mechid.template(case.template, tmp_path, mirror=True)
    by_text, by_book = mechid.fill(model, table), mechid.fill(model, book)
    one, other = (yaml.safe_load(filled.text) for filled in (by_text, by_book))
    assert one | {"source": ""} == other | {"source": ""}
    assert by_text.kept == by_text.warnings == by_text.notes == ()
    before, after = mechid.load(model), by_text.mechanism
    assert after.points == before.points
    assert after.joints == before.joints
    assert after.bodies == before.bodies
