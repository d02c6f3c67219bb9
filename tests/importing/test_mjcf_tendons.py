"""Tendons of MJCF files: against MuJoCo, and what becomes of those that hold their length."""

from __future__ import annotations

import pytest

from mechid.errors import ModelError
from mechid.importing.api import import_model
from mechid.kinematics.mobility import mobility

from .conftest import Write
from .test_mjcf import INERTIAL, agrees

ARM = (
    f'<worldbody><site name="g" pos="0.3 0.1 0.5"/><body name="a" pos="0 0 0.2">{INERTIAL}'
    '<joint name="j" axis="0 1 0" ref="0.2"/><site name="p" pos="0.2 0.05 0.1"/>'
    f'<body name="b" pos="0.4 0 0">{INERTIAL}<joint name="k" axis="0 1 0" pos="0 0 0.05"/>'
    '<site name="q" pos="0.1 0 0.1"/></body></body></worldbody><compiler angle="radian"/>'
)


def tendon(words: str, parts: str, kind: str = "spatial") -> str:
    return f'<tendon><{kind} name="t" {words}>{parts}</{kind}></tendon>'


def sites(*names: str) -> str:
    return "".join(f'<site site="{name}"/>' for name in names)


SUM = '<joint joint="j" coef="2"/><joint joint="k" coef="-0.5"/>'


@pytest.mark.parametrize(
    "part",
    [
        tendon('stiffness="300" damping="7" springlength="0.25"', sites("g", "q")),
        tendon('stiffness="300"', sites("p", "q")),  # at rest as in the file
        tendon('armature="0.03" damping="0.4"', SUM, "fixed"),
        '<default><tendon stiffness="50"/></default>' + tendon("", sites("g", "q")),
    ],
)
def test_forces_are_those_of_mujoco(part: str, mjcf: Write) -> None:
    path = mjcf(ARM, part)
    assert import_model(path).left_out == ()
    assert import_model(path).mechanism.elements
    assert agrees(path, passive=True)


def test_constant_length(mjcf: Write) -> None:
    """A distance between sites, a relation of joints, a joint that is locked."""
    held = '<equality><tendon tendon1="t" polycoef="0.1 0 0 0 0"/></equality>'
    (rod,) = import_model(mjcf(ARM, tendon("", sites("g", "q")), held)).mechanism.distances
    # In the reference pose q is at (0.5, 0, 0.3) and g at (0.3, 0.1, 0.5).
    assert rod.length == pytest.approx(0.3 + 0.1, abs=1e-12)
    found = import_model(mjcf(ARM, tendon("", SUM, "fixed"), held)).mechanism
    (coupling,) = found.couplings
    assert coupling.terms == (("j", 0, 2.0), ("k", 0, -0.5))
    assert coupling.constant == pytest.approx(2 * 0.2 + 0.1)
    assert mobility(found).dof == 1
    single = tendon("", '<joint joint="j" coef="2"/>', "fixed")
    found = import_model(mjcf(ARM, single, held)).mechanism
    assert [c.name for c in found.coordinates] == ["k"]


def test_what_is_left_out(mjcf: Write) -> None:
    words = 'frictionloss="1" range="0 1" stiffness="2" springlength="0.1 0.2"'
    assert import_model(mjcf(ARM, tendon(words, sites("p", "q")))).left_out == (
        "frictionloss of tendon t",
        "range of tendon t",
        "slack of the spring of tendon t",
    )
    over = import_model(mjcf(ARM, tendon("", sites("g", "p", "q")))).left_out
    assert over == ("tendon t, which is not a line between two sites",)
    assert import_model(mjcf(ARM, tendon("", sites("p", "q")))).left_out == ()


def test_wrong_names(mjcf: Write) -> None:
    with pytest.raises(ModelError, match="there is no site z"):
        import_model(mjcf(ARM, tendon("", sites("p", "z"))))
    with pytest.raises(ModelError, match="there is no joint z"):
        import_model(mjcf(ARM, tendon("", '<joint joint="z"/>', "fixed")))
