"""Templates: what they write, how they move, and what is mirrored."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mechid
from mechid.base.analyse import base_parameters
from mechid.importing.hardpoint_targets import targets
from mechid.importing.template import template_model, template_names, templates
from mechid.kinematics.mobility import mobility
from mechid.kinematics.model import kinematic_model

# Degrees of freedom by hand: 6 n_b - constraints of the joints (+ redundant ones of a plane
# linkage, + spins of the rods of the delta robot).
FREEDOM = {
    "double-wishbone": 6 * 6 - 2 * 5 - 3 * 3 - 4 - 5 - 5,  # arms, balls, rod, rack, hub
    "macpherson": 6 * 6 - 5 - 3 - 4 - 4 - 3 - 4 - 5 - 5,
    "multilink": 6 * 6 - 5 - 3 - 3 * 7 - 5,  # arm, ball, three links, hub
    "five-link": 6 * 8 - 5 * 7 - 5 - 5,  # five links, hub, rack
    "push-rod": 6 * 9 - 2 * 5 - 2 * 3 - 5 - 2 * 7 - 5 - 3 - 5 - 4,
    "four-bar": 1,
    "delta": 3 + 6,
    "stewart": 6,
}
SIDES = [t.name for t in templates() if t.sides]


def test_all_of_the_templates_are_there() -> None:
    assert set(template_names()) == set(FREEDOM)
    assert set(SIDES) == {"double-wishbone", "macpherson", "multilink", "five-link", "push-rod"}


@pytest.mark.parametrize("name", sorted(FREEDOM))
def test_mobility(name: str, tmp_path: Path) -> None:
    model, *_ = mechid.template(name, tmp_path)
    m = mechid.load(model)
    counted = mobility(m)
    assert counted.dof == FREEDOM[name]
    assert counted.dof - counted.passive_dof == len(m.coordinates)
    assert all(b.inertia is not None for b in m.bodies)


@pytest.mark.parametrize("name", sorted(FREEDOM))
@pytest.mark.parametrize("mirror", [False, True])
def test_every_row_says_what_it_is(name: str, mirror: bool) -> None:
    if mirror and name not in SIDES:
        return
    data, meaning = template_model(name, mirror=mirror)
    found = targets(data)
    for kind in ("points", "parameters"):
        assert set(getattr(found, kind)) <= set(meaning.get(kind, {}))
    assert set(found.bodies) - set(meaning["bodies"]) <= {"rod_a", "rod_b"}  # computed ones


@pytest.mark.parametrize("name", SIDES)
def test_sides_are_mirror_images(name: str, tmp_path: Path) -> None:
    """Equal motions of both sides need equal forces, those of one side alone but for the rest."""
    model, *_ = mechid.template(name, tmp_path, mirror=True)
    m = mechid.load(model)
    names = [c.name for c in m.coordinates]
    ends = ("_left", "_right") if "_left" in "".join(names) else ("_l", "_r")
    rng = np.random.default_rng(3)
    y, yd, ydd = (np.zeros((5, len(names))) for _ in range(3))
    y += kinematic_model(m).home_y
    pairs = []
    for i, c in enumerate(names):
        if c.endswith(ends[0]):
            k = names.index(c.removesuffix(ends[0]) + ends[1])
            pairs.append((i, k))
            for values, size in ((y, 0.03), (yd, 1.0), (ydd, 1.0)):
                values[:, (i, k)] += size * rng.standard_normal((5, 1))
    assert len(pairs) == 2
    tau = mechid.inverse_dynamics(mechid.solve_motion(m, y, yd, ydd)).tau
    for i, k in pairs:
        np.testing.assert_allclose(tau[:, i], tau[:, k], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["multilink", "five-link"])
def test_wheel_travel_of_new_suspensions(name: str, tmp_path: Path) -> None:
    """Over 160 mm of travel the wheel turns by a few degrees only, and no pose is singular."""
    model, *_ = mechid.template(name, tmp_path)
    m = mechid.load(model)
    y = np.tile(kinematic_model(m).home_y, (17, 1))
    y[:, 0] += np.linspace(-0.08, 0.08, 17)
    motion = mechid.solve_motion(m, y)
    R = mechid.point_motion(motion, "upright_left").rotation
    cosine = (np.trace(R @ R[8].T, axis1=1, axis2=2) - 1) / 2
    assert cosine.min() > np.cos(np.deg2rad(8))
    assert np.min(mechid.singularity_margin(motion.model, motion.q)) > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("name", ["multilink", "five-link"])
def test_rank_is_certified(name: str, tmp_path: Path) -> None:
    model, *_ = mechid.template(name, tmp_path)
    found = base_parameters(mechid.load(model), certify=True)
    assert found.certified


def test_units_of_the_table(tmp_path: Path) -> None:
    mechid.template("four-bar", tmp_path, length="in", mass="lb")
    lines = (tmp_path / "hardpoints.csv").read_text(encoding="utf-8-sig").splitlines()
    row = next(line.split(",") for line in lines if line.startswith("C,"))
    assert float(row[1]) == pytest.approx(3 / 0.0254)
    filled = mechid.fill(tmp_path / "model.yaml", tmp_path / "hardpoints.xlsx")
    before = mechid.load(tmp_path / "model.yaml")
    for a, b in zip(filled.mechanism.bodies, before.bodies, strict=True):
        assert a.inertia is not None
        assert b.inertia is not None
        assert a.inertia.mass == pytest.approx(b.inertia.mass, rel=1e-14)
        np.testing.assert_allclose(a.inertia.inertia_center, b.inertia.inertia_center, rtol=1e-14)


def test_any_model_is_a_template(tmp_path: Path) -> None:
    """The five-bar of the zoo has lengths and masses; a file in mm keeps its units."""
    files = mechid.template("slider_crank", tmp_path / "a")
    assert mechid.fill(files[0], files[1]).warnings == ()
    model = tmp_path / "pendulum.yaml"
    model.write_text(
        "mechid: 1\nname: p\nunits: {length: mm, mass: g}\npoints: {O: [0, 0, 500]}\n"
        "bodies: {bob: {mass: 1200, center: [0, 0, -250], inertia: {xx: 1e7, yy: 1e7, zz: 1e6}}}\n"
        "joints: {hinge: {type: revolute, between: [ground, bob], at: O, axis: y}}\n"
        "coordinates: {a: {joint: hinge}}\n"
    )
    files = mechid.template(str(model), tmp_path / "b", length="m")
    text = files[1].read_text(encoding="utf-8-sig")
    assert "O,0,0,0.5,m," in text
    filled = mechid.fill(model, files[1])
    assert filled.mechanism.bodies == mechid.load(model).bodies


@pytest.mark.parametrize(
    ("name", "words", "message"),
    [
        ("double-wishbon", {}, "there is no template double-wishbon; did you mean double-wishbone"),
        ("four-bar", {"mirror": True}, "template four-bar has no sides to mirror"),
        ("four_bar", {"mirror": True}, "only templates are mirrored"),
        ("four-bar", {"length": "km"}, '"km" is not a unit of length; choose one of: m, cm'),
        ("four-bar", {"mass": "stone"}, '"stone" is not a unit of mass'),
    ],
)
def test_wrong_requests(name: str, words: dict[str, object], message: str, tmp_path: Path) -> None:
    with pytest.raises(mechid.DataError) as error:
        mechid.template(name, tmp_path, **words)  # type: ignore[arg-type]
    assert message in str(error.value)


def test_files_are_kept(tmp_path: Path) -> None:
    mechid.template("four-bar", tmp_path)
    with pytest.raises(mechid.DataError, match="the file exists"):
        mechid.template("four-bar", tmp_path)
    assert len(mechid.template("four-bar", tmp_path, force=True)) == 3
    (tmp_path / "file").write_text("")
    with pytest.raises(mechid.DataError, match="cannot write the file"):
        mechid.template("four-bar", tmp_path / "file")
