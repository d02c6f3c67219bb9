"""Links on MuJoCo: an MJCF file with its equalities, tendons and motors, `mj_inverse` for forces.

A joint of several freedoms is a row of hinges and slides; a screw is a hinge and a slide that an
equality ties. An element on joint coordinates is a fixed tendon, one between points a spatial
tendon: stiffness and damping are polynomials of up to three powers, with friction loss and
armature; a motor on the tendon is a preload or a joint force.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree

import mujoco
import numpy as np
import numpy.typing as npt

from mechid.mechanism.records import GROUND, Coupling, ForceElement, Mechanism, Part

from ..dynamics.virtual_power import tensor, value
from ..reference.on_mujoco import words
from .closed_tree import Kinematics, start_of
from .links import Link, home_coordinates, links

Array = npt.NDArray[np.float64]
MOTION = {"turn": ("hinge",), "slide": ("slide",), "ball": ("ball",), "screw": ("hinge", "slide")}
# Friction loss that saturates at once, so that it is Coulomb's.
DRY = {"solreffriction": "-1 -1e9", "solimpfriction": "0.9999 0.9999 0.001"}


class OnMujoco:
    """MuJoCo's bodies are the links. Elements that MuJoCo has not are left out of it."""

    name = "MuJoCo"

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism, self.links = mechanism, links(mechanism)
        self.root = ElementTree.Element("mujoco")
        _add(self.root, "compiler", angle="radian")
        _add(self.root, "option", gravity=words(np.array(mechanism.gravity)))
        self.xml = {GROUND: _add(self.root, "worldbody")}
        for link in self.links:
            self._add_link(link)
        self.equality = _add(self.root, "equality")
        self.tendon = _add(self.root, "tendon")
        self.actuator = _add(self.root, "actuator")
        lengths = self._add_constraints()
        self.pushed = {}
        self.native = tuple(e.name for e in mechanism.elements if self._add_element(e))
        text = ElementTree.tostring(self.root, encoding="unicode")
        self.model = mujoco.MjModel.from_xml_string(text)
        self.data = mujoco.MjData(self.model)
        self.n_v = self.model.nv
        for name, length in lengths.items():  # equalities count from the length at q = 0
            at = self.model.tendon(name).id
            self.model.eq_data[self.model.equality(name).id, 0] = (
                length - self.model.tendon_length0[at]
            )
        for name, push in self.pushed.items():
            self.data.ctrl[self.model.actuator(name).id] = push

    # ------------------------------------------------------------------ model

    def _add_link(self, link: Link) -> None:
        A, B = link.start.rotation, link.end.rotation
        R = A @ B.T
        p = link.start.translation - R @ link.end.translation
        axes = words(np.concatenate([R[:, 0], R[:, 1]]))
        body = _add(self.xml[link.parent], "body", name=link.name, pos=words(p), xyaxes=axes)
        c = self.mechanism.body(link.body).inertia
        assert c is not None
        full = (link.share * tensor(c.inertia_center))[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        center, mass = words(np.array(c.center)), repr(link.share * c.mass)
        _add(body, "inertial", pos=center, mass=mass, fullinertia=words(full))
        for motion, axis, index in link.steps:
            for kind in MOTION[motion]:
                name, pos = f"{link.joint.name}:{index}:{kind}", words(link.end.translation)
                _add(body, "joint", name=name, type=kind, pos=pos, axis=words(B[:, axis]))
        self.xml[link.name] = body

    def _add_constraints(self) -> dict[str, float]:
        """Add welds, screws, couplings and distances; return the lengths that tendons hold."""
        lengths = {}
        for link in self.links:
            if link.name != link.body:
                pose = "0 0 0 1 0 0 0"
                _add(self.equality, "weld", body1=link.body, body2=link.name, relpose=pose)
            if link.joint.kind.thread:
                name, lead = link.joint.name, link.joint.pitch / (2 * np.pi)
                ends = {"joint1": f"{name}:0:slide", "joint2": f"{name}:0:hinge"}
                _add(self.equality, "joint", polycoef=f"0 {lead!r} 0 0 0", **ends)
        for c in self.mechanism.constraints:
            if isinstance(c, Coupling):
                terms = [((joint, index), f) for joint, index, f in c.terms]
                self._fixed(c.name, terms)
                lengths[c.name] = c.constant if c.constant is not None else self._home_sum(terms)
            else:
                self._spatial(c.name, (c.point_a, c.point_b))
                lengths[c.name] = c.length
            _add(self.equality, "tendon", name=c.name, tendon1=c.name)
        return lengths

    def _home_sum(self, terms: list[tuple[tuple[str, int], float]]) -> float:
        home = {j.name: home_coordinates(self.mechanism, j)[0] for j in self.mechanism.joints}
        return float(sum(f * home[joint][index] for (joint, index), f in terms))

    def _fixed(
        self, name: str, terms: Iterable[tuple[tuple[str, int], float]], **given: str
    ) -> None:
        tendon = _add(self.tendon, "fixed", name=name, **given)
        for (joint, index), factor in terms:
            link = next(x for x in self.links if x.joint.name == joint)
            step = link.joint.kind.step(index)
            label = f"{joint}:{index}:{MOTION[step.motion][0]}"
            _add(tendon, "joint", joint=label, coef=repr(float(link.sign * factor)))

    def _spatial(self, name: str, points: Iterable, **given: str) -> None:
        tendon = _add(self.tendon, "spatial", name=name, **given)
        for side, point in zip("ab", points, strict=True):
            label = f"{name}@{side}"
            _add(self.xml[point.body], "site", name=label, pos=words(np.array(point.local)))
            _add(tendon, "site", site=label)

    def _add_element(self, e: ForceElement) -> bool:
        """Add an element if MuJoCo has such; loads are applied to bodies in `forces`."""
        if e.kind in ("force", "moment"):
            return True
        if e.kind == "transmission":
            # MuJoCo drops what an armature couples between branches of the tree.
            if not self._on_one_branch([joint for joint, _ in e.coordinates]):
                return False
            for part in e.parts:
                given = _tendon_values(
                    damping=[value(part["viscous"])],
                    frictionloss=[value(part["coulomb"])],
                    armature=[value(part["inertia"])],
                )
                terms = zip(e.coordinates, part.ratios, strict=True)
                self._fixed(part.name, terms, **given, **DRY)
            return True
        found = _on_tendon(e)
        if found is None:
            return False
        given, push = found
        if e.points:
            self._spatial(e.name, e.points, **given)
        else:
            self._fixed(e.name, [(e.coordinates[0], 1.0)], **given, **DRY)
        if push:
            _add(self.actuator, "motor", name=e.name, tendon=e.name)
            self.pushed[e.name] = push
        return True

    def _on_one_branch(self, joints: list[str]) -> bool:
        """Tell whether the joints follow each other from the ground outwards."""
        by_name = {link.name: link for link in self.links}
        above: list[set[str]] = []
        for joint in joints:
            link = next(x for x in self.links if x.joint.name == joint)
            above.append({joint})
            while link.parent != GROUND:
                link = by_name[link.parent]
                above[-1].add(link.joint.name)
        return set(joints) <= max(above, key=len)

    # ------------------------------------------------------------------ what is asked for

    def place(self, joint: str, index: int) -> tuple[int, int, float]:
        link = next(x for x in self.links if x.joint.name == joint)
        motion = link.joint.kind.step(index).motion
        found = self.model.joint(f"{joint}:{index}:{MOTION[motion][0]}")
        return int(found.qposadr[0]), int(found.dofadr[0]), link.sign

    def home(self) -> Array:
        q = start_of(self.mechanism, self, self.model.qpos0.copy())
        for link in self.links:
            scalars, R = home_coordinates(self.mechanism, link.joint)
            for motion, _, i in link.steps:
                if motion == "ball":  # the joint turns the child: in axes of the child at q = 0
                    B = link.end.rotation
                    found = np.zeros(4)
                    turn = B @ (R.T if link.reverse else R) @ B.T
                    mujoco.mju_mat2Quat(found, turn.ravel())
                    at = int(self.model.joint(f"{link.joint.name}:{i}:ball").qposadr[0])
                    q[at : at + 4] = found
                elif motion == "screw":
                    at = int(self.model.joint(f"{link.joint.name}:{i}:slide").qposadr[0])
                    q[at] = link.sign * link.joint.pitch / (2 * np.pi) * scalars[i]
        return q

    def ties(self, q: Array) -> list[tuple[Array, float]]:
        """Slides of screws: their rows and residuals."""
        found = []
        for link in self.links:
            if link.joint.kind.thread:
                lead = link.joint.pitch / (2 * np.pi)
                i, j, _ = self.place(link.joint.name, 0)
                slide = self.model.joint(f"{link.joint.name}:0:slide")
                row = np.zeros(self.n_v)
                row[int(slide.dofadr[0])], row[j] = 1.0, -lead
                found.append((row, float(q[int(slide.qposadr[0])] - lead * q[i])))
        return found

    def integrate(self, q: Array, step: Array) -> Array:
        q = q.copy()
        mujoco.mj_integratePos(self.model, q, step, 1.0)
        return q

    def _move(self, q: Array, v: Array) -> None:
        self.data.qpos[:], self.data.qvel[:], self.data.qacc[:] = q, v, 0.0
        mujoco.mj_fwdPosition(self.model, self.data)
        mujoco.mj_fwdVelocity(self.model, self.data)

    def kinematics(self, q: Array, v: Array) -> Kinematics:
        m, d = self.model, self.data
        self._move(q, v)
        mujoco.mj_rnePostConstraint(m, d)
        p, R, J, bias = {}, {}, {}, {}
        six, linear, angular = np.zeros(6), np.zeros((3, m.nv)), np.zeros((3, m.nv))
        for link in self.links:
            i = m.body(link.name).id
            p[link.name], R[link.name] = d.xpos[i].copy(), d.xmat[i].reshape(3, 3).copy()
            mujoco.mj_jac(m, d, linear, angular, d.xpos[i], i)
            J[link.name] = np.vstack([linear, angular])
            mujoco.mj_objectAcceleration(m, d, mujoco.mjtObj.mjOBJ_XBODY, i, six, 0)
            bias[link.name] = np.concatenate([six[3:] + m.opt.gravity, six[:3]])
        return Kinematics(p, R, J, bias)

    def forces(self, q: Array, v: Array, vd: Array) -> Array:
        m, d = self.model, self.data
        m.opt.disableflags = int(mujoco.mjtDisableBit.mjDSBL_EQUALITY)
        self._move(q, v)
        mujoco.mj_fwdActuation(m, d)
        d.qacc[:] = vd
        mujoco.mj_inverse(m, d)
        found = d.qfrc_inverse - d.qfrc_actuator - self._loads()
        m.opt.disableflags = 0
        return np.array(found)

    def _loads(self) -> Array:
        """Generalised forces of forces and moments on bodies."""
        m, d = self.model, self.data
        found = np.zeros(m.nv)
        for e in self.mechanism.elements:
            if e.kind not in ("force", "moment") or e.body == GROUND:
                continue
            axes = np.eye(3) if e.axes_of == GROUND else d.body(e.axes_of).xmat.reshape(3, 3)
            vector = value(e["magnitude"]) * axes @ np.array(e.direction)
            body = d.body(e.body)
            place = body.xpos.copy()
            push, turn = np.zeros(3), vector
            if e.kind == "force":
                place += body.xmat.reshape(3, 3) @ np.array(e.points[0].local)
                push, turn = vector, np.zeros(3)
            mujoco.mj_applyFT(m, d, push, turn, place, m.body(e.body).id, found)
        return found

    def mass_matrix(self, q: Array) -> Array:
        self._move(q, np.zeros(self.n_v))
        full = np.zeros((self.n_v, self.n_v))
        mujoco.mj_fullM(self.model, self.data, full)
        return full

    def closed(self, q: Array, R: Array) -> float:
        """Largest residual of MuJoCo's own equalities, and of their Jacobian times R."""
        self._move(q, np.zeros(self.n_v))
        d = self.data
        kept = d.efc_type[: d.nefc] == mujoco.mjtConstraint.mjCNSTR_EQUALITY
        J = d.efc_J.reshape(-1, self.n_v)[: d.nefc][kept]
        scale = max(1.0, float(np.abs(q).max())), max(1.0, float(np.abs(R).max()))
        pos = np.abs(d.efc_pos[: d.nefc][kept]).max(initial=0.0)
        return max(float(pos) / scale[0], float(np.abs(J @ R).max(initial=0.0)) / scale[1])


def _add(parent: ElementTree.Element, tag: str, **given: str) -> ElementTree.Element:
    return ElementTree.SubElement(parent, tag, given)


def _tendon_values(**given: list[float]) -> dict[str, str]:
    return {key: words(np.array(x)) for key, x in given.items() if any(x)}


def _on_tendon(e: ForceElement) -> tuple[dict[str, str], float] | None:
    """Values of a tendon that is this element, and the push of a motor on it; None: there is none.

    A polynomial of MuJoCo has up to three powers, a piecewise law one slope.
    """
    part: Part = e.parts[0]
    free, push, loss = 0.0, 0.0, 0.0
    match e.kind:
        case "spring_damper" | "torsion_spring":
            rest = part["free_length" if e.kind == "spring_damper" else "free_angle"]
            k, free, c = [value(part["stiffness"])], value(rest), [value(part["damping"])]
        case "polynomial_spring_damper" | "piecewise_spring_damper":
            k, c = ([value(x) for x in part[key]] for key in ("stiffness", "damping"))
            free, push = part["free"] or 0.0, value(part["preload"])
            most = 3 if e.kind == "polynomial_spring_damper" else 1
            if max(len(k), len(c)) > most:
                return None
        case "friction":
            sided = ("coulomb_positive", "coulomb_negative", "stribeck", "hysteresis")
            if part["smoothing"] or any(value(part[key]) for key in sided):
                return None
            k, c, loss = [], [value(part["viscous"])], value(part["coulomb"])
        case "joint_force":
            k, c, push = [], [], value(part["force"])
        case _:
            return None
    given = _tendon_values(stiffness=k, damping=c, frictionloss=[loss])
    return given | {"springlength": f"{free!r} {free!r}"}, push
