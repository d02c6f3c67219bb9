"""Tables that are wrong, incomplete or implausible: one message each, with the cell."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mechid

POINTS = "point,x,y,z,unit\n"
SIGMA = "body,mass,mass unit,mass uncertainty\n"
BODY = "body,mass,mass unit,Ixx,Iyy,Izz,inertia unit\n"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return mechid.template("four-bar", tmp_path)[0]


def filled(model: Path, text: str, **words: object) -> mechid.Filled:
    table = model.with_name("mine.csv")
    table.write_text(text, encoding="utf-8")
    return mechid.fill(model, table, **words)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (POINTS + "D,1,2,3,m\n", "row 2, column A: the model has no point D; choose one of: O, A"),
        (POINTS + "A,1,2,3,\n", "row 2, column E (unit): the unit is missing; write one of: m, cm"),
        (POINTS + "A,1,2,3,km\n", 'column E (unit): "km" is not a unit of length'),
        (POINTS + "A,1,2,3,kg\n", '"kg" is not a unit of length'),
        (POINTS + "A,1,two,3,m\n", 'row 2, column C (y): "two" is not a number'),
        (POINTS + "A,1,2 mm,3,m\n", 'column C (y): "2 mm" is not a number; write a plain number'),
        (POINTS + "A,1,nan,3,m\n", '"nan" is not a number'),
        (POINTS + "A,1,1e999,3,m\n", '"1e999" is not a number'),
        (POINTS + "A,1,-1e31,3,m\n", '"-1e31" is not a number'),
        (POINTS + "A,1,,3,m\n", "column C (y): the value is missing"),
        (POINTS + "A,1,2,3,m\n\nA,1,2,3,m\n", "row 4, column A: point A is given twice"),
        (POINTS + ",1,2,3,m\n", "row 2, column A (point): the name is missing"),
        ("point,x,y,unit\nA,1,2,m\n", "row 2, column A: column z is missing; add it to the titles"),
        ("point,x,x,z,unit\nA,1,2,3,m\n", "row 1, column C: there are two columns x"),
        ("point,x [mm],y [m],z\nA,1,2,3\n", "different units, mm and m"),
        (POINTS + "A,0,7,0,7,0,m\n", 'row 2, column F: "0" stands under no title'),
        ('point;x;y;z;unit\nA;"1.234,5";0;0;mm\n', "without separators of thousands"),
        ("point;x;y;z;unit\nA;1,5;0.2;0;m\n", '"1,5" has a decimal comma, but "0.2"'),
        ("name,x,y,z\nA,1,2,3\n", "the table has no points, parameters or bodies"),
        ("", "the table has no points, parameters or bodies"),
        (BODY + "bar_1,0,kg,1,1,1,kg m²\n", "row 2, column B (mass): the mass must be > 0, got 0"),
        (BODY + "bar_1,-1,kg,1,1,1,kg m²\n", "the mass must be > 0, got -1"),
        (BODY + "bar_1,1,,1,1,1,kg m²\n", "(mass unit): the unit is missing"),
        (BODY + "bar_1,1,kg,1,1,1,m\n", 'column G (inertia unit): "m" is not a unit of inertia'),
        (BODY + "bar_1,1,kg,1,,1,kg m²\n", "column E (Iyy): the value is missing"),
        (BODY + "bar_1,1,kg,1,1,9,kg m²\n", "column D (Ixx): bodies.bar_1.inertia: this"),
        (SIGMA + "bar_1,1,kg,-5 %\n", "column D (mass uncertainty): bodies.bar_1.uncertainty.mass"),
        (SIGMA + "bar_1,1,kg,x %\n", "column D (mass uncertainty): "),
        ("body,cx,cy,cz,centre unit,centre in\nbar_1,1,0,0,m,car\n", '"car" is not a frame; write'),
        ("body,Ixx,Iyy,Izz,inertia unit,about\nbar_1,1,1,1,kg m2,Q\n", "there is no point Q"),
        ("body,mass,mass unit\nbar_9,1,kg\n", "the model has no body bar_9; did you mean bar_"),
        ("parameter,value,unit\nl1,1,m\n", "the model has no parameter l1; it has no parameters"),
        (POINTS + "A,0,0,0,m\n", "bodies.bar_1.frame"),  # O and A are one: no direction
    ],
)  # fmt: skip
def test_wrong_tables(model: Path, text: str, message: str) -> None:
    with pytest.raises(mechid.MechidError) as error:
        filled(model, text)
    assert message in str(error.value)
    assert "mine.csv" in str(error.value) or "frame" in message


def test_what_the_model_computes_is_not_for_a_table(tmp_path: Path) -> None:
    model = mechid.template("macpherson", tmp_path)[0]
    with pytest.raises(mechid.DataError, match="the model computes point arm_pad from other"):
        filled(model, POINTS + "arm_pad,1,2,3,mm\n")
    model = mechid.template("delta", tmp_path / "delta")[0]
    with pytest.raises(mechid.DataError, match="the model computes parameter depth"):
        filled(model, "parameter,value,unit\ndepth,500,mm\n")
    for text, message in (
        ("rod_length,500,kg", '"kg" is not a unit of rod_length; write m'),
        ("rod_length,500,", "the unit is missing; write m"),
        ("arm_angle,22,", "the unit is missing; write deg or rad"),
        ("arm_angle,22,mm", '"mm" is not a unit of arm_angle; write deg or rad'),
    ):
        with pytest.raises(mechid.DataError, match="row 2") as error:
            filled(model, f"parameter,value,unit\n{text}\n")
        assert message in str(error.value)


def test_bodies_with_scattered_copies_are_given_in_their_own_frame(tmp_path: Path) -> None:
    model = mechid.template("stewart", tmp_path)[0]
    text = "body,cx,cy,cz,centre unit,centre in\nrod,0,0,0.5,m,ground\n"
    with pytest.raises(mechid.DataError, match="rod has several copies"):
        filled(model, text)


@pytest.mark.parametrize(
    "text",
    [
        "point;x;y;z;unit\nA;707,25;0,5;0;mm\n",  # decimal commas
        "point\tx\ty\tz\tunit\nA\t70.725\t0.05\t0\tcm\n",
        'point,x,y,z,unit\nA,"0,70725","0,0005",0,m\n',
        "Point,X [mm],Z (mm),y [mm]\nA,707.25,0,0.5\n",  # units in titles, another order
        "# my table\nsome text\n,hardpoint,x,y,z,unit\n,A,.70725,+5e-4,0.,m\n,# a note,,,,\n",
    ],
)
def test_ways_to_write_a_point(model: Path, text: str) -> None:
    found = filled(model, text)
    assert found.points == ("A",)
    joint = next(j for j in found.mechanism.joints if j.name == "q2")
    body = found.mechanism.body(joint.body_b)
    assert body.frame.origin == (0.70725, 0.0005, 0.0)  # not rounded on the way


def test_a_comment_may_have_other_signs(model: Path) -> None:
    text = (
        "# a, b, c\n# d, e\n# f, g\npoint;x;y;z;unit;what it is\nA;0,7;0,7;0;m;1.5 of it, or so\n"
    )
    assert filled(model, text).points == ("A",)


def test_what_windows_calls_text(model: Path) -> None:
    table = model.with_name("mine.csv")
    table.write_bytes("body;Ixx;Iyy;Izz;inertia unit\nbar_1;0,02;1;1;kg m²\n".encode("cp1252"))
    assert mechid.fill(model, table).bodies == ("bar_1",)


def test_what_is_missing_is_said(model: Path) -> None:
    text = POINTS + "A,0.7,0.7,0,m\nB,,,,\n" + "body,mass,mass unit,remark\nbar_1,1.1,kg,new\n"
    found = filled(model, text)
    assert found.kept == ("point O", "point B", "point C", "body bar_2", "body bar_3")
    assert found.notes == (
        f"{model.with_name('mine.csv')}: row 4, column D: column remark is not used",
    )
    words = "row 5, column A: centre and inertia of bar_1 not given: the model keeps its own"
    assert found.warnings[0].endswith(words)
    assert "has no numbers for point O, point B" in found.warnings[1]
    before = mechid.load(model).body("bar_1").inertia
    after = found.mechanism.body("bar_1").inertia
    assert before is not None
    assert after is not None
    assert after.mass == 1.1
    assert after.center == before.center
    assert after.inertia_center == before.inertia_center


def test_moved_points_are_said(model: Path) -> None:
    size = 3.921  # of the template; 25 % are 0.98 m
    assert not any("moved" in w for w in filled(model, POINTS + "C,3.9,0,0,m\n").warnings)
    found = filled(model, POINTS + "C,4.1,0,0,m\n")
    assert "row 2, column B (x): point C moved by 1.1 m: check signs and unit" in found.warnings[-1]
    for move in ("5 %", 0.05 * size, "0.196"):
        near = filled(model, POINTS + "C,3.19,0,0,m\n", largest_move=move)
        far = filled(model, POINTS + "C,3.2,0,0,m\n", largest_move=move)
        assert not any("moved" in w for w in near.warnings)
        assert any("point C moved by 0.2 m" in w for w in far.warnings)
    for wrong in (0, "-3 %", "far"):
        with pytest.raises(mechid.DataError, match="largest_move"):
            filled(model, POINTS + "C,3.2,0,0,m\n", largest_move=wrong)


def test_another_origin_is_not_implausible(model: Path) -> None:
    shifted = POINTS + "O,5,5,0,m\nA,5.707,5.707,0,m\nB,8.552,6.661,0,m\nC,8,5,0,m\n"
    assert not any("moved" in w for w in filled(model, shifted).warnings)
    wrong = shifted.replace("8.552,6.661", "-8.552,6.661")
    found = [w for w in filled(model, wrong).warnings if "moved" in w]
    assert len(found) == 1
    assert "point B moved by 17.1 m against the others" in found[0]


def test_a_table_in_mm_that_says_m(model: Path) -> None:
    text = POINTS + "O,0,0,0,m\nA,707,707,0,m\nB,3552,1661,0,m\nC,3000,0,0,m\n"
    assert filled(model, text).warnings[-1] == (
        "the model is 3.92e+03 m in size, before it was 3.92 m: are the numbers in mm, and the "
        "unit says m?"
    )
    small = filled(model, text.replace(",m\n", ",mm\n").replace("0,mm", "0e-3,mm"))
    assert not any("in size" in w for w in small.warnings)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("bar_1,1,t,1,1,1,t m²", "the mass of body bar_1 is 1e+03 kg, in the model 1 kg"),
        ("bar_1,1,g,1,1,1,g m²", "the mass of body bar_1 is 0.001 kg"),
        ("bar_1,1,kg,20,20,20,t m²", "(Ixx): the radius of gyration of body bar_1 is 173 m"),
        ("bar_1,1,kg,2,2,2,kg mm²", "the radius of gyration of body bar_1 is 0.00173 m"),
    ],
)  # fmt: skip
def test_implausible_bodies(model: Path, row: str, message: str) -> None:
    assert any(message in w for w in filled(model, BODY + row + "\n").warnings)


def test_centres_in_mm_that_say_m(model: Path) -> None:
    found = filled(model, "body,cx,cy,cz,centre unit\nbar_1,500,0,0,m\n")
    message = "column B (cx): the distance of the centre of body bar_1 is 500 m"
    assert any(message in w for w in found.warnings)


def test_uncertainty(model: Path) -> None:
    text = (
        "body,mass,mass unit,cx,cy,cz,centre unit,Ixx,Iyy,Izz,inertia unit,mass uncertainty,"
        "centre uncertainty,inertia uncertainty\n"
        "bar_1,2000,g,500,0,0,mm,0.02,1,1,kg m²,50,3,10 %\n"
    )
    cad = filled(model, text).mechanism.body("bar_1").inertia
    assert cad is not None
    assert cad.sigma_mass == pytest.approx(0.05)
    np.testing.assert_allclose(cad.sigma_center, 0.003)
    assert cad.sigma_inertia[0] == pytest.approx(0.002)


def test_about_a_point(model: Path) -> None:
    """The moment of a rod about its end is m l²/3, about its centre m l²/12."""
    text = (
        "body,mass,mass unit,cx,cy,cz,centre unit,Ixx,Iyy,Izz,inertia unit,about\n"
        "bar_3,3,kg,0.5,0,0,m,0.01,1,1,kg m²,C\n"
    )
    cad = filled(model, text).mechanism.body("bar_3").inertia
    assert cad is not None
    np.testing.assert_allclose(cad.inertia_center, [0.01, 0, 0, 0.25, 0, 0.25], atol=1e-15)


def test_points_that_share_a_name_are_told_apart(tmp_path: Path) -> None:
    """A point of the file and one of a subassembly: the second is called subassembly.point."""
    model = tmp_path / "m.yaml"
    model.write_text(
        "mechid: 1\nname: m\npoints: {P: [0, 0, 0]}\n"
        "bodies: {a: {frame: {origin: P}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}}\n"
        "joints: {j: {type: revolute, between: [ground, a], at: P, axis: z}}\n"
        "coordinates: {q: {joint: j}}\n"
        "subassemblies:\n  arm:\n    points: {P: [1, 0, 0]}\n"
        "    bodies: {b: {mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}}\n"
        "    joints: {k: {type: revolute, between: [a, b], at: P, axis: z}}\n"
        "    coordinates: {r: {joint: k}}\n"
        "use: {one: {subassembly: arm, suffix: _1}}\n"
    )
    found = filled(model, POINTS + "P,0,0,1,m\narm.P,1,0,1,m\n")
    assert found.points == ("P", "arm.P")
    assert found.mechanism.body("a").frame.origin == (0.0, 0.0, 1.0)
    assert found.mechanism.body("b_1").frame.origin == (1.0, 0.0, 1.0)
    assert filled(model, "body,mass,mass unit\narm.b,2,kg\n").bodies == ("b",)
    with pytest.raises(mechid.DataError, match="body b is given twice"):
        filled(model, "body,mass,mass unit\narm.b,2,kg\nb,2,kg\n")


NESTED = """mechid: 1
name: m
subassemblies:
  arm:
    parameters: {x: 1, y: 0, z: 0, w: 2}
    points: {P: [x, y, z], Q: [x, y, w]}
    bodies: {b: {frame: {origin: P}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}, points: [Q]}}
    joints: {k: {type: revolute, between: [ground, b], at: P, axis: z}}
    coordinates: {r: {joint: k}}
  pair:
    use:
      one: {subassembly: arm, suffix: _1, parameters: {x: 3, y: 0, z: 0}}
      two: {subassembly: arm, suffix: _2}
use: {all: {subassembly: pair}}
"""


def test_copies_inside_of_subassemblies(tmp_path: Path) -> None:
    """Copy one has a point of its own, copy two that of the subassembly; Q shares coordinates."""
    model = tmp_path / "m.yaml"
    model.write_text(NESTED)
    found = filled(model, POINTS + "pair.one.P,5,6,7,m\n")
    assert found.mechanism.body("b_1").frame.origin == (5.0, 6.0, 7.0)
    assert found.mechanism.body("b_2").frame.origin == (1.0, 0.0, 0.0)
    text = POINTS + "P,5,6,7,m\nQ,5,6,8,m\n"
    found = filled(model, text)
    assert found.mechanism.body("b_2").frame.origin == (5.0, 6.0, 7.0)
    with pytest.raises(mechid.DataError, match="gets 9, and another value from row 2, column C"):
        filled(model, text.replace("Q,5,6", "Q,5,9"))
