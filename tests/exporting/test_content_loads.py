"""Friction of drives that depends on the load: named where a format does not have it."""

from __future__ import annotations

import pytest

import mechid
from mechid.errors import ModelError
from mechid.mechanism.records import Mechanism


def geared() -> Mechanism:
    gear = "elements: {gear: {type: friction, joint: hinge, load: 0.08}}\n"
    return mechid.loads(mechid.dumps(mechid.load("pendulum@point-mass-like")) + gear)


@pytest.mark.parametrize("target", ["c", "python", "matlab", "fmu", "urdf", "mjcf"])
def test_it_is_refused_or_left_out(target: str) -> None:
    with pytest.raises(ModelError, match=r"load_gear \(friction that depends on the load\)"):
        mechid.export(geared(), target)
    found = mechid.export(geared(), target, allow_loss=True)
    assert any("load_gear" in words for words in found.left_out)
