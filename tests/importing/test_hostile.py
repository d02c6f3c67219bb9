"""Files that are wrong, huge or hostile: one clear error each, with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from mechid.errors import MechidError, ModelError
from mechid.importing import api, xml
from mechid.importing.api import import_model
from mechid.importing.load import load

from .conftest import Write, joint, link

BOMB = (
    '<!DOCTYPE bomb [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
    '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]><robot name="&c;"/>'
)
OUTSIDE = '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="&x;"/>'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BOMB, "declares entities"),
        (OUTSIDE, "declares entities"),
        ("", "not valid XML"),
        ("robot: {}", "not valid XML"),
        ("<robot><link></robot>", "not valid XML"),
        ("<robot name='a'" + " b='1'" * 2 + "/>", "not valid XML"),
        ("<robot>" + "<a>" * 300 + "</a>" * 300 + "</robot>", "200 elements inside each other"),
        ("<sdf version='1.7'/>", "an SDF file"),
        ("<html/>", "file of <html>"),
        ('<robot xmlns:xacro="x"><xacro:macro name="a"/></robot>', "xacro bad.urdf > robot.urdf"),
        ('<robot name="a"><link name="${prefix}b"/></robot>', "this is a xacro file"),
        ('<robot name="a"/>', "no <link>"),
        ('<robot name="a"><link name="b"/></robot>', "nothing of the robot can move"),
    ],
)
def test_documents(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "bad.urdf"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ModelError) as error:
        load(path)
    assert words in str(error.value)
    assert str(error.value).startswith(str(path))
    assert str(error.value).count(str(path)) == 1


@pytest.mark.parametrize(
    "data", [b"\x00\xff\xfe", b"\xff\xfe<\x00", b'<?xml version="1.0" encoding="x"?><robot/>']
)
def test_bytes(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "bad.urdf"
    path.write_bytes(data)
    with pytest.raises(ModelError, match="not valid XML"):
        load(path)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="there is no file"):
        load(tmp_path / "none.urdf")
    with pytest.raises(ModelError, match="there is no file"):
        import_model(tmp_path)


def test_limits_of_size(urdf: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = urdf(*[link(f"l{i}") for i in range(20)])
    monkeypatch.setattr(xml, "MAX_ELEMENTS", 50)
    with pytest.raises(ModelError, match="more than 50 elements"):
        load(path)
    monkeypatch.setattr(api, "MAX_LINKS", 1)
    with pytest.raises(ModelError, match="2 bodies, more than 1"):
        load(urdf(link("a"), link("b"), HINGE, name="two.urdf"))
    monkeypatch.setattr(xml, "MAX_BYTES", 1000)
    with pytest.raises(ModelError, match="larger than"):
        load(path)


AB = [link("a"), link("b")]


def hinge(more: str = "", kind: str = "continuous") -> str:
    return joint("j", kind, "a", "b", more)


HINGE = hinge()


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ([link("a"), link("a")], "link a is defined twice"),
        ([*AB, HINGE, HINGE], "joint j is defined twice"),
        ([link("a"), HINGE], "there is no link b"),
        (AB, "have no parent"),
        ([*AB, hinge(kind="hinge")], 'unknown type "hinge"'),
        ([*AB, "<joint name='j' type='fixed'/>"], "has no <parent>"),
        ([*AB, "<joint type='fixed'/>"], "<joint> has no name"),
        ([*AB, hinge('<axis xyz="0 0 0"/>')], "is zero"),
        ([*AB, hinge('<axis xyz="0 0"/>')], "3 numbers"),
        ([*AB, hinge('<axis xyz="a b c"/>')], "numbers"),
        ([link("a"), link("b", "nan 0 0"), HINGE], "finite numbers"),
        ([link("a"), link("b", "1e300 0 0"), HINGE], "below 1e+09"),
        ([link("a"), link("b", "inf 0 0"), HINGE], "finite numbers"),
        ([link("a"), link("b", mass=-1.0), HINGE], "must be ≥ 0, got -1"),
        ([link("a"), link("b", mass=0.0), HINGE], "moments of inertia and no mass"),
        ([*AB, link("c"), HINGE, joint("k", "continuous", "c", "b")], "two parents"),
        (
            [*AB, HINGE, link("c"), link("d"),
             joint("k", "fixed", "c", "d"), joint("l", "fixed", "d", "c")],
            "go round in a circle",
        ),
        (
            [*AB, HINGE, joint("k", "continuous", "b", "a")],
            "go round in a circle",
        ),
        (
            [*AB, hinge('<mimic joint="x"/>')],
            "cannot follow joint x",
        ),
        (
            [*AB, hinge('<limit lower="1" upper="0"/>', "revolute")],
            "above upper limit",
        ),
        (
            [*AB, hinge('<dynamics damping="-1"/>')],
            "must be ≥ 0",
        ),
        (
            [*AB, HINGE, '<constraint name="c" type="spherical">'
             '<parent link="a"/><child link="x"/></constraint>'],
            "there is no link x",
        ),
        (
            [*AB, HINGE, '<constraint name="j" type="ball">'
             '<parent link="a"/><child link="b"/></constraint>'],
            "joint j is defined twice",
        ),
        (
            [*AB, HINGE, '<constraint name="c" type="gear">'
             '<parent link="a"/><child link="b"/></constraint>'],
            'unknown type "gear"',
        ),
        (
            [*AB, link("c"), HINGE, joint("f", "fixed", "b", "c"),
             '<constraint name="c" type="ball"><parent link="c"/><child link="b"/></constraint>'],
            "connects b with itself",
        ),
    ],
)  # fmt: skip
def test_robots_that_are_none(urdf: Write, parts: list[str], words: str) -> None:
    path = urdf(*parts)
    with pytest.raises(MechidError) as error:
        load(path)
    assert words in str(error.value)
    assert str(error.value).startswith(f"{path}:1")


def body(inside: str, more: str = "") -> str:
    return f'<worldbody><body name="a"><joint name="j"/>{inside}</body>{more}</worldbody>'


INERTIAL = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
MESH = '<asset><mesh name="m" file="{0}"/></asset>' + body('<geom type="mesh" mesh="m"/>')


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (body('<inertial pos="0 0 0" mass="-1" diaginertia="1 1 1"/>'), "mass ≥ 0, got -1"),
        (body('<inertial pos="0 0 0" mass="nan" diaginertia="1 1 1"/>'), "finite numbers"),
        (body('<inertial pos="0 0 0" mass="1" diaginertia="1 1 1" quat="0 0 0 0"/>'), "is zero"),
        (body(INERTIAL, '<body name="a"/>'), "body a is defined twice"),
        (body(INERTIAL + '<body name="b"><joint name="j"/></body>'), "joint j is defined twice"),
        (body(INERTIAL + "<joint/><freejoint/>"), "not the only one"),
        (body(INERTIAL + '<joint type="screw"/>'), 'unknown type "screw"'),
        (body(INERTIAL + '<joint class="x"/>'), "there is no class x"),
        (body(INERTIAL + '<joint axis="0 0 0"/>'), "is zero"),
        (body(INERTIAL + '<joint damping="-1"/>'), "must be ≥ 0"),
        (body(INERTIAL + '<joint range="1 0" limited="true"/>'), "must increase"),
        (body('<geom type="capsule" size="0.1"/>'), "2 positive sizes"),
        (body('<geom type="mesh" mesh="x"/>'), "there is no mesh x"),
        (body('<geom type="sphere" size="0.1" shellinertia="true"/>'), "shellinertia"),
        (MESH.format("part.stl"), 'mesh "part.stl" is not under'),
        (MESH.format("../../part.stl"), "lies outside of the folder"),
        (MESH.format("/etc/passwd"), "lies outside of the folder"),
        ('<include file="../x.xml"/>', "lies outside of the folder"),
        ('<include file="x.xml"/>', "no file x.xml to include"),
        ('<include file="robot.xml"/>', "included twice, or includes itself"),
        ('<compiler coordinate="global"/>' + body(INERTIAL), "global coordinates"),
        ('<compiler eulerseq="xyq"/>' + body(INERTIAL), "unknown eulerseq"),
        (body('<replicate count="3"><geom size="1"/></replicate>'), "mj_saveLastXML"),
        (body(INERTIAL) + '<equality><connect body1="x" anchor="0 0 0"/></equality>', "no body x"),
        (body(INERTIAL) + '<equality><connect body1="a"/></equality>', "has no anchor"),
        (body(INERTIAL) + '<equality><joint joint1="x"/></equality>', "no joint x"),
        (body(INERTIAL) + '<equality><connect site1="s" site2="t"/></equality>', "no site s"),
        ('<default><default class="c"/><default class="c"/></default>' + body(INERTIAL), "twice"),
    ],
)  # fmt: skip
def test_mjcf_that_is_none(mjcf: Write, text: str, words: str) -> None:
    path = mjcf(text)
    with pytest.raises(MechidError) as error:
        load(path)
    assert words in str(error.value)
    assert str(error.value).startswith(str(path))


def test_circle_of_includes(mjcf: Write, tmp_path: Path) -> None:
    (tmp_path / "one.xml").write_text('<mujoco><include file="two.xml"/></mujoco>')
    (tmp_path / "two.xml").write_text('<mujoco><include file="one.xml"/></mujoco>')
    with pytest.raises(ModelError, match="includes itself") as error:
        load(mjcf('<include file="one.xml"/>'))
    assert "two.xml:1" in error.value.where


def test_a_folder_for_includes_and_meshes(mjcf: Write, tmp_path: Path) -> None:
    """What lies outside of the folder of the file is read where the user allows it."""
    (tmp_path / "models").mkdir()
    (tmp_path / "body.xml").write_text(f"<mujoco>{body(INERTIAL)}</mujoco>")
    path = mjcf('<include file="../body.xml"/>', name="models/robot.xml")
    with pytest.raises(ModelError, match="outside"):
        load(path)
    assert len(import_model(path, root=tmp_path).mechanism.bodies) == 1


def test_meshes_may_be_ignored(mjcf: Write) -> None:
    path = mjcf(MESH.format("part.stl"))
    found = import_model(path, ignore_meshes=True)
    assert found.mechanism.bodies[0].massless
    assert "no inertia is given for a: massless" in found.notes


def test_without_trimesh(mjcf: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "trimesh", None)
    (tmp_path / "part.stl").write_bytes(b"")
    with pytest.raises(ModelError, match=r'pip install "mechid\[mesh\]"'):
        load(mjcf(MESH.format("part.stl")))


def test_meshes_that_are_none(mjcf: Write, tmp_path: Path) -> None:
    path = mjcf(MESH.format("part.stl"))
    (tmp_path / "part.stl").write_bytes(b"no mesh")
    with pytest.raises(ModelError, match=r"mesh part\.stl"):
        load(path)


@pytest.mark.parametrize(
    ("words", "message"),
    [({"base": "flying"}, "base"), ({"density": -1.0}, "density must be > 0"), ({"bse": 1}, "bse")],
)
def test_options(urdf: Write, words: dict[str, object], message: str) -> None:
    with pytest.raises(MechidError, match=message):
        import_model(urdf(link("a"), link("b"), HINGE), **words)
