"""MJCF files against MuJoCo reading the same file."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

from mechid.dynamics.inverse import inverse_dynamics
from mechid.importing.api import ImportedModel, import_model
from mechid.importing.load import load
from mechid.kinematics.mobility import mobility
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import solve_motion
from mechid.modelfile import loads

from .conftest import Write
from .engines import Errors, OnMujoco, compare, states, without_meshes

DATA = Path(__file__).parent / "data" / "dm_control"
EXAMPLES = Path(__file__).parents[2] / "examples" / "mjcf"
CASSIE, GRIPPER = EXAMPLES / "cassie" / "cassie.xml", EXAMPLES / "gripper" / "2f85.xml"
INERTIAL = '<inertial pos="0.1 0.02 -0.03" mass="1.5" diaginertia="0.02 0.03 0.04"/>'
TOLERANCE = 1e-13


def within(errors: Errors, tolerance: float = TOLERANCE) -> bool:
    return max(errors.place, errors.forces, errors.mass) < tolerance


def agrees(path: Path, spread: float = 0.4, passive: bool = False, **words: object) -> bool:
    """Whether mechid and MuJoCo agree on a file; with springs and dampers if `passive`."""
    engine = OnMujoco(mujoco.MjModel.from_xml_path(str(path)), passive)
    return within(compare(import_model(path, **words), engine, spread=spread, elements=passive))


# --------------------------------------------------------------------------- real files


@pytest.mark.parametrize("name", ["cheetah", "quadruped"])
def test_trees_of_others(name: str) -> None:
    """Several joints in a body, free bodies, classes, includes, masses from shapes, springs."""
    assert agrees(DATA / f"{name}.xml", passive=True)


def test_cassie() -> None:
    """Closed loops, a free base, ball joints, merged links, springs; but for damping of balls."""
    found = import_model(CASSIE, ignore_meshes=True, keyframe="home")
    m = mobility(found.mechanism)
    assert (m.dof, m.passive_dof, len(found.mechanism.coordinates)) == (22, 2, 20)
    chosen = {c.name for c in found.mechanism.coordinates}
    motors = ("hip-roll", "hip-yaw", "hip-pitch", "knee", "foot")
    assert {f"{side}-{motor}" for side in ("left", "right") for motor in motors} <= chosen
    model = without_meshes(CASSIE)
    assert within(compare(found, OnMujoco(without_meshes(CASSIE)), spread=0.1))
    balls = model.jnt_dofadr[model.jnt_type == mujoco.mjtJoint.mjJNT_BALL]
    model.dof_damping[[i + k for i in balls for k in range(3)]] = 0.0
    assert within(compare(found, OnMujoco(model, passive=True), spread=0.1, elements=True))


def test_a_keyframe_is_only_another_reference_pose() -> None:
    """The same coordinates give the same forces, wherever the model is assembled."""
    there = import_model(CASSIE, ignore_meshes=True, keyframe="home").mechanism
    model = kinematic_model(there)
    data = mujoco.MjData(without_meshes(CASSIE))
    mujoco.mj_resetDataKeyframe(data.model, data, 0)
    names = [c.name for c in there.coordinates]
    for side in ("left", "right"):
        k = names.index(f"{side}-hip-pitch")
        assert model.home_y[k] == pytest.approx(data.joint(f"{side}-hip-pitch").qpos[0], abs=1e-15)
    # The keyframe is rounded; assembly moves the leg by less than its last digits.
    knee = data.joint("left-knee").qpos[0]
    assert model.home_y[names.index("left-knee")] == pytest.approx(knee, abs=1e-2)


def test_gripper() -> None:
    """Two loops that share a coupling of the motors, springs with a rest angle."""
    found = import_model(GRIPPER, ignore_meshes=True)
    m = mobility(found.mechanism)
    assert (m.dof, m.redundant_constraints) == (3, 2)
    engine = OnMujoco(without_meshes(GRIPPER), passive=True)
    assert within(compare(found, engine, spread=0.05, elements=True))
    assert found.left_out == (
        "contact: 6 exclude",
        "actuator: 1 general: fingers_actuator",
        "contacts of 14 geoms",
    )
    assert loads(found.text) == found.mechanism


# --------------------------------------------------------------------------- single features

HARD = """
<compiler angle="{angle}" eulerseq="{sequence}" autolimits="true"/>
<option gravity="0.3 -9 1"/>
<default>
  <joint damping="0.2"/>
  <default class="stiff"><joint stiffness="5" springref="{spring}" armature="0.01"/>
    <default class="stiffer"><joint stiffness="9"/></default>
  </default>
</default>
<worldbody>
  <body name="a" pos="0.1 0.2 0.3" euler="{euler}" childclass="stiff">
    <inertial pos="0.1 0 0.2" euler="{euler}" mass="2" diaginertia="0.02 0.03 0.04"/>
    <joint name="a1" axis="1 1 0" pos="0.1 0 0" ref="{ref}" range="{range}"/>
    <joint name="a2" axis="0 0 1" type="slide" ref="0.2" class="stiffer" range="-1 1"/>
    <joint name="a3" axis="0 1 0" class="main"/>
    <frame pos="0.3 0 0" axisangle="0 1 1 {ref}">
      <body name="b" pos="0 0.1 0" xyaxes="1 1 0 -1 1 0.3">
        <inertial pos="0 0 0.1" mass="1" fullinertia="0.02 0.03 0.04 0.001 -0.002 0.003"/>
        <joint name="ball" type="ball" damping="0" stiffness="0" armature="0" pos="0 0 -0.1"/>
        <body name="welded" pos="0.1 0.1 0.1" zaxis="1 2 3">
          <inertial pos="0 0.1 0" mass="0.5" diaginertia="0.01 0.01 0.01"/>
          <body name="c" quat="1 2 0 -1"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
            <joint name="c" type="slide" axis="1 0 2" damping="3"/></body>
        </body>
      </body>
    </frame>
  </body>
</worldbody>
"""


@pytest.mark.parametrize(
    ("angle", "sequence"), [("degree", "xyz"), ("radian", "ZXY"), ("radian", "zYx")]
)
def test_orientations_joints_and_defaults(mjcf: Write, angle: str, sequence: str) -> None:
    one = 180 / np.pi if angle == "degree" else 1.0
    path = mjcf(
        HARD.format(
            angle=angle,
            sequence=sequence,
            spring=0.3 * one,
            ref=0.25 * one,
            range=f"{-one} {2 * one}",
            euler=f"{0.3 * one} {-0.4 * one} {0.5 * one}",
        )
    )
    assert agrees(path, passive=True)
    assert agrees(path, passive=True, keep_fixed=True)
    mechanism = load(path)
    limits = mechanism.joint("a1").limits[0]
    assert (limits.lower, limits.upper) == pytest.approx((-1, 2))
    assert mechanism.gravity == (0.3, -9.0, 1.0)
    home = dict(
        zip([c.name for c in mechanism.coordinates], kinematic_model(mechanism).home_y, strict=True)
    )
    assert home["a1"] == pytest.approx(0.25)
    assert home["a2"] == pytest.approx(0.2)


GEOMS = """
<geom type="sphere" size="0.1" pos="0.1 0 0"/>
<geom type="capsule" size="0.05 0.2" euler="20 30 40"/>
<geom type="capsule" size="0.05" fromto="0 0 0 0.1 0.2 0.3" density="500"/>
<geom type="cylinder" size="0.05 0.2" pos="0 0.1 0" zaxis="1 1 0" mass="0.3"/>
<geom type="cylinder" size="0.05" fromto="0 0 0 0.1 -0.2 0.3"/>
<geom type="ellipsoid" size="0.1 0.2 0.3" axisangle="0 1 1 50" mass="2"/>
<geom type="ellipsoid" size="0.1" fromto="0 0 0 0 0 -0.4"/>
<geom type="box" size="0.1 0.2 0.3" quat="1 1 0 0.3" density="200"/>
<geom type="box" size="0.1" fromto="0 0 0 0.3 0 0"/>
<geom type="box" size="1 1 1" mass="0"/>
<geom type="sphere" size="1" group="4"/>
"""


@pytest.mark.parametrize(
    "compiler",
    [
        '<compiler inertiagrouprange="0 3"/>',
        '<compiler inertiagrouprange="0 3" settotalmass="7"/>',
        '<compiler inertiagrouprange="0 3" boundmass="50" boundinertia="3"/>',
        '<compiler inertiagrouprange="0 3" inertiafromgeom="true"/>',
    ],
)
def test_inertia_from_shapes(mjcf: Write, compiler: str) -> None:
    given = INERTIAL if "fromgeom" in compiler else ""
    path = mjcf(
        compiler,
        f'<worldbody><body name="a">{given}<freejoint name="base"/>{GEOMS}<body name="b"><joint '
        f'axis="1 2 3"/><frame pos="0 0.3 0" euler="10 20 30">{GEOMS}</frame></body></body>'
        "</worldbody>",
    )
    assert agrees(path)


def test_balanced_inertia(mjcf: Write) -> None:
    flat = '<inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.9"/>'
    body = f'<worldbody><body name="a"><joint axis="1 2 3"/>{flat}</body></worldbody>'
    assert agrees(mjcf('<compiler balanceinertia="true"/>', body))


TETRAHEDRON = "0 0 0  0.3 0 0  0 0.4 0  0.1 0 0.5"
# A wedge with a notch: closed, not convex.
PART = """v 0 0 0
v 4 0 0
v 4 3 0
v 2 1 0
v 0 3 0
v 1 1 2
f 1 4 2
f 2 4 3
f 1 5 4
f 1 2 6
f 2 3 6
f 3 4 6
f 4 5 6
f 5 1 6
"""


@pytest.mark.parametrize("inertia", ["", 'inertia="exact"', 'inertia="convex"'])
def test_meshes(mjcf: Write, tmp_path: Path, inertia: str) -> None:
    """From vertices and from a file, scaled, mirrored and moved."""
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "part.obj").write_text(PART)
    path = mjcf(
        '<compiler meshdir="assets"/><asset>'
        f'<mesh name="inline" vertex="{TETRAHEDRON}" inertia="convex"/>'
        '<mesh file="part.obj" scale="0.1 -0.1 0.2" refpos="0.1 0 0" refquat="1 0.2 0 0.3" '
        f"{inertia}/>"
        "</asset>",
        '<worldbody><body name="a"><joint axis="1 2 3"/><geom type="mesh" mesh="inline" '
        'pos="0.1 0.2 0.3" euler="10 20 30"/><geom type="mesh" mesh="part"/>'
        "</body></worldbody>",
    )
    engine = OnMujoco(mujoco.MjModel.from_xml_path(str(path)))
    assert within(compare(import_model(path), engine), 1e-6)  # MuJoCo has single precision here


PAIR = (
    '<worldbody><body name="a" pos="0 0 1"><joint name="ja" axis="0 1 0" ref="20"/>' + INERTIAL
    + '<body name="b" pos="0.5 0 0" euler="0 -60 0"><joint name="jb" axis="0 1 0" ref="-10"/>'
    + INERTIAL + '<body name="c" pos="0.5 0 0" euler="0 100 0"><joint name="jc" axis="0 1 0"/>'
    + INERTIAL
    + '<site name="tip" pos="0.4 0 0.1"/></body></body></body>'
    '<body name="d" pos="1.4 0 0.5"><joint name="jd" axis="0 1 0"/>' + INERTIAL
    + '<site name="end" pos="-0.3 0 0.7"/></body></worldbody>'
)  # fmt: skip


def closed(found: ImportedModel, path: Path, anchors: tuple[str, str]) -> None:
    """MuJoCo, moved as mechid says, has two sites at one place."""
    engine = OnMujoco(mujoco.MjModel.from_xml_path(str(path)))
    assert within(compare(found, engine, spread=0.1))
    a, b = (engine.data.site(name).xpos for name in anchors)
    assert np.abs(a - b).max() < 1e-13


def test_connect_with_sites(mjcf: Write) -> None:
    path = mjcf(PAIR, '<equality><connect site1="tip" site2="end"/></equality>')
    found = import_model(path)
    assert len(found.mechanism.coordinates) == 2
    closed(found, path, ("tip", "end"))


def test_connect_with_an_anchor_holds_the_reference_pose(mjcf: Write) -> None:
    path = mjcf(PAIR, '<equality><connect body1="c" body2="d" anchor="0.4 0 0.1"/></equality>')
    found = import_model(path)
    engine = OnMujoco(mujoco.MjModel.from_xml_path(str(path)))
    assert within(compare(found, engine, spread=0.1))
    # MuJoCo's own residual of the equality is zero in this pose.
    engine.model.opt.disableflags = 0
    mujoco.mj_forward(engine.model, engine.data)
    rows = engine.data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
    assert np.abs(engine.data.efc_pos[rows]).max() < 1e-13


@pytest.mark.parametrize("relpose", ["", 'relpose="0.1 0 0.2 1 0 0.3 0"'])
def test_weld(mjcf: Write, relpose: str) -> None:
    """Two bodies hold together: as in the reference pose, or as stated."""
    free = f'<body name="e" pos="2 0 0"><freejoint name="fe"/>{INERTIAL}</body></worldbody>'
    path = mjcf(
        PAIR.replace("</worldbody>", free),
        f'<equality><weld body1="c" body2="e" {relpose}/></equality>',
    )
    found = import_model(path)
    assert mobility(found.mechanism).dof == 4
    engine = OnMujoco(mujoco.MjModel.from_xml_path(str(path)))
    assert within(compare(found, engine, spread=0.1))
    engine.model.opt.disableflags = 0
    mujoco.mj_forward(engine.model, engine.data)
    rows = engine.data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
    assert np.abs(engine.data.efc_pos[rows]).max() < 1e-12


@pytest.mark.parametrize(
    ("equality", "dof"),
    [
        ('<joint joint1="jb" joint2="ja" polycoef="0.1 -2 0 0 0"/>', 3),
        ('<joint joint1="jb" joint2="ja"/>', 3),
        ('<joint joint1="jb" polycoef="0.3"/>', 3),
        ('<joint joint1="jb" joint2="ja" polycoef="0.1 0 0 0 0"/>', 3),
        ('<joint joint1="jb" joint2="ja" polycoef="0.1 1 0.5 0 0"/>', 4),
        ('<joint joint1="jb" joint2="ja" active="false"/>', 4),
    ],
)
def test_joint_equalities(mjcf: Write, equality: str, dof: int) -> None:
    """Counted from the references of both joints, as MuJoCo's residual says."""
    path = mjcf(PAIR, f"<equality>{equality}</equality>")
    found = import_model(path)
    assert len(found.mechanism.coordinates) == dof
    assert len(found.left_out) == (dof == 4)
    if dof == 4:
        return
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    motion, _ = states(found.mechanism, 1, 0.3)
    joints = {j.name for j in found.mechanism.joints}
    held = found.mechanism.constraints
    y = dict(zip([c.name for c in found.mechanism.coordinates], motion.y[0], strict=True))
    for name in ("ja", "jb"):
        if name in y:
            data.joint(name).qpos[0] = y[name]
    if "jb" not in joints:  # locked: the pose of what it carries says where
        R = motion.bodies().rotation[0, [b.name for b in found.mechanism.bodies].index("c")]
        total = np.arctan2(R[0, 2], R[0, 0]) - np.radians(40)
        turned = y["ja"] - model.qpos0[0] + y["jc"]
        data.joint("jb").qpos[0] = total - turned + model.qpos0[1]
    else:
        coupling = held[0]
        factors = {name: factor for name, _, factor in coupling.terms}
        assert coupling.constant is not None
        data.joint("jb").qpos[0] = (coupling.constant - factors["ja"] * y["ja"]) / factors["jb"]
    mujoco.mj_forward(model, data)
    rows = data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
    assert np.abs(data.efc_pos[rows]).max() < 1e-14


def test_frictionloss(mjcf: Write) -> None:
    """A balanced disc: τ = (J + armature) q̈ + c q̇ + f sign(q̇)."""
    path = mjcf(
        '<worldbody><body name="a"><joint name="j" damping="0.1" frictionloss="0.3" '
        'armature="0.02"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 2"/></body></worldbody>'
    )
    yd, ydd = np.array([[2.0], [-2.0]]), np.array([[3.0], [1.0]])
    motion = solve_motion(load(path), [[0.1], [0.1]], yd, ydd, ordered=False)
    expected = 2.02 * ydd + 0.1 * yd + 0.3 * np.sign(yd)
    assert inverse_dynamics(motion).tau == pytest.approx(expected, rel=1e-14)


def test_includes_and_flags(mjcf: Write, tmp_path: Path) -> None:
    body = '<body name="a"><joint name="j" damping="1"/>' + INERTIAL + "</body>"
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "body.xml").write_text(f"<mujocoinclude>{body}</mujocoinclude>")
    flags = '<option><flag gravity="disable" damper="disable"/></option>'
    path = mjcf(flags, '<worldbody><include file="parts/body.xml"/></worldbody>')
    mechanism = load(path)
    assert mechanism.gravity == (0, 0, 0)
    assert mechanism.elements == ()
    assert agrees(path)


def test_base(mjcf: Write) -> None:
    floating = f'<body name="a"><freejoint name="f"/>{INERTIAL}<body name="b"><joint name="j"/>'
    path = mjcf(f"<worldbody>{floating}{INERTIAL}</body></body></worldbody>")
    assert len(load(path).coordinates) == 7
    assert [c.name for c in import_model(path, base="fixed").mechanism.coordinates] == ["j"]
    standing = mjcf(PAIR, name="standing.xml")
    free = import_model(standing, base="free").mechanism
    assert len(free.coordinates) == 10
    assert free.bodies[0].massless


def test_what_is_left_out_is_listed(mjcf: Write) -> None:
    path = mjcf(
        '<option density="1.2" viscosity="0.1"/><worldbody><body name="a" gravcomp="1">'
        '<joint name="j" springdamper="0.1 1" stiffness="1 2"/>'
        f'{INERTIAL}<geom size="0.1"/><body name="b"><joint name="ball" type="ball" damping="1" '
        f'stiffness="2"/>{INERTIAL}</body></body></worldbody>',
        '<actuator><motor name="m" joint="j"/></actuator>',
        '<tendon><fixed name="t" stiffness="3"><joint joint="j" coef="1"/></fixed></tendon>',
        '<equality><tendon name="e" tendon1="t" tendon2="t"/></equality>',
    )
    assert set(import_model(path).left_out) == {
        "nonlinear stiffness of joint j",
        "springdamper of joint j",
        "gravity compensation of body a",
        "stiffness, damping of the ball joint ball",
        "equality e of type tendon",
        "stiffness of tendon t",
        "actuator: 1 motor: m",
        "contacts of 1 geoms",
        "forces of the medium (density of <option>)",
        "forces of the medium (viscosity of <option>)",
    }
