"""Subassemblies, names, order and variants."""

from __future__ import annotations

from typing import Any

import pytest

from mechid.errors import ModelError
from mechid.mechanism.records import Mechanism
from mechid.modelfile import build, loads

LINK: dict[str, Any] = {
    "parameters": {"length": "l", "h": 0},
    "points": {
        "top": {"in": "link", "at": [0, 0, 0]},
        "tip": {"in": "link", "at": [0, 0, "-length"]},
    },
    "directions": {"pin": "y"},
    "bodies": {"link": {"frame": {"origin": [0, 0, "-h"]}, "points": ["top"]}},
    "elements": {"drag": {"type": "moment", "body": "link", "vector": [0, "length", 0]}},
}


def chain(**words: Any) -> Mechanism:
    return build(
        name="chain",
        parameters={"l": 0.5},
        subassemblies={"part": LINK},
        use={
            "one": {"subassembly": "part", "suffix": "_1"},
            "two": {
                "subassembly": "part",
                "prefix": "lower_",
                "rename": {"tip": "end"},
                "parameters": {"length": "2*l", "h": {"value": "l", "source": "sum"}},
            },
        },
        joints={
            "A": {"type": "R", "between": ["ground", "link_1"], "at": "top_1", "axis": "pin_1"},
            "B": {
                "type": "R",
                "between": ["link_1", "lower_link"],
                "at": ["tip_1", "lower_top"],
                "axis": "lower_pin",
            },
        },
        **words,
    )


def test_names_and_parameters_of_copies() -> None:
    m = chain()
    assert [b.name for b in m.bodies] == ["link_1", "lower_link"]
    values = {p.name: p.value for p in m.parameters}
    assert values == {"length_1": 0.5, "h_1": 0, "lower_length": 1.0, "lower_h": 0.5, "l": 0.5}
    assert m.parameters[3].source == "sum"
    assert m.point("end").expr == ("0", "0", "-lower_length")
    assert m.point("end").local == (0, 0, -1)
    assert m.point("tip_1").local == (0, 0, -0.5)
    assert m.body("lower_link").frame.origin == (0, 0, -0.5)
    assert m.body("lower_link").frame.origin_expr == ("0", "0", "-lower_h")
    assert [e.name for e in m.elements] == ["drag_1", "lower_drag"]
    assert m.joint("B").frame_a.origin_expr == ("0", "0", "-length_1")


def test_copies_come_before_the_file_unless_ordered() -> None:
    extra = {"base": {"frame": {"origin": [0, 0, 0]}}}
    root = {"C": {"type": "free", "between": ["ground", "base"]}}
    words = {"bodies": extra, "order": {"bodies": ["lower_link"], "elements": ["lower_drag"]}}
    with pytest.raises(ModelError, match="base is not connected"):
        chain(**words)
    m = build(
        name="m",
        subassemblies={
            "part": {"bodies": {"b": {}}, "joints": {"J": root["C"] | {"between": ["ground", "b"]}}}
        },
        use={"u": {"subassembly": "part", "suffix": "_1"}, "v": {"subassembly": "part"}},
        bodies=extra,
        joints=root,
    )
    assert [b.name for b in m.bodies] == ["b_1", "b", "base"]
    assert [j.name for j in m.joints] == ["J_1", "J", "C"]
    m = build(
        name="m",
        subassemblies={
            "part": {"bodies": {"b": {}}, "joints": {"J": root["C"] | {"between": ["ground", "b"]}}}
        },
        use={"u": {"subassembly": "part", "suffix": "_1"}, "v": {"subassembly": "part"}},
        bodies=extra,
        joints=root,
        order={"bodies": ["base", "b"], "joints": ["J"]},
    )
    assert [b.name for b in m.bodies] == ["base", "b", "b_1"]
    assert [j.name for j in m.joints] == ["J", "J_1", "C"]


def test_a_name_means_the_subassembly_first() -> None:
    m = build(
        name="m",
        points={"P": [1, 0, 0], "Q": [0, 0, 7]},
        subassemblies={
            "part": {
                "points": {"P": [2, 0, 0]},
                "bodies": {"b": {"points": ["P", "Q"]}},
                "joints": {"J": {"type": "S", "between": ["ground", "b"], "at": "P"}},
                "coordinates": {"c": {"joint": "J", "force": "T"}},
            }
        },
        use={"u": {"subassembly": "part", "suffix": "_u"}},
    )
    assert m.point("P_u", "b_u").local == (0, 0, 0)
    assert m.body("b_u").frame.origin == (2, 0, 0)
    assert m.point("Q", "b_u").local == (-2, 0, 7)
    assert [c.force for c in m.coordinates] == ["T_u.roll", "T_u.pitch", "T_u.yaw"]


def test_motors_and_forces_get_the_names_of_their_copy() -> None:
    part = {
        "bodies": {"b": {}},
        "joints": {"J": {"type": "R", "between": ["ground", "b"], "at": [0, 0, 0], "axis": "z"}},
        "coordinates": {"c": {"joint": "J"}},
        "elements": {
            "gear": {
                "type": "transmission",
                "coordinates": ["J"],
                "motors": {"m": {"inertia": 1}},
                "matrix": [[10]],
            }
        },
    }
    m = build(
        name="m",
        subassemblies={"part": part},
        use={
            "u": {"subassembly": "part", "suffix": "_u"},
            "v": {"subassembly": "part", "prefix": "v_"},
        },
    )
    assert [e.parts[0].name for e in m.elements] == ["m_u", "v_m"]
    assert [c.force for c in m.coordinates] == ["M_c_u", "M_v_c"]


TEXT = """\
mechid: 1
name: pendulum
title: base
points: {P: [0, 0, 0]}
bodies:
  bob: {mass: 1, center: [0, 0, -1], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}
joints:
  hinge: {type: revolute, between: [ground, bob], at: P, axis: y}
coordinates:
  angle: {joint: hinge}
variants:
  heavy:
    title: heavy bob
    bodies:
      bob:
        mass: 5
        inertia: {yy: 0.15}
  ball:
    joints: {hinge: {type: spherical, axis: null}}
  massless:
    bodies: {bob: {massless: true, mass: null, center: null, inertia: null}}
  wrong:
    bodies:
      bob:
        mass: 0
  gone:
    bodies: {rod: null}
  nothing:
"""


def test_variants_are_merged() -> None:
    base, heavy = loads(TEXT.replace("nothing:\n", "nothing: {}\n")), loads(TEXT, variant="heavy")
    assert heavy.title == "heavy bob"
    assert base.body("bob").inertia != heavy.body("bob").inertia
    inertia = heavy.body("bob").inertia
    assert inertia is not None
    assert (inertia.mass, inertia.center) == (5, (0, 0, -1))
    assert inertia.inertia_center == (0.1, 0, 0, 0.15, 0, 0.1)
    assert heavy.joints == base.joints


def test_null_removes() -> None:
    assert loads(TEXT, variant="ball").joint("hinge").type == "spherical"
    assert loads(TEXT, variant="massless").body("bob").massless


@pytest.mark.parametrize(
    ("variant", "message"),
    [
        ("heavi", r"^f:11: variants: there is no variant heavi; did you mean heavy\?$"),
        ("wrong", r"^f:25: bodies\.bob\.mass: the mass is zero; "),
        ("gone", r"^f:27: variants\.gone\.bodies\.rod: the file has no rod to remove; "),
        ("nothing", r"^f:28: variants\.nothing: a variant is a mapping of changes"),
    ],
)
def test_wrong_variants(variant: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        loads(TEXT, name="f", variant=variant)


def test_no_variants() -> None:
    with pytest.raises(ModelError, match="the file has no variants"):
        loads(TEXT[: TEXT.index("variants")], variant="x")
