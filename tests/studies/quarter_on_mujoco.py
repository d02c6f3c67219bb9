"""The quarter vehicle in MuJoCo: a tree of hinges, closed by a stiff `connect` constraint.

MuJoCo's constraints are soft; with the default stiffness the loop opens by millimetres. Here the
time constant is two steps and the impedance 0.9999, the steps are short, and the integrator is RK4.
"""

from __future__ import annotations

import mujoco
import numpy as np

from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Body, Mechanism

STEP = 1e-4  # s


def upright_travel(mechanism: Mechanism, times: Floats) -> Floats:
    """Return the height of point E of the upright at the given times (m), from rest."""
    model = mujoco.MjModel.from_xml_string(_xml(mechanism))
    data = mujoco.MjData(model)
    site = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, "E")
    mujoco.mj_forward(model, data)
    heights = []
    for t in times:
        while data.time < t - STEP / 2:
            mujoco.mj_step(model, data)
        mujoco.mj_kinematics(model, data)
        heights.append(float(data.site_xpos[site, 2]))
    return np.array(heights)


def _xml(m: Mechanism) -> str:
    """Bodies with their frames as in the reference pose, where all axes are the ground's."""
    origin = {body.name: np.array(body.frame.origin) for body in m.bodies} | {"ground": np.zeros(3)}

    def hinge(name: str, body: str, axis: str) -> str:
        joint = m.joint(name)
        own = joint.frame_a if joint.body_a == body else joint.frame_b
        return f'<joint type="hinge" pos="{_text(own.origin)}" axis="{axis}"/>'

    def body(name: str, parent: str, inside: str) -> str:
        place = origin[name] - origin[parent]
        return f'<body name="{name}" pos="{_text(place)}">{inertia(m.body(name))}{inside}</body>'

    def inertia(b: Body) -> str:
        assert b.inertia is not None
        xx, xy, xz, yy, yz, zz = b.inertia.inertia_center
        full = _text((xx, yy, zz, xy, xz, yz))
        center = _text(b.inertia.center)
        return f'<inertial pos="{center}" mass="{b.inertia.mass}" fullinertia="{full}"/>'

    spring = next(e for e in m.elements if e.kind == "spring_damper")
    hub, closing = m.joint("hub"), m.joint("C")
    tyre = body("tyre", "wheel", "")
    wheel = body("wheel", "upright", hinge("hub", "wheel", "0 1 0") + tyre)
    on_upright = (
        hinge("B", "upright", "1 0 0")
        + f'<site name="F" pos="{_text(spring.points[0].local)}"/>'
        + f'<site name="E" pos="{_text(hub.frame_a.origin)}"/>'
        + wheel
    )
    upright = body("upright", "lower_arm", on_upright)
    lower = body("lower_arm", "ground", hinge("A", "lower_arm", "1 0 0") + upright)
    upper = body("upper_arm", "ground", hinge("D", "upper_arm", "1 0 0"))
    anchor = closing.frame_a.origin if closing.body_a == "upright" else closing.frame_b.origin
    on_ground = np.array(spring.points[1].local) + origin["cantilever"]
    return f"""
    <mujoco>
      <compiler autolimits="true" balanceinertia="false"/>
      <option timestep="{STEP}" integrator="RK4" gravity="{_text(m.gravity)}" iterations="200"
              tolerance="1e-14" solver="Newton"/>
      <worldbody><site name="G" pos="{_text(on_ground)}"/>{lower}{upper}</worldbody>
      <equality>
        <connect body1="upright" body2="upper_arm" anchor="{_text(anchor)}"
                 solref="{2 * STEP} 1" solimp="0.9999 0.9999 0.001 0.5 2"/>
      </equality>
      <tendon>
        <spatial stiffness="{spring["stiffness"].value}" damping="{spring["damping"].value}"
                 springlength="{spring["free_length"].value}">
          <site site="F"/><site site="G"/>
        </spatial>
      </tendon>
    </mujoco>"""


def _text(values: object) -> str:
    return " ".join(f"{float(x):.17g}" for x in np.asarray(values, dtype=float))
