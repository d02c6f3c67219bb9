"""Warnings of numbers that are hardly meant; none for the models of the zoo."""

from __future__ import annotations

from typing import Any

import pytest

from mechid.mechanism.plausible import implausible_units, impossible_bodies
from mechid.mechanism.records import Mechanism
from mechid.modelfile import build, load, zoo


def lever(length: float, mass: float, moment: float, **more: Any) -> Mechanism:
    inertia = {"xx": moment, "yy": moment, "zz": moment, **more}
    return build(
        name="m",
        points={"A": [0, 0, 0], "B": {"in": "b", "at": [length, 0, 0]}},
        bodies={"b": {"mass": mass, "inertia": inertia}},
        joints={"j": {"type": "R", "between": ["ground", "b"], "at": "A", "axis": "y"}},
    )


def test_zoo_is_plausible() -> None:
    for entry in zoo():
        for name in (entry.name, *(f"{entry.name}@{variant}" for variant, _ in entry.variants)):
            mechanism = load(name)
            assert implausible_units(mechanism) == ()
            assert impossible_bodies(mechanism) == ()


@pytest.mark.parametrize(
    ("mechanism", "fragments"),
    [
        (lever(0.465, 2, 0.03), []),
        (lever(465, 2e3, 0.03), ["465 m in size: are the lengths in mm? Then declare units: {len"]),
        (lever(0.0005, 2e-9, 0), ["0.0005 m in size: check the unit of the lengths"]),
        (lever(0.5, 2, 3e4), ["of b is 150 m in a mechanism of 0.5 m: check the units of mass"]),
        (lever(1.2, 0.001, 1e-5), ["0.001 kg in a mechanism of 1.2 m are 0.00058 kg/m³"]),
        (lever(0.1, 50, 0.03), ["50 kg in a mechanism of 0.1 m are 5e+04 kg/m³: check the units"]),
    ],
)
def test_units(mechanism: Mechanism, fragments: list[str]) -> None:
    words = implausible_units(mechanism)
    for fragment in fragments:
        assert any(fragment in word for word in words)
    if not fragments:
        assert words == ()


def test_impossible_bodies() -> None:
    assert impossible_bodies(lever(1, 2, 1, zz=3, allow_nonphysical=True)) == (
        "the inertia of b is not physically consistent (allow_nonphysical): inertia breaks the "
        "triangle inequality, principal moments 1 + 1 < 3",
    )
