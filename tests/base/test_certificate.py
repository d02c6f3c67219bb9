"""Certificates: written, read, rechecked; tampered with, refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from mechid.base.bounds import bounds
from mechid.base.certificate import (
    Certificate,
    certificate,
    read_certificate,
    write_certificate,
)
from mechid.base.experiment import Experiment
from mechid.base.verify import verify
from mechid.errors import DataError, MechidError
from mechid.mechanism.records import Limit, Mechanism
from mechid.modelfile import build, load


@cache
def made(spec: str) -> Certificate:
    return certificate(bounds(load(spec), precision=192))


@pytest.mark.parametrize(
    "spec", ["pendulum", "four_bar", "four_bar@example-1", "screw_press@motor", "planar_3rrr"]
)
def test_written_read_and_rechecked(spec: str, tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    write_certificate(path, made(spec))
    given = read_certificate(path)
    assert given == made(spec)
    told: list[tuple[int, int]] = []
    verdict = verify(given, lambda done, of: told.append((done, of)))
    assert verdict.valid, verdict.notes
    assert verdict.certified == given.certified
    found = (verdict.parameters, verdict.upper, verdict.lower)
    assert found == (given.parameters, given.upper, given.lower)
    assert told[-1] == (len(given.states), len(given.states))


def massless_rod() -> Mechanism:
    """A massless rod between universal joints, of which transfers see only two masses."""
    joint = {"type": "universal"}
    return build(
        name="rod",
        gravity=[0, 0, -9.81],
        points={"A": [0, 0, 0], "B": [0.3, 0, 0.1], "C": [0.5, 0.2, 0]},
        bodies={
            "a": {"frame": {"origin": "A"}},
            "rod": {"frame": {"origin": "B"}, "massless": True},
            "c": {"frame": {"origin": "C"}},
        },
        joints={
            "r": {"type": "revolute", "between": ["ground", "a"], "at": "A", "axis": "z"},
            "u": {**joint, "between": ["a", "rod"], "at": "B", "axes": ["z", "y"]},
            "s": {**joint, "between": ["rod", "c"], "at": "C", "axes": ["z", "x"]},
        },
        coordinates={
            "r": {"joint": "r"},
            "u1": {"joint": "u.angle_1"},
            "u2": {"joint": "u.angle_2"},
            "s1": {"joint": "s.angle_1"},
            "s2": {"joint": "s.angle_2"},
        },
    )


def test_massless_bodies() -> None:
    """A mass cannot move to a body that has none: a: 7 without effect and none moved, c: all."""
    found = bounds(massless_rod(), precision=192)
    assert found.parameters == 20
    assert found.upper == found.lower
    given = certificate(found)
    verdict = verify(given)
    assert verdict.valid, verdict.notes
    assert verdict.certified
    # Without the masses of the rod among the dependent ones, the same vectors would say too much.
    claim = replace(given, dependent=tuple(n for n in given.dependent if n != "m_2"))
    assert not verify(claim).valid


# --------------------------------------------------------------------------- tampering


def state(given: Certificate, k: int, **changes: object) -> Certificate:
    states = list(given.states)
    states[k] = replace(states[k], **changes)
    return replace(given, states=tuple(states))


def moved(values: tuple[float, ...], by: float) -> tuple[float, ...]:
    return (values[0] + by, *values[1:])


WRONG: dict[str, Callable[[Certificate], Certificate]] = {
    "pose": lambda c: state(c, 0, pose=moved(c.states[0].pose, 0.01)),
    "other pose": lambda c: state(c, 0, pose=c.states[1].pose),
    "coordinate": lambda c: state(c, 1, y=moved(c.states[1].y, 0.1)),
    "row twice": lambda c: replace(c, rows=(c.rows[1], *c.rows[1:])),
    "row missing": lambda c: replace(c, rows=c.rows[1:]),
    "column twice": lambda c: replace(c, columns=(c.columns[1], *c.columns[1:])),
    "column that depends": lambda c: replace(c, columns=("Ixx_1", *c.columns[1:])),
    "one column more": lambda c: replace(c, columns=(*c.columns, c.dependent[0])),
    "dependent twice": lambda c: replace(c, dependent=(c.dependent[1], *c.dependent[1:])),
    "dependent that is not": lambda c: replace(c, dependent=(c.columns[0], *c.dependent[1:])),
    "vector": lambda c: replace(c, vectors=(999, *c.vectors[1:])),
    "vector before the first": lambda c: replace(c, vectors=(-1, *c.vectors[1:])),
    "upper": lambda c: replace(c, upper=c.upper - 1),
    "lower": lambda c: replace(c, lower=c.lower + 1),
    "both": lambda c: replace(c, upper=c.upper + 1, lower=c.lower + 1),
    "parameters": lambda c: replace(c, parameters=c.parameters + 10),
    "no states": lambda c: replace(c, states=(), rows=()),
    "static": lambda c: replace(c, experiment=Experiment(static=True)),
    "held": lambda c: replace(c, experiment=Experiment(hold=("q1",))),
    "no gravity": lambda c: replace(c, experiment=Experiment(gravity=(0.0, 0.0, 0.0))),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", list(WRONG))
def test_tampering_is_found(what: str) -> None:
    assert not verify(WRONG[what](made("four_bar"))).valid


REFUSED: dict[str, Callable[[Certificate], Certificate]] = {
    "column": lambda c: replace(c, columns=("m_99", *c.columns[1:])),
    "dependent": lambda c: replace(c, dependent=("m_99", *c.dependent[1:])),
    "row": lambda c: replace(c, rows=((0, 9), *c.rows[1:])),
    "state": lambda c: replace(c, rows=((99, 0), *c.rows[1:])),
    "short pose": lambda c: state(c, 0, pose=c.states[0].pose[1:]),
    "no speed": lambda c: state(c, 0, yd=()),
    "nan": lambda c: state(c, 0, pose=moved(c.states[0].pose, float("nan"))),
    "bits": lambda c: replace(c, precision=0),
    "no such coordinate": lambda c: replace(c, experiment=Experiment(hold=("elbow",))),
    "no model": lambda c: replace(c, model="bodies: 3"),
}


@pytest.mark.parametrize("what", list(REFUSED))
def test_what_does_not_fit_is_refused(what: str) -> None:
    with pytest.raises(MechidError):
        verify(REFUSED[what](made("four_bar")))


@pytest.mark.parametrize(
    ("experiment", "words"),
    [
        (Experiment(static=True), "state 1 moves, but the experiment is static"),
        (Experiment(hold=("q1",)), "moves q1, which is held"),
    ],
)
def test_states_must_be_those_of_the_experiment(experiment: Experiment, words: str) -> None:
    """Not even a certificate that claims no more than the checker finds."""
    forged = replace(made("four_bar"), experiment=experiment, certified=False)
    found = verify(forged)
    assert any(words in note for note in found.notes)
    assert found.lower == 0
    for lower in (0, forged.lower):
        assert not verify(replace(forged, upper=found.upper, lower=lower)).valid


@pytest.mark.slow
def test_rows_must_be_those_of_measured_forces() -> None:
    given = certificate(bounds(load("planar_3rrr"), Experiment(measure=("M_1",)), precision=192))
    assert verify(given).valid
    used = replace(given, experiment=Experiment(measure=("M_4",)), certified=False)
    found = verify(used)
    assert not found.valid
    assert "the force on q1 is used, but not measured" in found.notes


def test_states_must_be_within_the_limits() -> None:
    mechanism = load("four_bar")
    limits = (Limit(0.78, 0.8),)
    joints = tuple(replace(j, limits=limits if j.name == "q1" else ()) for j in mechanism.joints)
    found = verify(made("four_bar"), model=replace(mechanism, joints=joints))
    assert not found.valid
    assert any("is outside the limits of q1.angle" in note for note in found.notes)
    inside = certificate(bounds(replace(mechanism, joints=joints), precision=192))
    assert verify(inside).valid


def test_the_model_of_the_user() -> None:
    """Other masses do not matter for the number, other lengths do."""
    given = made("four_bar")
    assert verify(given, model=load("four_bar")).valid
    text = given.model
    assert "l1" in text
    heavy = load("four_bar")
    bodies = tuple(
        b if b.inertia is None else replace(b, inertia=replace(b.inertia, mass=7.0))
        for b in heavy.bodies
    )
    assert verify(given, model=replace(heavy, bodies=bodies)).certified
    other = verify(given, model=load("four_bar@example-1"))  # without gravity, one bar massless
    assert not other.valid
    with pytest.raises(MechidError):
        verify(given, model=load("five_bar"))


@pytest.mark.slow
def test_the_verdict_says_what_is_proved() -> None:
    found = verify(made("four_bar"))
    assert found.model == "four_bar"
    assert found.gravity == (0.0, -9.81, 0.0)
    assert found.experiment == "all motions; measured forces: all"
    assert found.proved == "exactly 8 of 30 parameters can be identified"
    assert verify(made("bricard")).proved == "at least 22 of 50 parameters can be identified"


def test_certified_is_not_taken_on_trust() -> None:
    given = made("bricard")  # that one of its constraints is redundant is not proved
    assert not given.certified
    assert not verify(replace(given, certified=True)).valid


GARBAGE = {
    "nothing": "",
    "text": "hello",
    "list": "[1, 2]",
    "number": "3",
    "null": "null",
    "other": '{"format": "something else"}',
    "empty": '{"format": "mechid certificate 1"}',
    "binary": "\x00\x01",
}


@pytest.mark.parametrize("what", list(GARBAGE))
def test_garbage_is_refused(what: str, tmp_path: Path) -> None:
    path = tmp_path / "garbage.json"
    path.write_text(GARBAGE[what], encoding="utf-8")
    with pytest.raises(DataError, match=r"garbage\.json: not a certificate"):
        read_certificate(path)


BOMB = "a: &a [1, 1]\n" + "".join(f"{y}: &{y} [*{x}, *{x}]\n" for x, y in pairwise("abcdefghij"))
DAMAGED = {
    "gravity is not a number": {"experiment": {"gravity": [0, float("nan"), 0]}},
    "gravity is infinite": {"experiment": {"gravity": [0, 1e999, 0]}},
    "gravity has two numbers": {"experiment": {"gravity": [0, 1]}},
    "static is a number": {"experiment": {"static": 1}},
    "held is a text": {"experiment": {"hold": "q1"}},
    "huge integer": {"states": [{"y": [10**400], "yd": [0], "ydd": [0], "pose": [0] * 7}]},
    "text for a number": {"states": [{"y": ["1"], "yd": [0], "ydd": [0], "pose": [0] * 7}]},
    "model of aliases": {"model": BOMB},
}


@pytest.mark.parametrize("what", list(DAMAGED))
def test_damaged_numbers_are_refused(what: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.json"
    write_certificate(path, made("pendulum"))
    data = json.loads(path.read_text(encoding="utf-8"))
    for key, value in DAMAGED[what].items():
        data[key] = data[key] | value if isinstance(value, dict) else value
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(DataError, match="not a certificate"):
        read_certificate(path)


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text('{"format": ' + "[" * 100_000, encoding="utf-8")
    with pytest.raises(DataError, match="not a certificate"):
        read_certificate(path)
    deep = replace(made("pendulum"), model="bodies: " + "[" * 3000 + "]" * 3000)
    with pytest.raises(MechidError):
        verify(deep)


def test_missing_files_and_bytes(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_certificate(tmp_path / "none.json")
    path = tmp_path / "bytes.json"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="not a certificate"):
        read_certificate(path)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("states", 3),
        ("states", [{"y": 1}]),
        ("rows", [[1]]),
        ("rows", [["a", "b"]]),
        ("experiment", None),
        ("columns", 5),
        ("precision", "many"),
        ("model", 7),
        ("upper", "3"),
        ("vectors", ["a"]),
        ("unknown", 1),
    ],
)
def test_wrong_entries_are_refused(key: str, value: object, tmp_path: Path) -> None:
    path = tmp_path / "wrong.json"
    write_certificate(path, made("pendulum"))
    data = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(data | {key: value}), encoding="utf-8")
    with pytest.raises(DataError, match="not a certificate"):
        read_certificate(path)
