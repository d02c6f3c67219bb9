"""Models that are wrong, and what the one-line message must say: place, mistake, remedy."""

from __future__ import annotations

import textwrap

import pytest

from mechid.errors import ModelError
from mechid.modelfile import loads

HEAD = """\
mechid: 1
name: wrong
"""

# A pendulum with one piece replaced by what is wrong.
PIECES = {
    "parameters": "l: 0.5",
    "points": "P: [0, 0, 0]",
    "bodies": "bob: {mass: 1, center: [0, 0, -0.5], inertia: {xx: 0.01, yy: 0.01, zz: 0.01}}",
    "joints": "hinge: {type: revolute, between: [ground, bob], at: P, axis: y}",
    "coordinates": "angle: {joint: hinge}",
}


def text(extra: str = "", **pieces: str) -> str:
    """Return the pendulum with some of its sections replaced, and sections added."""
    lines = HEAD
    for section, piece in {**PIECES, **pieces}.items():
        lines += f"{section}:\n{textwrap.indent(piece, '  ')}\n"
    return lines + textwrap.dedent(extra)


def hinge(words: str) -> str:
    return f"hinge: {{type: revolute, between: [ground, bob], at: P, axis: y, {words}}}"


CASES: dict[str, tuple[str, list[str]]] = {
    # ------------------------------------------------------------------ the file
    "empty": ("", ["model.yaml: ", "the file is empty", "mechid: 1"]),
    "list": ("- 1\n", ["model.yaml:1: ", "a model file is a mapping"]),
    "syntax": ("mechid: 1\nname: [a\npoints: {}\n", ["model.yaml:3: ", "not valid YAML"]),
    "duplicate key": (
        HEAD + "points:\n  A: [0, 0, 0]\n  B: [0, 0, 0]\n  A: [1, 0, 0]\n",
        ["model.yaml:6: points.A: ", "A is defined twice (first in line 4)", "rename"],
    ),
    "alias of itself": (
        HEAD + "points: &p\n  A: *p\n",
        ["model.yaml:3: points.A: ", "this alias contains itself"],
    ),
    "no version": ("name: a\n", ["model.yaml:1: ", "mechid is missing", "mechid: 1"]),
    "version": (
        "mechid: 2\nname: a\n",
        ["model.yaml:1: mechid: ", "the model file has format 2, of a newer mechid", "reads 1"],
    ),
    "no name": ("mechid: 1\n", ["model.yaml:1: ", "name is missing"]),
    "bad name": ("mechid: 1\nname: 4 bars\n", ["model.yaml:2: name: ", '"4 bars" is not a name']),
    "unknown section": (
        HEAD + "joint: {}\n",
        ["model.yaml:3: joint: ", "unknown key joint", "did you mean joints?"],
    ),
    "section is a list": (
        HEAD + "bodies: [a]\n",
        ["model.yaml:3: bodies: ", "expected a mapping, got a list of 1"],
    ),
    "no bodies": (HEAD, ["model.yaml:1: bodies: ", "the mechanism has no bodies"]),
    "title": (HEAD + "title: 12\n", ["model.yaml:3: title: ", "expected text, got 12", "quotes"]),
    "gravity": (
        HEAD + "gravity: [0, 9.81]\n",
        ["model.yaml:3: gravity: ", "expected three numbers, got a list of 2"],
    ),
    "nan": (
        text(points="P: [0, .nan, 0]"),
        ["model.yaml:6: points.P.1: ", "expected a finite number, got nan"],
    ),
    "infinity": (
        text(extra="gravity: [0, 0, -.inf]\n"),
        ["model.yaml:13: gravity.2: ", "expected a finite number, got -inf"],
    ),
    # ------------------------------------------------------------------- numbers
    "unit": (
        text(parameters="l: 3 mm"),
        ["model.yaml:4: parameters.l: ", 'unit "mm" in "3 mm"', "SI units"],
    ),
    "percent": (
        text(parameters="l: 3 %"),
        ["model.yaml:4: parameters.l: ", 'unit "%"', "SI units"],
    ),
    "caret": (
        text(parameters="l: 2^3"),
        ["model.yaml:4: parameters.l: ", 'a power is written "**"'],
    ),
    "function": (
        text(parameters="l: sinh(1)"),
        ["model.yaml:4: parameters.l: ", "unknown function sinh", "choose one of: "],
    ),
    "arguments": (
        text(parameters="l: atan2(1)"),
        ["model.yaml:4: parameters.l: ", "atan2 takes 2 argument(s), got 1"],
    ),
    "code": (
        text(parameters="l: __import__('os').getcwd()"),
        ["model.yaml:4: parameters.l: ", "is not an expression"],
    ),
    "unbalanced": (
        text(parameters="l: (1 + 2"),
        ["model.yaml:4: parameters.l: ", "cannot read"],
    ),
    "ambiguous angle": (
        text(parameters="l: 0.5\na: l + l deg"),
        ["model.yaml:5: parameters.a: ", 'not clear what "deg" applies to', "(l + l) deg"],
    ),
    "boolean": (
        text(parameters="l: true"),
        ["model.yaml:4: parameters.l: ", "expected a number or an expression, got true"],
    ),
    "root of a negative": (
        text(parameters="l: sqrt(-1)"),
        ["model.yaml:4: parameters.l: ", "has no finite real value"],
    ),
    "division by zero": (
        text(parameters="l: 1/0"),
        ["model.yaml:4: parameters.l: ", "division by zero"],
    ),
    "overflow": (
        text(parameters="l: 10**400"),
        ["model.yaml:4: parameters.l: ", "has no finite real value"],
    ),
    "out of range": (
        text(parameters="l: 1e99"),
        ["model.yaml:4: parameters.l: ", "1e+99 is out of range"],
    ),
    "unknown parameter": (
        text(parameters="length: 1\nl: lenght/2"),
        ["model.yaml:5: parameters.l: ", "there is no parameter lenght", "did you mean length?"],
    ),
    "circular parameters": (
        text(parameters="a: b + 1\nb: 2*c\nc: a"),
        ["model.yaml:4: parameters.a: ", "depends on itself: a -> b -> c -> a"],
    ),
    "reserved parameter": (
        text(parameters="pi: 3"),
        ["model.yaml:4: parameters.pi: ", "pi has a fixed meaning"],
    ),
    "hyphen in a parameter": (
        text(parameters="l-1: 3"),
        ["model.yaml:4: parameters.l-1: ", "is not a parameter name"],
    ),
    # ------------------------------------------------------------------ geometry
    "unknown point": (
        text(points="pivot: [0, 0, 0]", joints=PIECES["joints"].replace("P", "pivto")),
        ["model.yaml:10: joints.hinge.at: ", "there is no point pivto", "did you mean pivot?"],
    ),
    "unknown direction": (
        text(
            joints=PIECES["joints"].replace("axis: y", "axis: lateral"),
            directions="laterally: [0, 1, 0]",
        ),
        ["model.yaml:10: joints.hinge.axis: ", "no direction lateral", "did you mean laterally?"],
    ),
    "zero axis": (
        text(joints=PIECES["joints"].replace("axis: y", "axis: [0, 0, 0]")),
        ["model.yaml:10: joints.hinge.axis: ", "this direction must not be zero"],
    ),
    "points coincide": (
        text(joints=PIECES["joints"].replace("axis: y", "axis: {from: P, to: P}")),
        ["model.yaml:10: joints.hinge.axis: ", "the two points of this direction coincide"],
    ),
    "no point": (
        text(points="P: {middle: [A, B]}"),
        ["model.yaml:6: points.P: ", "expected a point: a name, [x, y, z]"],
    ),
    "no direction": (
        text(directions="d: {angle: 3}"),
        ["model.yaml:14: directions.d: ", "expected a direction: a name, x, -y, body.z"],
    ),
    "parallel axes": (
        text(bodies="bob: {frame: {origin: P, x: y, z: [0, -2, 0]}}"),
        ["model.yaml:8: bodies.bob.frame: ", "axes x and z of the frame are parallel"],
    ),
    "three axes": (
        text(bodies="bob: {frame: {origin: P, x: x, y: y, z: z}}"),
        ["model.yaml:8: bodies.bob.frame: ", "the axes x, y, z", "give two of x, y, z"],
    ),
    "one axis": (
        text(bodies="bob: {frame: {origin: P, x: x}}"),
        ["model.yaml:8: bodies.bob.frame: ", "only the axis x", "give two of x, y, z"],
    ),
    "axis as a name": (
        text(directions="x: [0, 1, 0]"),
        ["model.yaml:14: directions.x: ", "x is an axis of the ground", "rename it"],
    ),
    "axes and rotation": (
        text(bodies="bob: {frame: {x: x, y: y, rotation: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}}"),
        ["model.yaml:8: bodies.bob.frame: ", "axes and rotation exclude", "remove one"],
    ),
    "point on nothing": (
        text(points="P: {on: {}}"),
        ["model.yaml:6: points.P.on: ", "a point needs a body"],
    ),
    "word": (
        text(joints=PIECES["joints"].replace("axis: y", "axis: bob.w")),
        ["model.yaml:10: joints.hinge.axis: ", '"bob.w" is not a direction', "body.z"],
    ),
    "left-handed": (
        text(bodies="bob: {frame: {origin: P, rotation: [[1, 0, 0], [0, 1, 0], [0, 0, -1]]}}"),
        ["model.yaml:8: bodies.bob.frame.rotation: ", "left-handed"],
    ),
    "no rotation": (
        text(bodies="bob: {frame: {origin: P, rotation: [[2, 0, 0], [0, 1, 0], [0, 0, 1]]}}"),
        ["model.yaml:8: bodies.bob.frame.rotation: ", "not orthonormal"],
    ),
    "circular geometry": (
        text(points="P: {in: bob, at: [0, 0, 0]}", bodies="bob: {frame: {origin: P}}"),
        ["depends on itself", "bob", "P", "give one of them in the ground frame"],
    ),
    # -------------------------------------------------------------------- bodies
    "ground": (
        text(bodies="bob: {}\nground: {}"),
        ["model.yaml:9: bodies.ground: ", "ground is the fixed body", "rename"],
    ),
    "no mapping": (
        text(bodies="bob:"),
        ["model.yaml:8: bodies.bob: ", "expected a mapping, got nothing"],
    ),
    "massless": (
        text(bodies="bob: {mass: 0, inertia: {xx: 0, yy: 0, zz: 0}}"),
        ["model.yaml:8: bodies.bob.mass: ", "the mass is zero", "massless: true"],
    ),
    "massless with a mass": (
        text(bodies="bob: {massless: true, mass: 1}"),
        ["model.yaml:8: bodies.bob.mass: ", "the body is massless, but has mass", "remove"],
    ),
    "mass only": (
        text(bodies="bob: {mass: 1}"),
        ["model.yaml:8: bodies.bob: ", "inertia is missing", "massless: true"],
    ),
    "centre only": (
        text(bodies="bob: {center: [0, 0, 1]}"),
        ["model.yaml:8: bodies.bob: ", "center needs a mass"],
    ),
    "negative mass": (
        text(bodies="bob: {mass: -1, inertia: {xx: 1, yy: 1, zz: 1}}"),
        ["model.yaml:8: bodies.bob.mass: ", "mass must be > 0"],
    ),
    "triangle": (
        text(bodies="bob:\n  mass: 1\n  inertia: {xx: 1, yy: 1, zz: 3}"),
        ["model.yaml:10: bodies.bob.inertia: ", "triangle inequality", "about: center or origin"],
    ),
    "indefinite": (
        text(bodies="bob:\n  mass: 1\n  inertia: {xx: 1, yy: 1, zz: 1, xy: 2}"),
        ["model.yaml:10: bodies.bob.inertia: ", "positive definite"],
    ),
    "pole": (
        text(bodies="bob:\n  mass: 1\n  inertia: {about: G, xx: 1, yy: 1, zz: 1}"),
        ["model.yaml:10: bodies.bob.inertia.about: ", "there is no point G; choose one of: P"],
    ),
    "inertia key": (
        text(bodies="bob:\n  mass: 1\n  inertia: {xx: 1, yy: 1, zz: 1, Ixy: 2}"),
        ["model.yaml:10: bodies.bob.inertia.Ixy: ", "unknown key Ixy", "did you mean xy?"],
    ),
    "negative uncertainty": (
        text(bodies="bob: {mass: 1, inertia: {xx: 1, yy: 1, zz: 1}, uncertainty: {mass: -5 %}}"),
        ["model.yaml:8: bodies.bob.uncertainty.mass: ", "the uncertainty must be ≥ 0"],
    ),
    "shape": (
        text(bodies="bob: {shapes: [{ball: {center: P, radius: 1}}]}"),
        ["model.yaml:8: bodies.bob.shapes.0.ball: ", "unknown key ball"],
    ),
    "two shapes": (
        text(bodies="bob: {shapes: [{}]}"),
        ["model.yaml:8: bodies.bob.shapes.0: ", "a shape is exactly one of"],
    ),
    "flat box": (
        text(bodies="bob: {shapes: [{box: {center: P, size: [1, 0, 1]}}]}"),
        ["model.yaml:8: bodies.bob.shapes.0.box.size.1: ", "a size must be > 0, got 0"],
    ),
    "unconnected": (
        text(bodies="bob: {}\nrod: {}\nbar: {}"),
        [
            "model.yaml:9: bodies.rod: ",
            "rod, bar are not connected to the ground",
            "join them, or give one a free joint to the ground",
        ],
    ),
    # -------------------------------------------------------------------- joints
    "joint type": (
        text(joints=PIECES["joints"].replace("revolute", "revolut")),
        ["model.yaml:10: joints.hinge.type: ", "revolut", "did you mean revolute?"],
    ),
    "unknown body": (
        text(joints=PIECES["joints"].replace("bob", "bbo")),
        ["model.yaml:10: joints.hinge.between.1: ", "there is no body bbo", "did you mean bob?"],
    ),
    "itself": (
        text(joints=PIECES["joints"].replace("ground", "bob")),
        ["model.yaml:10: joints.hinge.between: ", "connects bob with itself"],
    ),
    "no axis": (
        text(joints=PIECES["joints"].replace(", axis: y", "")),
        ["model.yaml:10: joints.hinge: ", "axis is missing", "a revolute joint needs at and axis"],
    ),
    "no place": (
        text(joints=PIECES["joints"].replace(" at: P,", "")),
        ["model.yaml:10: joints.hinge: ", "at is missing", "a revolute joint needs"],
    ),
    "axes": (
        text(joints=PIECES["joints"].replace("axis: y", "axes: [y, z]")),
        ["model.yaml:10: joints.hinge.axes: ", "a revolute joint has no axes", "use axis"],
    ),
    "axis of a ball": (
        text(joints=PIECES["joints"].replace("revolute", "spherical")),
        ["model.yaml:10: joints.hinge.axis: ", "a spherical joint has no axis", "remove it"],
    ),
    "axis of a universal joint": (
        text(joints=PIECES["joints"].replace("revolute", "universal")),
        ["model.yaml:10: joints.hinge.axis: ", "a universal joint has no axis", "use axes"],
    ),
    "no pitch": (
        text(joints=PIECES["joints"].replace("revolute", "helical")),
        ["model.yaml:10: joints.hinge: ", "pitch is missing", "a helical joint needs"],
    ),
    "pitch": (
        text(joints=hinge("pitch: 0.01")),
        ["model.yaml:10: joints.hinge.pitch: ", "a revolute joint has no pitch", "remove it"],
    ),
    "limits": (
        text(joints=hinge("limits: [1, -1]")),
        ["model.yaml:10: joints.hinge.limits: ", "lower limit must not be above the upper"],
    ),
    "too many limits": (
        text(joints=hinge("limits: [[0, 1], [0, 1]]")),
        ["model.yaml:10: joints.hinge.limits: ", "2 range(s) for 1 coordinate(s)"],
    ),
    "three limits": (
        text(joints=hinge("limits: [0, 1, 2]")),
        ["model.yaml:10: joints.hinge.limits: ", "expected [lower, upper], got a list of 3"],
    ),
    "zero along the axis": (
        text(joints=hinge("zero: [y, x]")),
        ["model.yaml:10: joints.hinge.zero.0: ", "parallel to the axis"],
    ),
    "one zero": (
        text(joints=hinge("zero: x")),
        ["model.yaml:10: joints.hinge.zero: ", "expected a list of two"],
    ),
    "universal": (
        text(
            joints="hinge: {type: universal, between: [ground, bob], at: P, axes: [x, [1, 1, 0]]}"
        ),
        ["model.yaml:10: joints.hinge.axes: ", "are 45° apart, not 90°", "make them perpendicular"],
    ),
    "frames and axis": (
        text(joints=hinge("frames: [{origin: [0, 0, 0]}, {origin: [0, 0, 0]}]")),
        [
            "model.yaml:10: joints.hinge.at: ",
            "a revolute joint has no at",
            "frames already define it",
        ],
    ),
    # --------------------------------------------------------------- coordinates
    "unknown joint": (
        text(coordinates="angle: {joint: hing}"),
        ["model.yaml:12: coordinates.angle.joint: ", "no joint hing", "did you mean hinge?"],
    ),
    "unknown coordinate": (
        text(coordinates="angle: {joint: hinge.angle_2}"),
        ["coordinates.angle.joint: ", "joint hinge has no coordinate angle_2", "angle"],
    ),
    "fixed": (
        text(joints="hinge: {type: fixed, between: [ground, bob], at: P}"),
        ["model.yaml:12: coordinates.angle.joint: ", "is fixed and has no coordinates"],
    ),
    "quaternion": (
        text(
            joints="hinge: {type: spherical, between: [ground, bob], at: P}",
            coordinates="angle: {joint: hinge.w}",
        ),
        [
            "model.yaml:12: coordinates.angle.joint: ",
            "w is a component of a quaternion",
            "use hinge.roll, hinge.pitch and hinge.yaw",
        ],
    ),
    "part of an orientation": (
        text(
            joints="hinge: {type: free, between: [ground, bob]}",
            coordinates="a: {joint: hinge.x}\nb: {joint: hinge.roll}\nc: {joint: hinge.yaw}",
        ),
        ["model.yaml:14: coordinates.c: ", "orientation of joint hinge is only partly", "pitch"],
    ),
    "along of a joint": (
        text(coordinates="angle: {joint: hinge, along: x}"),
        ["model.yaml:12: coordinates.angle.along: ", "along belongs to a point"],
    ),
    "names of copies": (
        text(
            joints="hinge: {type: cylindrical, between: [ground, bob], at: P, axis: y}",
            coordinates="a: {joint: hinge}\na.angle: {joint: hinge.angle}",
        ),
        ["model.yaml:13: coordinates.a.angle: ", "there are two coordinates a.angle"],
    ),
    "nothing": (
        text(coordinates="angle: {force: M}"),
        ["model.yaml:12: coordinates.angle: ", "is empty", "joint, point (with along)"],
    ),
    "two things": (
        text(coordinates="angle: {joint: hinge, point: bob.P, along: x}"),
        ["model.yaml:12: coordinates.angle: ", "joint and point are given"],
    ),
    "no direction of a point": (
        text(coordinates="angle: {point: bob.P}"),
        ["model.yaml:12: coordinates.angle: ", "along is missing", "along: z"],
    ),
    "point of no body": (
        text(coordinates="angle: {point: P, along: x}"),
        ["coordinates.angle.point: ", "needs a body", "ground.P"],
    ),
    "body in place of a point": (
        text(coordinates="angle: {point: bob, along: x}"),
        ["coordinates.angle.point: ", '"bob" is a body, not a point', "such as bob.P"],
    ),
    "inertia as a list": (
        text(bodies="bob: {mass: 1, center: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0]}"),
        ["bodies.bob.inertia: expected a mapping, got a list of 6", "write {xx: …, yy: …, zz: …}"],
    ),
    "distance in a body": (
        text(coordinates="s: {distance: [bob.P, bob.P]}"),
        ["model.yaml:12: coordinates.s.distance: ", "both points belong to bob"],
    ),
    "chosen twice": (
        text(coordinates="a: {joint: hinge}\nb: {joint: hinge}"),
        ["model.yaml:13: coordinates.b: ", "the same coordinate as a"],
    ),
    "one force twice": (
        text(
            bodies="bob: {}\nbar: {}",
            joints="A: {type: R, between: [ground, bob], at: P, axis: y}\n"
            "B: {type: R, between: [bob, bar], at: P, axis: y}",
            coordinates="a: {joint: A, force: M}\nb: {joint: B, force: M}",
        ),
        ["model.yaml:15: coordinates.b.force: ", "the force M acts on a already"],
    ),
    "start": (
        text(extra="start: {positions: {angel: 1}}\n"),
        ["model.yaml:13: start.positions.angel: ", "did you mean angle?"],
    ),
    "cut": (
        text(extra="cut: [hing]\n"),
        ["model.yaml:13: cut.0: ", "there is no joint hing", "did you mean hinge?"],
    ),
    "cut twice": (
        text(extra="cut: [hinge, hinge]\n"),
        ["model.yaml:13: cut.1: ", "hinge is listed twice"],
    ),
    # ------------------------------------------------------------------ elements
    "element type": (
        text(elements="e: {type: sprnig_damper}"),
        ["model.yaml:14: elements.e: ", "unknown element type", "did you mean spring_damper?"],
    ),
    "no element type": (
        text(elements="e: {joint: hinge}"),
        ["model.yaml:14: elements.e: ", "type is missing", "choose one of: "],
    ),
    "element is text": (
        text(elements="e: friction"),
        ["model.yaml:14: elements.e: ", 'expected a mapping, got "friction"'],
    ),
    "identify": (
        text(elements="e: {type: friction, joint: hinge, viscous: {identify: maybe}}"),
        ["model.yaml:14: elements.e.viscous.identify: ", "expected true or false"],
    ),
    "element key": (
        text(elements="e: {type: friction, joint: hinge, viscose: 1}"),
        ["model.yaml:14: elements.e.viscose: ", "unknown key", "did you mean viscous?"],
    ),
    "force without a point": (
        text(elements="e: {type: force, body: bob, vector: [0, 0, 1]}"),
        ["model.yaml:14: elements.e: ", "at is missing", "name the point"],
    ),
    "moment at a point": (
        text(elements="e: {type: moment, body: bob, at: P, vector: [0, 0, 1]}"),
        ["model.yaml:14: elements.e.at: ", "unknown key at"],
    ),
    "spring in a body": (
        text(elements="e: {type: spring_damper, between: [bob.P, bob.P], damping: 1}"),
        ["model.yaml:14: elements.e.between: ", "both points belong to bob"],
    ),
    "spring without length": (
        text(elements="e: {type: spring_damper, between: [ground.P, bob.P], stiffness: 1}"),
        ["model.yaml:14: elements.e: ", "free_length is missing"],
    ),
    "several coordinates": (
        text(
            joints="hinge: {type: cylindrical, between: [ground, bob], at: P, axis: y}",
            coordinates="a: {joint: hinge}",
            elements="e: {type: friction, joint: hinge, viscous: 1}",
        ),
        ["elements.e.joint: ", "has several coordinates", "hinge.angle, hinge.displacement"],
    ),
    "friction of a ball": (
        text(
            joints="hinge: {type: spherical, between: [ground, bob], at: P}",
            coordinates="a: {joint: hinge}",
            elements="e: {type: friction, joint: hinge.roll, viscous: 1}",
        ),
        ["elements.e.joint: ", "roll of a spherical joint is not a coordinate of its own"],
    ),
    "coefficient": (
        text(elements="e: {type: friction, joint: hinge, viscous: {identify: false}}"),
        ["model.yaml:14: elements.e.viscous: ", "needs a value", "identify: true"],
    ),
    "uncertainty of nothing": (
        text(
            elements="e: {type: friction, joint: hinge, viscous: {identify: true, uncertainty: 1}}"
        ),
        ["model.yaml:14: elements.e.viscous.uncertainty: ", "an uncertainty needs a value"],
    ),
    "matrix": (
        text(
            elements="e: {type: transmission, coordinates: [hinge], motors: {m: {inertia: 1}}, "
            "matrix: [[1, 2]]}"
        ),
        ["model.yaml:14: elements.e.matrix: ", "a row per motor (1) and a column per coordinate"],
    ),
    # --------------------------------------------------------------- expansion
    "unknown subassembly": (
        text(extra="subassemblies: {arm: {}}\nuse: {a: {subassembly: amr}}\n"),
        ["model.yaml:14: use.a.subassembly: ", "no subassembly amr", "did you mean arm?"],
    ),
    "inside a subassembly": (
        text(
            extra="""\
            subassemblies:
              arm:
                bodies: {rod: {}}
                joints:
                  J: {type: revolute, between: [bob, rod], at: P, axis: Y}
            use: {a: {subassembly: arm}}
            """
        ),
        ["model.yaml:17: subassemblies.arm.joints.J.axis: ", "there is no direction Y"],
    ),
    "copies of one name": (
        text(
            extra="""\
            subassemblies: {arm: {points: {Q: [0, 0, 0]}}}
            use:
              a: {subassembly: arm}
              b: {subassembly: arm}
            """
        ),
        ["model.yaml:16: use.b: ", "two points Q", "prefix or suffix"],
    ),
    "parameter of a copy": (
        text(extra="subassemblies: {arm: {}}\nuse: {a: {subassembly: arm, parameters: {r: 1}}}\n"),
        ["model.yaml:14: use.a.parameters.r: ", "subassembly arm has no parameter r"],
    ),
    "rename": (
        text(extra="subassemblies: {arm: {}}\nuse: {a: {subassembly: arm, rename: {r: s}}}\n"),
        ["model.yaml:14: use.a.rename.r: ", "subassembly arm has nothing called r"],
    ),
    "mirror": (
        text(extra="subassemblies: {arm: {}}\nuse: {a: {subassembly: arm, mirror: w}}\n"),
        ["model.yaml:14: use.a.mirror: ", "expected x, y, z or {point, normal}"],
    ),
    "mirror plane": (
        text(
            extra="subassemblies: {arm: {}}\n"
            "use: {a: {subassembly: arm, mirror: {normal: [0, 0, 0]}}}\n"
        ),
        ["model.yaml:14: use.a.mirror.normal: ", "normal of the mirror plane must not be"],
    ),
    "order": (
        text(extra="order: {bodies: [bbo]}\n"),
        ["model.yaml:13: order.bodies.0: ", "no body bbo to order", "did you mean bob?"],
    ),
    "order twice": (
        text(extra="order: {bodies: [bob, bob]}\n"),
        ["model.yaml:13: order.bodies.1: ", "bob is listed twice"],
    ),
    # -------------------------------------------------------- Denavit-Hartenberg
    "antecedent": (
        HEAD + "denavit_hartenberg:\n  - {link: 1, antecedent: 2, type: R}\n",
        ["model.yaml:4: denavit_hartenberg.0.antecedent: ", "no link 2", "choose one of: 0, 1"],
    ),
    "link twice": (
        HEAD + "denavit_hartenberg:\n"
        "  - {link: 1, antecedent: 0, type: R}\n  - {link: 1, body: b, antecedent: 0, type: R}\n",
        ["model.yaml:5: denavit_hartenberg.1.link: ", "there is a link 1 already"],
    ),
    "no link": (
        HEAD + "denavit_hartenberg:\n  - {antecedent: 0, type: R}\n",
        ["model.yaml:4: denavit_hartenberg.0: ", "the row has no link", "link or closes"],
    ),
    "frame of a link": (
        HEAD + "denavit_hartenberg:\n  - {link: 1, antecedent: 0, type: R}\n"
        "bodies: {link_1: {frame: {origin: [0, 0, 0]}}}\n",
        ["model.yaml:5: bodies.link_1.frame: ", "Denavit-Hartenberg table", "remove the frame"],
    ),
    "limits of a link": (
        HEAD + "denavit_hartenberg:\n  - {link: 1, antecedent: 0, type: R, limits: [1, 0]}\n",
        ["model.yaml:4: denavit_hartenberg.0.limits: ", "upper limit, got 1 and 0"],
    ),
    "type of a link": (
        HEAD + "denavit_hartenberg:\n  - {link: 1, antecedent: 0, type: Q}\n",
        ["model.yaml:4: denavit_hartenberg.0.type: ", '"Q"'],
    ),
    "circular links": (
        HEAD + "denavit_hartenberg:\n"
        "  - {link: 1, antecedent: 2, type: R}\n  - {link: 2, antecedent: 1, type: R}\n",
        ["model.yaml:4: denavit_hartenberg.0: ", "link_1, link_2 are not connected"],
    ),
    "link that closes": (
        HEAD + "denavit_hartenberg:\n  - {link: 1, closes: 0, antecedent: 0, type: R}\n",
        ["model.yaml:4: denavit_hartenberg.0: ", "adds no link"],
    ),
    "transform of a link": (
        HEAD + "denavit_hartenberg:\n  - {link: 1, antecedent: 0, type: R, to: {d: 1}}\n",
        ["model.yaml:4: denavit_hartenberg.0.to: ", "to belongs to a row with closes"],
    ),
    "antecedent is no link": (
        HEAD + "denavit_hartenberg:\n  - {link: 1, antecedent: [0], type: R}\n",
        ["model.yaml:4: denavit_hartenberg.0.antecedent: ", "number of a link or the name"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_message(case: str) -> None:
    wrong, fragments = CASES[case]
    with pytest.raises(ModelError) as caught:
        loads(wrong, name="model.yaml")
    message = str(caught.value)
    assert "\n" not in message
    for fragment in fragments:
        assert fragment in message
    assert message.startswith(fragments[0]) or not fragments[0].startswith("model.yaml")


def test_base_of_the_table_is_right() -> None:
    loads(text())
