"""URDF files against Pinocchio reading the same file, and what Pinocchio does not read by hand."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from mechid.base.nullspace import null_space
from mechid.dynamics.inverse import inverse_dynamics
from mechid.errors import ModelError
from mechid.importing.api import import_model
from mechid.importing.load import load
from mechid.kinematics.mobility import mobility
from mechid.kinematics.motion import solve_motion
from mechid.mechanism.records import Mechanism
from mechid.modelfile import loads

from .conftest import Write, joint, link
from .engines import Errors, OnMujoco, OnPinocchio, compare, states

DATA = Path(__file__).parent / "data"
TX40 = Path(__file__).parents[2] / "examples" / "tx40" / "tx40.urdf"
PANDA = DATA / "panda" / "panda.urdf"
TURNED = '<origin xyz="0.1 -0.2 0.3" rpy="0.3 -0.4 0.5"/>'
LIMIT = '<limit lower="-1" upper="2" effort="1" velocity="1"/>'
# Angles written as 1.57079632679 are read as π/2, which differs by 5e-12.
TOLERANCE = 1e-10


def within(errors: Errors, tolerance: float) -> bool:
    return max(errors.place, errors.forces, errors.mass) < tolerance


@pytest.mark.parametrize("path", [TX40, PANDA], ids=lambda path: path.stem)
def test_real_robots(path: Path) -> None:
    assert within(compare(import_model(path), OnPinocchio(path)), TOLERANCE)


@pytest.mark.parametrize("path", [TX40, PANDA], ids=lambda path: path.stem)
def test_floating_base(path: Path) -> None:
    found = import_model(path, base="free")
    assert [c.name for c in found.mechanism.coordinates][:6] == [
        f"base.{x}" for x in ("x", "y", "z", "roll", "pitch", "yaw")
    ]
    assert within(compare(found, OnPinocchio(path, free=True)), TOLERANCE)


def test_fixed_links_kept_move_as_merged_ones() -> None:
    merged, kept = import_model(PANDA), import_model(PANDA, keep_fixed=True)
    assert len(kept.mechanism.bodies) == len(merged.mechanism.bodies) + 4
    assert kept.mechanism.joint("panda_hand_joint").type == "fixed"
    assert within(compare(kept, OnPinocchio(PANDA)), TOLERANCE)


@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic", "floating", "planar"])
def test_every_joint_type(urdf: Write, kind: str) -> None:
    """In the middle of a chain, turned, with a skew axis where Pinocchio knows one."""
    axis = '<axis xyz="0 0 2"/>' if kind == "planar" else '<axis xyz="1 2 -2"/>'
    path = urdf(
        link("base"), link("first"), link("second"), link("tool", mass=0.4), link("third"),
        joint("j1", "revolute", "base", "first", TURNED + '<axis xyz="0 1 0"/>' + LIMIT),
        joint("j2", kind, "first", "second", TURNED + axis + LIMIT),
        joint("weld", "fixed", "second", "tool", TURNED),
        joint("j3", "prismatic", "tool", "third", TURNED + LIMIT),
    )  # fmt: skip
    found = import_model(path)
    assert within(compare(found, OnPinocchio(path)), 1e-13)
    if kind not in ("floating", "planar"):  # which MuJoCo makes of other joints
        assert within(compare(found, OnMujoco(mujoco.MjModel.from_xml_path(str(path)))), 1e-13)
    limits = [(x.lower, x.upper) for x in found.mechanism.joint("j2").limits]
    assert limits == ([(-1, 2)] if kind in ("revolute", "prismatic") else [])


def test_mimic_joints_and_chains_of_them(urdf: Write) -> None:
    path = urdf(
        link("base"), link("a"), link("b"), link("c"), link("d"),
        joint("ja", "continuous", "base", "a", TURNED),
        joint("jb", "continuous", "a", "b",
              TURNED + '<mimic joint="ja" multiplier="-2" offset="0.1"/>'),
        joint("jc", "prismatic", "b", "c",
              TURNED + LIMIT + '<mimic joint="jb" multiplier="0.05"/>'),
        joint("jd", "continuous", "c", "d",
              TURNED + '<mimic joint="ja" multiplier="0" offset="0.3"/>'),
    )  # fmt: skip
    found = import_model(path)
    assert [c.name for c in found.mechanism.coordinates] == ["ja"]
    motion, _ = states(found.mechanism, 3, 0.5)
    tool = motion.bodies().position[:, -1]
    model = pin.buildModelFromUrdf(str(path))
    data = model.createData()
    for k, (ja,) in enumerate(motion.y):
        jb = -2 * ja + 0.1
        jd = [np.cos(0.3), np.sin(0.3)]
        q = np.array([np.cos(ja), np.sin(ja), np.cos(jb), np.sin(jb), 0.05 * jb, *jd])
        pin.framesForwardKinematics(model, data, q)
        assert np.abs(tool[k] - data.oMf[model.getBodyId("c")].translation).max() < 1e-14
    # What hangs on the locked joint is part of its parent, where Pinocchio has it.
    body, at = found.mechanism.bodies[-1], data.oMf[model.getBodyId("c")]
    parts = [at.actInv(data.oMi[i]).act(model.inertias[i]) for i in (3, 4)]
    assert body.inertia is not None
    assert body.inertia.mass == parts[0].mass + parts[1].mass
    assert body.inertia.center == pytest.approx((parts[0] + parts[1]).lever, abs=1e-15)


def test_friction_and_rotors(urdf: Write) -> None:
    """τ = (J + n² J_rotor) q̈ + c q̇ + f sign(q̇) for a balanced disc."""
    path = urdf(
        link("base"), link("disc", "0 0 0"),
        joint("axle", "continuous", "base", "disc",
              '<axis xyz="0 0 1"/><dynamics damping="0.3" friction="0.2"/>'),
        '<transmission name="t"><type>simple</type><joint name="axle"/><actuator name="m">'
        '<mechanicalReduction>50</mechanicalReduction><drake:rotor_inertia value="1e-5"/>'
        "</actuator></transmission>",
    )  # fmt: skip
    found = import_model(path)
    yd, ydd = np.array([[1.5], [-0.5]]), np.array([[2.0], [3.0]])
    motion = solve_motion(found.mechanism, [[0.1], [0.2]], yd, ydd, ordered=False)
    expected = (0.04 + 50**2 * 1e-5) * ydd + 0.3 * yd + 0.2 * np.sign(yd)
    assert inverse_dynamics(motion).tau == pytest.approx(expected, rel=1e-14)
    unknown = import_model(path, identify_elements=True).mechanism
    assert {e.kind for e in unknown.elements} == {"friction", "transmission"}
    friction = next(e for e in unknown.elements if e.kind == "friction")
    assert friction["viscous"].identify
    assert friction["viscous"].value == 0.3


def test_inertia_from_shapes_with_a_density(urdf: Write) -> None:
    shapes = (
        '<collision><origin xyz="0 0 0.5"/><geometry><box size="0.1 0.2 1"/></geometry></collision>'
        '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
        '<collision><geometry><cylinder radius="0.05" length="0.4"/></geometry></collision>'
    )
    arm = f'<link name="arm">{shapes}</link>'
    path = urdf('<link name="base"/>', arm, joint("j", "continuous", "base", "arm"))
    assert load(path).bodies[0].massless
    cad = import_model(path, density=2000).mechanism.bodies[0].inertia
    masses = 2000 * np.array([0.1 * 0.2, 4 / 3 * np.pi * 0.1**3, np.pi * 0.05**2 * 0.4])
    assert cad is not None
    assert cad.mass == pytest.approx(masses.sum())
    z = masses[0] * 0.5 / masses.sum()
    assert cad.center == pytest.approx((0, 0, z))
    box = masses[0] * ((0.2**2 + 1) / 12 + (0.5 - z) ** 2)
    others = masses[1] * (0.4 * 0.1**2 + z**2) + masses[2] * ((3 * 0.05**2 + 0.4**2) / 12 + z**2)
    assert cad.inertia_center[0] == pytest.approx(box + others)


def test_base_parameters_are_as_many_as_the_rank_of_the_regressor() -> None:
    """Of the links behind joints, in Pinocchio, stacked over random states."""
    model = pin.buildModelFromUrdf(str(TX40))
    data, rng = model.createData(), np.random.default_rng(3)
    rows = [
        pin.computeJointTorqueRegressor(model, data, *rng.uniform(-2, 2, (3, 6))) for _ in range(60)
    ]
    s = np.linalg.svd(np.concatenate(rows), compute_uv=False)
    rank = int(np.sum(s > 1e-8 * s[0]))
    assert s[rank - 1] > 1e6 * s[rank]  # a clear gap
    null = null_space(load(TX40))
    assert len(null.names) - null.rank == rank == 36


# --------------------------------------------------------------------------- loops

# Four bars of lengths 0.3, 0.6, 0.5 over a ground of 0.6 m, all straight up in the zero pose of the
# tree but the coupler, which lies along x: the ends of the loop are 0.2 m apart.
BARS = [
    link("base"), link("crank", "0 0 0.15"), link("coupler", "0.3 0 0"), link("rocker", "0 0 0.25"),
    joint("q1", "continuous", "base", "crank", '<axis xyz="0 1 0"/>'),
    joint("q2", "continuous", "crank", "coupler", '<origin xyz="0 0 0.3"/><axis xyz="0 1 0"/>'),
    joint("q3", "continuous", "base", "rocker", '<origin xyz="0.6 0 0"/><axis xyz="0 1 0"/>'),
]  # fmt: skip
CONSTRAINT = (
    '<constraint name="q4" type="{0}"><parent link="coupler"/><parent_origin xyz="0.6 0 0"/>'
    '<parent_axis xyz="0 1 0"/><child link="rocker"/><child_origin xyz="0 0 0.5"/>'
    '<child_axis xyz="0 1 0"/></constraint>'
)


def check_closed(mechanism: Mechanism) -> None:
    """The crank drives the linkage, and the two ends of the loop coincide."""
    m = mobility(mechanism)
    assert (m.dof, len(mechanism.coordinates)) == (1, 1)
    assert mechanism.coordinates[0].name == "q1"
    motion, _ = states(mechanism, 4, 0.3)
    bodies, names = motion.bodies(), [b.name for b in mechanism.bodies]
    i, j = names.index("coupler"), names.index("rocker")
    ends = [
        bodies.position[:, k] + bodies.rotation[:, k] @ np.array(p)
        for k, p in ((i, [0.6, 0, 0]), (j, [0, 0, 0.5]))
    ]
    assert np.abs(ends[0] - ends[1]).max() < 1e-14


@pytest.mark.parametrize("kind", ["revolute", "spherical"])
def test_constraint_elements(urdf: Write, kind: str) -> None:
    path = urdf(*BARS, CONSTRAINT.format(kind))
    found = import_model(path)
    check_closed(found.mechanism)
    tree = urdf(*BARS, name="tree.urdf")
    assert within(compare(found, OnPinocchio(tree), spread=0.3), 1e-13)


def test_loop_joint_elements(urdf: Write) -> None:
    loop = (
        '<loop_joint name="q4" type="revolute"><link1 link="coupler" xyz="0.6 0 0"/>'
        '<link2 link="rocker" xyz="0 0 0.5"/><axis xyz="0 1 0"/></loop_joint>'
    )
    assert load(urdf(*BARS, loop)) == load(urdf(*BARS, CONSTRAINT.format("revolute")))


def test_loops_in_yaml(urdf: Write, tmp_path: Path) -> None:
    extra = tmp_path / "loops.yaml"
    extra.write_text(
        "joints:\n"
        "  q4:\n"
        "    type: revolute\n"
        "    between: [coupler, rocker]\n"
        "    at: [[0.6, 0, 0], [0, 0, 0.5]]\n"
        "    axis: [[0, 1, 0], [0, 1, 0]]\n"
    )
    found = import_model(urdf(*BARS, name="tree.urdf"), loops=extra).mechanism
    expected = load(urdf(*BARS, CONSTRAINT.format("revolute")))
    assert (found.joints, found.coordinates, found.cut) == (
        expected.joints,
        expected.coordinates,
        expected.cut,
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("joints: {q4: {type: gear, between: [coupler, rocker], AT}}", "unknown joint type"),
        ("joints: {q4: {type: ball, between: [coupler, x], AT}}", "no link x"),
        ("joints: {q4: {type: revolute, between: [coupler, rocker], AT}}", "needs axis"),
        ("joints: {q1: {type: ball, between: [coupler, rocker], AT}}", "already"),
        ("loops: {}", "unknown key loops"),
    ],
)  # fmt: skip
def test_mistakes_in_yaml_name_the_line(urdf: Write, tmp_path: Path, text: str, words: str) -> None:
    extra = tmp_path / "loops.yaml"
    extra.write_text(text.replace("AT", "at: [[0, 0, 0], [0, 0, 0]]"))
    with pytest.raises(ModelError, match=words) as error:
        import_model(urdf(*BARS), loops=extra)
    assert error.value.where.startswith(f"{extra}:1")


def test_loop_on_a_merged_link(urdf: Write) -> None:
    """A loop that ends on a link behind a fixed joint ends on the body that this belongs to."""
    tip = joint("weld", "fixed", "coupler", "tip", '<origin xyz="0.6 0 0" rpy="0 0 0.7"/>')
    loop = (
        '<constraint name="q4" type="spherical"><parent link="tip"/><child link="rocker"/>'
        '<child_origin xyz="0 0 0.5"/></constraint>'
    )
    path = urdf(*BARS, '<link name="tip"/>', tip, loop)
    check_closed(load(path))


# --------------------------------------------------------------------------- names, angles, text


def test_names_are_made_valid_and_unique(urdf: Write) -> None:
    path = urdf(
        '<link name="world"/>', link("2nd link"), link("2nd.link"), link("ground"),
        joint("joint 1", "continuous", "world", "2nd link"),
        joint("joint.1", "continuous", "2nd link", "2nd.link"),
        joint("last", "continuous", "2nd.link", "ground"),
    )  # fmt: skip
    found = import_model(path)
    assert [b.name for b in found.mechanism.bodies] == ["_2nd_link", "_2nd_link_2", "ground_2"]
    assert ("joint", "joint.1", "joint_1_2") in found.renamed
    assert len(found.renamed) == 5
    assert within(compare(found, OnPinocchio(path)), 1e-13)


def test_right_angles(urdf: Write) -> None:
    def model(angle: str, **words: bool) -> Mechanism:
        turned = f'<origin rpy="{angle} 0 0"/>'
        return import_model(
            urdf(link("a"), link("b"), joint("j", "continuous", "a", "b", turned)), **words
        ).mechanism

    exact = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))
    assert model("1.57079632679").bodies[0].frame.rotation == exact
    assert model("1.5708").bodies[0].frame.rotation[1][1] == pytest.approx(-3.67e-6, rel=1e-3)
    assert model("1.5708", right_angles=True).bodies[0].frame.rotation == exact
    assert model("0.001", right_angles=True).bodies[0].frame.rotation != exact


def test_written_model_is_what_was_loaded() -> None:
    found = import_model(PANDA)
    assert loads(found.text) == found.mechanism == load(PANDA)
    assert "# note: fixed links are merged" in found.text


def test_what_is_left_out_is_listed(urdf: Write) -> None:
    path = urdf(
        link("a"), link("b"), joint("j", "floating", "a", "b", '<dynamics damping="1"/>'),
        "<gazebo/>", "<gazebo/>", "<ros2_control/>",
    )  # fmt: skip
    found = import_model(path)
    assert found.left_out == (
        "damping and friction of the floating joint j, which has several coordinates",
        "2 elements <gazebo>",
        "1 element <ros2_control>",
    )
