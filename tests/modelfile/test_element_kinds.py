"""Every kind of force element in a file: read, written back, mirrored, refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mechid.dynamics.compile import dynamic_model
from mechid.errors import ModelError
from mechid.mechanism.element_kinds import ELEMENT_KINDS
from mechid.mechanism.records import Coefficient, Mechanism
from mechid.modelfile import build
from mechid.modelfile.dump import document_of

from ..property.generate import random_elements

ENDS: dict[str, Any] = {"between": ["ground.N", "b.tip"]}
SPRINGS: dict[str, Any] = {"type": "piecewise_spring_damper", **ENDS}


def mechanism(**elements: Any) -> Mechanism:
    return build(
        name="m",
        parameters={"k": 30000},
        points={"N": [0, 0, 1], "P": [0, 0, 0], "tip": {"in": "b", "at": [0.5, 0, 2]}},
        bodies={"b": {}, "c": {}},
        joints={
            "J": {"type": "cylindrical", "between": ["ground", "b"], "at": "P", "axis": "z"},
            "R": {"type": "revolute", "between": ["b", "c"], "at": "P", "axis": "z"},
        },
        elements=elements,
        coordinates={"j": {"joint": "J"}, "r": {"joint": "R"}},
    )


def test_values_and_defaults() -> None:
    unknown = {"value": "k", "identify": True, "uncertainty": "10 %"}
    m = mechanism(
        e={**SPRINGS, "stiffness": [1, unknown], "knots": ["0.1*2"], "free": 1.2},
        f={"type": "friction", "joint": "R", "stribeck": 1, "stribeck_speed": "90 deg"},
    )
    e, f = m.elements
    assert e["stiffness"] == (Coefficient(1.0), Coefficient(30000, identify=True, sigma=3000))
    assert (e["knots"], e["free"], e["damping"], e["speed_knots"]) == ((0.2,), 1.2, (), ())
    assert f["stribeck_speed"] == pytest.approx(np.pi / 2)
    assert (f["stribeck_exponent"], f["smoothing"]) == (2.0, 0.0)
    names = [c.name for c in dynamic_model(m).columns[20:]]
    assert names == ["k2_e"]


@pytest.mark.parametrize("word", ELEMENT_KINDS)
def test_written_back(word: str) -> None:
    m = mechanism()
    for seed in range(5):
        rng = np.random.default_rng(seed)
        made = replace(m, elements=random_elements(m, rng, (word,)))
        if word in ("force", "moment"):
            along = np.array(made.elements[0].direction)
            unit = tuple((along / np.linalg.norm(along)).tolist())
            made = replace(made, elements=(replace(made.elements[0], direction=unit),))
        assert build(**document_of(made)).elements == made.elements


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({**SPRINGS, "stiffness": [1, 2], "knots": [1, 2], "free": 1}, "e.stiffness", "got 2"),
    ({**SPRINGS, "stiffness": [1, 2, 3], "knots": [2, 1], "free": 1}, "e.knots", "do not increase"),
    ({**SPRINGS, "damping": [1]} | {"joint": "R"}, "e", "between and joint exclude each other"),
    ({"type": "polynomial_spring_damper", "stiffness": [1]}, "e", "free is missing"),
    ({"type": "polynomial_spring_damper", "damping": [1]}, "e", "neither between nor joint"),
    ({"type": "polynomial_spring_damper", **ENDS, "damping": [1] * 10}, "e.damping", "10 powers"),
    ({"type": "bushing", "joint": "R", "stiffness": [1, 2]}, "e.stiffness", "six values, got 2"),
    ({"type": "bushing", "joint": "S"}, "e.joint", "there is no joint S"),
    ({"type": "bushing", "joint": "R", "stiffness": 3}, "e.stiffness", "list"),
    ({"type": "friction", "joint": "R", "stribeck": 1}, "e", "stribeck_speed must be > 0, got 0"),
    ({"type": "friction", "joint": "R", "hysteresis": 1}, "e", "hysteresis_width must be > 0, got"),
    ({"type": "friction", "joint": "R", "load": 1}, "e.load", "load must be ≥ 0 and < 1, got 1"),
    ({"type": "friction", "joint": "R", "smoothing": -1}, "e.smoothing", "must be ≥ 0, got -1"),
    (
        {"type": "friction", "joint": "R", "coulomb": 1, "coulomb_positive": 1},
        "e.coulomb",
        "coulomb of one direction",
    ),
    ({"type": "force", "body": "b", "at": "tip"}, "e", "vector is missing"),
    (
        {"type": "force", "body": "b", "at": "tip", "vector": [1, 0, 0], "direction": [1, 0, 0]},
        "e",
        "vector and direction exclude each other",
    ),
    ({"type": "moment", "body": "b", "direction": [0, 0, 0]}, "e.direction", "must not be zero"),
    (
        {"type": "moment", "body": "b", "vector": [0, 0, 1], "magnitude": 2},
        "e.magnitude",
        "vector and magnitude exclude",
    ),
    ({"type": "joint_force", "joint": "J", "force": 1}, "e.joint", "has several coordinates"),
    ({"type": "joint_force", "joint": "R", "forse": 1}, "e.forse", "unknown key forse"),
]


def test_friction_by_the_load_of_a_passive_joint_is_refused() -> None:
    """Of two hinges one is driven; friction by load in the other has no force to depend on."""
    document = document_of(mechanism(e={"type": "friction", "joint": "R", "load": 0.1}))
    assert build(**document).elements[0]["load"] == 0.1
    del document["coordinates"]["r"]
    with pytest.raises(ModelError, match=r"elements\.e\.load: .* load of R, which no drive moves"):
        build(**document)


@pytest.mark.parametrize(("element", "where", "words"), WRONG)
def test_refused(element: dict[str, Any], where: str, words: str) -> None:
    with pytest.raises(ModelError) as caught:
        mechanism(e=element)
    text = str(caught.value)
    assert f"elements.{where}: " in text.replace("[", ".").replace("]", "")
    assert words in text


def test_a_line_without_direction_is_refused() -> None:
    m = mechanism(e={"type": "spring_damper", "between": ["ground.P", "b.P"], "damping": 1})
    with pytest.raises(ModelError, match=r"ground.P and b.P coincide in the assembled pose"):
        dynamic_model(m)


def test_mirror_image_on_a_displacement() -> None:
    """The displacement of a mirrored cylindrical joint counts the other way, its angle does not."""
    law = {"stiffness": [5, 6], "knots": [0.1], "free": 0.02, "preload": 3}
    part = {
        "points": {"A": [0, 1, 0]},
        "bodies": {"s": {}},
        "joints": {
            "J": {"type": "cylindrical", "between": ["ground", "s"], "at": "A", "axis": "x"}
        },
        "elements": {
            "e": {"type": "piecewise_spring_damper", "joint": "J.displacement", **law},
            "g": {"type": "piecewise_spring_damper", "joint": "J.angle", **law},
        },
    }
    m = build(
        name="m",
        subassemblies={"part": part},
        use={
            "l": {"subassembly": "part", "suffix": "_l"},
            "r": {"subassembly": "part", "suffix": "_r", "mirror": "y"},
        },
    )
    e = {x.name: x for x in m.elements}
    assert e["g_r"].parts[0].values == e["g_l"].parts[0].values
    image = e["e_r"]
    assert image["stiffness"] == (Coefficient(6.0), Coefficient(5.0))
    assert (image["knots"], image["free"], image["preload"]) == ((-0.1,), -0.02, Coefficient(-3.0))
