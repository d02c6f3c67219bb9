"""Files that include others, and variants on top of one another."""

from __future__ import annotations

from pathlib import Path

import pytest

from mechid.errors import ModelError
from mechid.modelfile import build, load, loads

BASE = """mechid: 1
name: base
parameters: {l: 0.4}
points:
  O: [0, 0, 0]
bodies:
  bob: {mass: 2, inertia: {xx: 1, yy: 1, zz: 1}}
joints:
  hinge: {type: R, between: [ground, bob], at: O, axis: y}
coordinates:
  q: {joint: hinge}
variants:
  heavy: {bodies: {bob: {mass: 5}}}
  moon: {gravity: [0, 0, -1.62]}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "base.yaml").write_text(BASE)
    return tmp_path


def write(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


def test_what_a_file_says_is_merged_over_what_it_includes(folder: Path) -> None:
    file = write(
        folder, "m.yaml", "include: parts/base.yaml\nname: mine\nbodies: {bob: {mass: 3}}\n"
    )
    changed = BASE.replace("name: base", "name: mine").replace("mass: 2", "mass: 3")
    assert load(file) == loads(changed)
    assert load(f"{file}@moon") == loads(changed, variant="moon")


def test_several_files_and_removal(folder: Path) -> None:
    write(folder, "more.yaml", "parameters: {l: 0.7, h: l}\nbodies: {bob: {mass: 4}}\n")
    file = write(
        folder,
        "m.yaml",
        "include: [parts/base.yaml@heavy, more.yaml]\nvariants: null\ngravity: [0, 0, 0]\n",
    )
    m = load(file)
    assert {p.name: p.value for p in m.parameters} == {"l": 0.7, "h": 0.7}
    inertia = m.body("bob").inertia
    assert inertia is not None
    assert inertia.mass == 4
    with pytest.raises(ModelError, match="the file has no variants"):
        load(f"{file}@moon")
    stacked = write(folder, "s.yaml", "include: parts/base.yaml@heavy\n")
    assert load(f"{stacked}@moon") == loads(BASE, variant="heavy@moon")


def test_a_variant_of_an_included_file_may_remove_entries(folder: Path) -> None:
    text = BASE.replace(
        "  moon:", "  unknown: {bodies: {bob: {mass: null, inertia: null}}}\n  moon:"
    )
    (folder / "parts" / "base.yaml").write_text(text)
    file = write(folder, "m.yaml", "include: parts/base.yaml\nvariants: {heavy: null}\n")
    assert load(file) == loads(text)
    assert load(f"{file}@unknown") == loads(text, variant="unknown")
    with pytest.raises(ModelError, match="there is no variant heavy"):
        load(f"{file}@heavy")


def test_files_in_files_and_models_of_the_zoo(folder: Path) -> None:
    write(folder, "parts/middle.yaml", "include: base.yaml\ntitle: middle\n")
    file = write(folder, "m.yaml", "include: parts/middle.yaml\n")
    assert load(file).title == "middle"
    same = write(folder, "z.yaml", "include: pendulum\ntitle: mine\n")
    assert load(same).bodies == load("pendulum").bodies
    assert build(include="pendulum").joints == load("pendulum").joints


def test_variants_on_top_of_one_another() -> None:
    m = loads(BASE, variant="heavy@moon")
    inertia = m.body("bob").inertia
    assert inertia is not None
    assert (inertia.mass, m.gravity) == (5, (0, 0, -1.62))
    again = BASE + "  heavier: {bodies: {bob: {mass: 6}}, gravity: [0, 0, -3]}\n"
    assert loads(again, variant="heavier@moon").gravity == (0, 0, -1.62)
    assert loads(again, variant="moon@heavier").gravity == (0, 0, -3)
    zoo = load("four_bar@example-2")
    assert load("four_bar@example-2@example-2") == zoo
    with pytest.raises(ModelError, match=r"^f:12: variants: there is no variant mooon; did you"):
        loads(BASE, name="f", variant="heavy@mooon")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("include: absent.yaml", r"m\.yaml:1: include: there is no file .*absent\.yaml; "),
        ("include: [3]", r"m\.yaml:1: include\.0: expected the name of a file, got 3; write "),
        ("include: {a: b}", r"m\.yaml:1: include: expected the name of a file, got a mapping"),
        ("include: m.yaml", r"m\.yaml:1: include: the file includes itself: m\.yaml -> m\.yaml;"),
        (
            "include: parts/base.yaml\nunits: {length: mm}",
            r"m\.yaml:1: include: .*base\.yaml has other units; declare the same units in both",
        ),
        (
            "include: parts/base.yaml\njoints: {hinge: {at: P}}",
            r"m\.yaml:2: joints\.hinge\.at: there is no point P",
        ),
        (
            "include: parts/base.yaml\npoints: {O: null, P: [1, 0, 0]}",
            r"parts/base\.yaml:9: joints\.hinge\.at: there is no point O",
        ),
        (
            "include: parts/base.yaml@light",
            r"parts/base\.yaml:12: variants: there is no variant light; ",
        ),
        (
            "include: parts/base.yaml\npoints: {Q: null}",
            r"m\.yaml:2: points\.Q: the file has no Q to remove",
        ),
    ],
)
def test_errors_name_the_file_in_which_they_are(folder: Path, text: str, message: str) -> None:
    file = write(folder, "m.yaml", text + "\n")
    with pytest.raises(ModelError, match=message) as caught:
        load(file)
    assert str(caught.value).count(".yaml:") == 1


def test_files_that_include_one_another(folder: Path) -> None:
    write(folder, "a.yaml", "include: b.yaml\n")
    write(folder, "b.yaml", "title: b\ninclude: [a.yaml]\n")
    with pytest.raises(ModelError, match=r"b\.yaml:2: include\.0: .*: a\.yaml -> b\.yaml -> a\.y"):
        load(folder / "a.yaml")


def test_variant_of_an_included_file_is_found_there(folder: Path) -> None:
    text = BASE + "  wrong: {bodies: {bob: {mass: -1}}}\n"
    write(folder, "base.yaml", text)
    file = write(folder, "m.yaml", "include: base.yaml\n")
    with pytest.raises(ModelError, match=r"/base\.yaml:15: bodies\.bob\.mass: this inertia is"):
        load(f"{file}@wrong")
