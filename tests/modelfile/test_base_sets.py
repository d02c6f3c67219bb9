"""Named base sets in model files."""

from __future__ import annotations

import pytest

from mechid.errors import ModelError
from mechid.mechanism.records import NamedBaseSet
from mechid.modelfile import dumps, load, loads

PENDULUM = """
mechid: 1
name: pendulum
points: {O: [0, 0, 0]}
bodies:
  bob: {frame: {origin: O}, mass: 1, center: [0, 0, -1], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}
joints:
  hinge: {type: revolute, between: [ground, bob], at: O, axis: y}
elements:
  hinge: {type: friction, joint: hinge, viscous: {identify: true}}
coordinates:
  q: {joint: hinge}
base_sets:
  mine: {dependent: [%s], source: "a book"}
"""


def test_read_and_written_back() -> None:
    mechanism = loads(PENDULUM % "m_1, Ixx_1, viscous_hinge")
    assert mechanism.base_sets == (
        NamedBaseSet("mine", ("m_1", "Ixx_1", "viscous_hinge"), "a book"),
    )
    assert loads(dumps(mechanism)) == mechanism


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("m_1, m1", r"base_sets.mine.dependent.1: there is no parameter m1; did you mean m_1\?"),
        ("m_2", "there is no parameter m_2; bodies are numbered 1 to 1"),
        ("viscous_hing", r"no parameter viscous_hing; did you mean viscous_hinge\?"),
        ("coulomb_hinge", "there is no parameter coulomb_hinge"),
        ("m_1, m_1", "m_1 is listed twice; remove one"),
    ],
)
def test_wrong_names_are_refused(names: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        loads(PENDULUM % names)


def test_the_suspension_names_five() -> None:
    for spec in ("sla_suspension", "sla_suspension@measured"):
        found = load(spec).base_sets
        assert [s.name for s in found] == ["T1", "T2", "T3", "T4", "T5"]
        assert all(len(s.dependent) == 32 and s.source for s in found)
