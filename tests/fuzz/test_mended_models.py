"""The smallest inputs that showed what fuzzing found: models, robots, tables of hardpoints."""

from __future__ import annotations

import time
import warnings
import zipfile
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

import mechid
from mechid.errors import DataError, KinematicsError, MechidError, ModelError
from mechid.importing.hardpoint_table import read_hardpoints
from mechid.mechanism.plausible import implausible_units
from mechid.options.words import option_value
from mechid.report.plot import Axis
from mechid.textfile.expressions import parse

from . import fixtures, forms
from .drive import SECONDS
from .fixtures import SEEDS


def test_messages_are_short_and_printable() -> None:
    error = DataError("b" * 5000, where="a\x1b[31m\u202e", remedy="c\nd")
    said = str(error)
    assert len(said) < 2000
    assert said.isprintable()
    assert said.startswith("a")
    assert said.endswith("c d")


@pytest.mark.parametrize(
    "vertex", ["v 0 0", "v 1e300 0 0", "v nan 0 0"], ids=["plane", "huge", "not a number"]
)
def test_meshes_whose_points_are_wrong(tmp_path: Path, vertex: str) -> None:
    robot = tmp_path / "robot.xml"
    robot.write_text((SEEDS / "mesh.xml").read_text().replace("part.stl", "part.obj"))
    lines = (SEEDS / "part.obj").read_text().splitlines()
    wrong = [vertex if line.startswith("v") else line for line in lines]
    (tmp_path / "part.obj").write_text("\n".join(wrong))
    with pytest.raises(ModelError, match=r"part\.obj"):
        mechid.load(robot)


def test_loop_joints_far_away(tmp_path: Path) -> None:
    path = tmp_path / "loops.yaml"
    path.write_text((SEEDS / "loops.yaml").read_text().replace("0.6", "1e300"))
    with pytest.raises(ModelError, match=r"loops\.yaml:2: joints\.q4\.at: numbers must be"):
        mechid.import_model(SEEDS / "open.urdf", loops=path)


def test_copies_of_copies(tmp_path: Path) -> None:
    """Forty lines would stand for 2⁴⁰ bodies."""
    two = "{{a: {{subassembly: s{0}, suffix: _a}}, b: {{subassembly: s{0}, suffix: _b}}}}"
    lines = [f"  s{k}: {{use: {two.format(k + 1)}}}" for k in range(40)]
    path = tmp_path / "model.yaml"
    path.write_text(
        "mechid: 1\nname: a\nuse: {z: {subassembly: s0}}\nsubassemblies:\n"
        + "\n".join([*lines, "  s40: {bodies: {b: {massless: true}}}\n"])
    )
    with pytest.raises(ModelError, match="more than 1000 copies"):
        mechid.load(path)


def test_names_of_files_that_no_system_can_have(tmp_path: Path) -> None:
    path = tmp_path / "model.yaml"
    path.write_text(f"mechid: 1\nname: a\ninclude: {'a' * 5000}.yaml\n")
    with pytest.raises(ModelError, match="there is no file"):
        mechid.load(path)
    with pytest.raises(MechidError):
        mechid.load(f"{path}{'@a' * 3000}")


def test_included_files_that_are_links_to_themselves(tmp_path: Path) -> None:
    (tmp_path / "part.yaml").symlink_to(tmp_path / "part.yaml")
    path = tmp_path / "model.yaml"
    path.write_text("mechid: 1\nname: a\ninclude: [part.yaml]\n")
    with pytest.raises(MechidError, match=r"part\.yaml"):
        mechid.load(path)
    robot = tmp_path / "robot.xml"
    robot.write_text((SEEDS / "mesh.xml").read_text().replace("part.stl", "loop.stl"))
    (tmp_path / "loop.stl").symlink_to(tmp_path / "loop.stl")
    with pytest.raises(MechidError, match=r"loop\.stl"):
        mechid.load(robot)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("3 deg deg", "has two units"),
        ("(2*15 deg) rad", "has two units"),
        ("1,5", "write 1.5"),
        ("1e", "cannot read"),
        ("2*1e400", r"2\*1e400.* has no finite real value"),
    ],
)
def test_numbers_that_are_none(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parse(text)


def test_numbers_of_links_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "model.yaml"
    for value in ("1.5", "x"):
        path.write_text((SEEDS / "table.yaml").read_text().replace("link: 2", f"link: {value}"))
        with pytest.raises(ModelError, match=r"denavit_hartenberg\.1\.link: expected an integer, "):
            mechid.load(path)


@pytest.mark.parametrize(
    ("entry", "wrong"),
    [
        ({"unit": "deg", "offset": "30 deg"}, "offset"),
        ({"unit": "deg", "sigma": "(1/2) deg"}, "sigma"),
        ({"unit": "deg", "offset": "30*sin(30 deg)"}, ""),
        ({"offset": "30 deg"}, ""),
        ({"unit": "rad", "sigma": "0.1 deg"}, ""),
    ],
)
def test_numbers_with_a_unit_beside_another_unit(
    tmp_path: Path, entry: dict[str, object], wrong: str
) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(forms.csv_text(fixtures.log_columns()))
    mapping = {"positions": {"q1": {"channel": "q1"} | entry, "q2": "q2"}}
    with pytest.raises(DataError, match=f"q1.{wrong}: .* in deg") if wrong else nullcontext():
        mechid.read_measurement(path, mechid.load(fixtures.MODEL), mapping)


@pytest.mark.parametrize("text", ["sin(t)/" + "9" * 400, "3in(2*t)"])
def test_expressions_that_are_no_numbers_of_time(text: str) -> None:
    with warnings.catch_warnings(action="error"), pytest.raises(ValueError, match=r'^.*"[s3]'):
        parse(text)


def test_directions_that_rounding_hides(tmp_path: Path) -> None:
    path = tmp_path / "robot.xml"
    text = (SEEDS / "robot.xml").read_text("utf-8")
    assert 'quat="1 0 0 0"' in text
    path.write_text(text.replace('quat="1 0 0 0"', 'quat="1e-300 0 0 0"'), "utf-8")
    with pytest.raises(ModelError, match="the quaternion is zero"):
        mechid.load(path)


@pytest.mark.parametrize(
    ("was", "far"),
    [
        ('pos="0 0 1"', 'pos="0 0 1e5"'),
        ('name="d" pos="0 0.2 0"', 'name="d" pos="1e5 0.2 0"'),
        ('name="g" pos="0.2 0 0"', 'name="g" pos="0.2 0 1e5"'),
    ],
    ids=["robot", "branch", "loop"],
)
def test_bodies_that_stand_far_away(tmp_path: Path, was: str, far: str) -> None:
    """Motions of parts of 0.2 m drown in the rounding of 100 km: said so, and soon."""
    path = tmp_path / "robot.xml"
    text = (SEEDS / "robot.xml").read_text("utf-8")
    assert was in text
    path.write_text(text.replace(was, far), "utf-8")
    robot = mechid.load(path)
    begin = time.process_time()
    with pytest.raises(
        KinematicsError,
        match=r"points are up to 1e\+05 m apart, and the joints of body \w 0\.\d+ m",
    ):
        mechid.mobility(robot)
    assert time.process_time() - begin < SECONDS


def test_characters_that_no_text_has(tmp_path: Path) -> None:
    path = tmp_path / "motion.yaml"
    path.write_text("trajectory: 1\nname: a\x07b\n", "utf-8")
    with pytest.raises(
        MechidError, match=r"motion\.yaml:2: .*the character U\+0007 is not allowed"
    ):
        mechid.load_trajectory(path)


def test_an_option_of_thousands_of_digits() -> None:
    with pytest.raises(DataError, match=r"seed must have at most 18 digits, got 5000"):
        option_value("9" * 5000, int, "seed")
    assert option_value("9" * 18, int, "seed") == 10**18 - 1


def test_workbooks_whose_styles_do_not_exist(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    book = mechid.template("four-bar", tmp_path / "linkage")[0].with_name("hardpoints.xlsx")
    broken = tmp_path / "broken.xlsx"
    with zipfile.ZipFile(book) as old, zipfile.ZipFile(broken, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "xl/styles.xml":
                before, data = data, data.replace(b'xfId="0"', b'xfId="7"')
                assert data != before
            new.writestr(name, data)
    with pytest.raises(DataError, match="not an Excel workbook"):
        read_hardpoints(broken)
    assert capsys.readouterr().out == ""


def test_axes_of_numbers_near_the_largest() -> None:
    values = np.array([-4e306, 0.0, 4e306])
    axis = Axis.of([values], 0.0, 640.0, tight=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(axis.at(values), [0.0, 320.0, 640.0])


@pytest.mark.parametrize(
    ("angle", "words"),
    [
        (
            "9223372036854775808",
            r"bodies\.fore\.frame\.rpy\.0: an angle must be less than 4.3e\+09",
        ),
        ("cos(9223372036854775808)", "the angle in .* is too large; check the numbers"),
        ("tan(9e20)", "the angle in .* is too large; check the numbers"),
    ],
)
def test_angles_whose_last_digit_is_more_than_a_turn(
    tmp_path: Path, angle: str, words: str
) -> None:
    """Their sine and cosine were both called zero: the frame had no axes."""
    text = (fixtures.SEEDS / "everything.yaml").read_text("utf-8")
    changed = text.replace("rpy: [0, 30, 0]", f'rpy: ["{angle}", 30, 0]', 1)
    assert changed != text
    path = tmp_path / "everything.yaml"
    path.write_text(changed, "utf-8")
    with pytest.raises(MechidError, match=words):
        mechid.load(path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('size="0.1 0.1 0.1" mass="2"', 'size="0.1 5e-324 0.1" mass="2"'),
        ('type="capsule" size="0.02 0.1"', 'type="capsule" size="1e-300 0.1"'),
    ],
)
def test_geoms_whose_volume_is_no_number(tmp_path: Path, old: str, new: str) -> None:
    text = (fixtures.SEEDS / "robot.xml").read_text("utf-8")
    assert old in text
    path = tmp_path / "robot.xml"
    path.write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(MechidError, match="sizes must be at least 1e-30 m"):
        mechid.load(path)


def test_bodies_whose_radius_of_gyration_is_huge(tmp_path: Path) -> None:
    """Its third power, the volume of the mechanism, was no number."""
    text = (fixtures.SEEDS / "everything.yaml").read_text("utf-8")
    changed = text.replace("rpy: [0, 30, 0]}, mass: 1,", "rpy: [0, 30, 0]}, mass: 1e-300,", 1)
    assert changed != text
    path = tmp_path / "everything.yaml"
    path.write_text(changed, "utf-8")
    said = "\n".join(implausible_units(mechid.load(path)))
    assert "the radius of gyration of fore is 1.02e+149 m" in said
