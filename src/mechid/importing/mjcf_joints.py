"""Joints of MJCF bodies."""

from __future__ import annotations

import numpy as np

from mechid.importing.mjcf_compiler import Compiler
from mechid.importing.poses import Vec, unit
from mechid.importing.robot import LinkJoint, Remarks, TreeKind
from mechid.importing.xml import Node

_KINDS: dict[str, TreeKind] = {
    "hinge": "revolute",
    "slide": "prismatic",
    "ball": "spherical",
    "free": "free",
}
_ACTING = ("stiffness", "damping", "frictionloss", "armature")


def body_joint(
    node: Node, name: str, actuated: bool, compiler: Compiler, flags: Node, remarks: Remarks
) -> LinkJoint:
    """Return one joint of a body; `flags` are what the file switches off."""
    word = "free" if node.tag == "freejoint" else node.choice("type", tuple(_KINDS), "hinge")
    kind = _KINDS[word]
    x, y, z = (0.0, 0.0, 0.0) if word == "free" else node.numbers("pos", 3, (0.0, 0.0, 0.0))
    position: Vec = (x, y, z)
    axis = unit(node.numbers("axis", 3, (0.0, 0.0, 1.0)))
    if axis is None:
        raise node.error(f"the axis of joint {name} is zero", "give a direction")
    values = {key: _first(node, key, name, remarks) for key in _ACTING}
    _unread(node, name, remarks)
    if kind in ("spherical", "free"):
        acting = [key for key, value in values.items() if value]
        if acting:
            remarks.left_out.append(f"{', '.join(acting)} of the {word} joint {name}")
        return LinkJoint(
            name,
            kind,
            np.asarray(axis),
            position,
            actuated=actuated,
            from_parent=kind == "free",
            place=node.place,
        )

    def angle(key: str) -> float:
        number = node.number(key)
        return compiler.angle(number) if word == "hinge" else number

    def on(flag: str, value: float) -> float:
        off = "disable" in (flags.get(flag), flags.get("passive") if flag != "frictionloss" else "")
        return 0.0 if off else value

    return LinkJoint(
        name,
        kind,
        np.asarray(axis),
        position,
        reference=angle("ref"),
        limits=_limits(node, name, word, compiler),
        stiffness=on("spring", values["stiffness"]),
        rest=angle("springref"),
        viscous=on("damper", values["damping"]),
        coulomb=on("frictionloss", values["frictionloss"]),
        rotor=values["armature"],
        actuated=actuated,
        place=node.place,
    )


def _first(node: Node, key: str, name: str, remarks: Remarks) -> float:
    """Return a coefficient; those of higher powers are left out."""
    numbers = node.some_numbers(key, (0.0,)) or (0.0,)
    if numbers[0] < 0:
        raise node.error(f"{key} of joint {name} must be ≥ 0, got {numbers[0]:g}")
    if any(numbers[1:]):
        remarks.left_out.append(f"nonlinear {key} of joint {name}")
    return numbers[0]


def _unread(node: Node, name: str, remarks: Remarks) -> None:
    for key in ("springdamper", "springyield"):
        if any(node.some_numbers(key)):
            remarks.left_out.append(f"{key} of joint {name}")
    if node.get("actuatorgravcomp") == "true":
        remarks.left_out.append(f"gravity compensation by the actuator of joint {name}")


def _limits(node: Node, name: str, word: str, compiler: Compiler) -> tuple[float, float] | None:
    limited = node.choice("limited", ("true", "false", "auto"), "auto")
    lower, upper = node.numbers("range", 2, (0.0, 0.0))
    if limited == "false" or node.get("range") is None:
        return None
    if limited == "auto" and (not compiler.autolimits or lower == upper):
        return None
    if lower >= upper:
        raise node.error(f"the range of joint {name} must increase, got {lower:g} to {upper:g}")
    if word == "hinge":
        lower, upper = compiler.angle(lower), compiler.angle(upper)
    return lower, upper
