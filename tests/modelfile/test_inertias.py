"""Inertia given in other axes and about other points, point masses, and limits of bodies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from mechid.errors import ModelError
from mechid.mechanism.records import CadInertia, Mechanism
from mechid.modelfile import build, dumps, loads

number = st.floats(-2, 2).map(lambda x: round(x, 3))
three = st.lists(number, min_size=3, max_size=3)
SIX = ("xx", "xy", "xz", "yy", "yz", "zz")
UPPER = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def model(**words: Any) -> Mechanism:
    m = build(
        name="m",
        points={"P": [0.3, -0.2, 0.5], "Q": {"in": "b", "at": [0.1, 0.2, 0.3]}},
        bodies={
            "other": {"frame": {"origin": [1, 0, 0], "rpy": [0.4, -0.2, 1.3]}},
            "b": {"frame": {"origin": [0.1, 0.1, 0.1], "rpy": [0.2, 0.5, -0.7]}, **words},
        },
        joints={
            "j": {"type": "F", "between": ["ground", "b"]},
            "k": {"type": "F", "between": ["ground", "other"]},
        },
    )
    assert loads(dumps(m)) == m
    return m


def cad(**words: Any) -> CadInertia:
    inertia = model(**words).body("b").inertia
    assert inertia is not None
    return inertia


def cloud(masses: list[float], places: list[list[float]]) -> tuple[float, np.ndarray, np.ndarray]:
    """Return mass, centre and central tensor of points, as sums."""
    m, r = np.array(masses), np.array(places)
    center = m @ r / m.sum()
    d = r - center
    tensor = sum(mi * (di @ di * np.eye(3) - np.outer(di, di)) for mi, di in zip(m, d, strict=True))
    return float(m.sum()), center, np.asarray(tensor)


def words_of(tensor: np.ndarray) -> dict[str, float]:
    return {key: float(tensor[ij]) for key, ij in zip(SIX, UPPER, strict=True)}


def six(tensor: np.ndarray) -> list[float]:
    return [float(tensor[ij]) for ij in UPPER]


BOX = [[x, y, z] for x in (-0.3, 0.3) for y in (-0.2, 0.2) for z in (-0.1, 0.1)]


@pytest.mark.slow
@given(three, three, three)
@settings(max_examples=20)
def test_axes_and_pole(rpy: list[float], center: list[float], pole: list[float]) -> None:
    """The eight corners of a turned box, summed in body axes and about any pole."""
    R = Rotation.from_euler("xyz", rpy).as_matrix()
    corners = [R @ np.array(p) + center for p in BOX]
    mass, middle, tensor = cloud([0.25] * 8, [list(p) for p in corners])
    _, _, principal = cloud([0.25] * 8, BOX)
    d = middle - pole
    about = tensor + mass * (d @ d * np.eye(3) - np.outer(d, d))
    expected = pytest.approx(six(tensor), abs=1e-12)
    start = {"mass": mass, "center": list(map(float, middle))}
    turned = {"axes": {"rpy": rpy}, **words_of(principal)}
    assert list(cad(**start, inertia=turned).inertia_center) == expected
    matrix = {"axes": {"rotation": R.tolist()}, **words_of(principal)}
    assert list(cad(**start, inertia=matrix).inertia_center) == expected
    elsewhere = {"about": pole, **words_of(about)}
    assert list(cad(**start, inertia=elsewhere).inertia_center) == expected
    both = {"about": pole, "axes": {"rpy": rpy}, **words_of(R.T @ about @ R)}
    assert list(cad(**start, inertia=both).inertia_center) == expected


def test_axes_of_bodies_and_named_poles() -> None:
    body = Rotation.from_euler("xyz", [0.2, 0.5, -0.7]).as_matrix()
    other = Rotation.from_euler("xyz", [0.4, -0.2, 1.3]).as_matrix()
    _, _, tensor = cloud([0.25] * 8, BOX)
    start = {"mass": 2, "center": [0, 0, 0]}
    expected = pytest.approx(six(tensor), abs=1e-13)
    for axes, R in (("other", body.T @ other), ("ground", body.T), ("b", np.eye(3))):
        given = words_of(R.T @ tensor @ R)
        assert list(cad(**start, inertia={"axes": axes, **given}).inertia_center) == expected
    P = body.T @ (np.array([0.3, -0.2, 0.5]) - 0.1)
    for name, d in (("P", P), ("Q", np.array([0.1, 0.2, 0.3])), ("origin", np.zeros(3))):
        about = tensor + 2 * (d @ d * np.eye(3) - np.outer(d, d))
        given = {"about": name, **words_of(about)}
        assert list(cad(**start, inertia=given).inertia_center) == expected


@given(st.lists(st.tuples(st.floats(0.01, 3), three), min_size=1, max_size=5), st.booleans())
@settings(max_examples=30)
def test_point_masses(points: list[tuple[float, list[float]]], whole: bool) -> None:
    words: dict[str, Any] = {"point_masses": [{"mass": m, "at": at} for m, at in points]}
    masses, places = [m for m, _ in points], [at for _, at in points]
    if whole:
        _, _, tensor = cloud([0.25] * 8, BOX)
        words |= {"mass": 2, "inertia": words_of(tensor)}
        masses, places = masses + [0.25] * 8, places + BOX
    mass, center, tensor = cloud(masses, places)
    found = cad(**words)
    assert found.mass == pytest.approx(mass)
    assert list(found.center) == pytest.approx(list(center), abs=1e-12)
    assert list(found.inertia_center) == pytest.approx(six(tensor), abs=1e-12)


def test_point_mass_at_a_named_point() -> None:
    found = cad(point_masses=[{"mass": 3, "at": "Q"}], uncertainty={"mass": "10 %"})
    assert found.mass == 3
    assert found.center == pytest.approx((0.1, 0.2, 0.3))
    assert found.inertia_center == (0,) * 6
    assert found.sigma_mass == pytest.approx(0.3)


def test_mirrored_point_masses() -> None:
    part = {
        "bodies": {
            "b": {
                "frame": {"origin": [0.1, 0.2, 0.3]},
                "point_masses": [
                    {"mass": 1, "at": [0.3, 0.1, -0.2]},
                    {"mass": 2, "at": [0.1, 0.5, 0.2]},
                ],
            }
        },
        "joints": {"j": {"type": "F", "between": ["ground", "b"]}},
    }
    use = {"subassembly": "p", "mirror": "y"}
    m = build(name="m", subassemblies={"p": part}, use={"u": use})
    found = m.body("b").inertia
    assert found is not None
    _, center, tensor = cloud([1, 2], [[0.3, -0.1, -0.2], [0.1, -0.5, 0.2]])
    assert list(found.center) == pytest.approx(list(center))
    assert list(found.inertia_center) == pytest.approx(six(tensor))


@pytest.mark.parametrize(
    "inertia",
    [
        {"xx": 0, "yy": 0.3, "zz": 0.3},  # a rod along x
        {"xx": 0.1, "yy": 0.2, "zz": 0.3},  # a plate
        {"xx": 0, "yy": 0, "zz": 0},  # a point
        {"about": "origin", "xx": 0, "yy": 0.5, "zz": 0.5},  # a point at (0.5, 0, 0)
        {"axes": {"rpy": [0.3, 0.2, 0.1]}, "xx": 0.2, "yy": 0, "zz": 0.2},
    ],
)
def test_limits_of_bodies(inertia: dict[str, Any]) -> None:
    found = cad(mass=2, center=[0.5, 0, 0], inertia=inertia)
    assert found.mass == 2


def test_numbers_that_no_body_can_have() -> None:
    wrong = {"xx": 1, "yy": 1, "zz": 3}
    found = cad(mass=2, inertia={**wrong, "allow_nonphysical": True})
    assert found.inertia_center == (1, 0, 0, 1, 0, 3)
    assert "allow_nonphysical: true" in dumps(
        model(mass=2, inertia={**wrong, "allow_nonphysical": True})
    )
    # The word alone changes nothing.
    fine = {"xx": 1, "yy": 1, "zz": 1}
    assert cad(mass=2, inertia={**fine, "allow_nonphysical": True}) == cad(mass=2, inertia=fine)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            {"mass": 2, "inertia": {"xx": 1, "yy": 1, "zz": 3}},
            r"bodies\.b\.inertia: .*1 \+ 1 < 3; .*allow_nonphysical: true",
        ),
        (
            {"mass": -2, "inertia": {"xx": 1, "yy": 1, "zz": 1, "allow_nonphysical": True}},
            r"bodies\.b\.mass: .*mass must be > 0, got -2 kg",
        ),
        ({"point_masses": [{"mass": 0, "at": "P"}]}, r"point_masses\.0\.mass: .* > 0, got 0;"),
        ({"point_masses": [{"mass": 1}]}, r"bodies\.b\.point_masses\.0: at is missing"),
        ({"point_masses": [{"mass": 1, "at": "X"}]}, r"point_masses\.0\.at: there is no point X"),
        (
            {"massless": True, "point_masses": [{"mass": 1, "at": "P"}]},
            "the body is massless, but has point_masses",
        ),
        (
            {"mass": 1, "point_masses": [{"mass": 1, "at": "P"}]},
            r"bodies\.b: inertia is missing; give",
        ),
        (
            {"mass": 1, "inertia": {"axes": "c", "xx": 1, "yy": 1, "zz": 1}},
            r"inertia\.axes: there is no body c",
        ),
        (
            {
                "mass": 1,
                "inertia": {
                    "axes": {"rotation": [[1, 1, 0], [0, 1, 0], [0, 0, 1]]},
                    "xx": 1,
                    "yy": 1,
                    "zz": 1,
                },
            },
            r"inertia\.axes\.rotation: the matrix is not a rotation",
        ),
    ],
)
def test_errors(words: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        cad(**words)
