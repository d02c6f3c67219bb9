"""Whether transfers explain everything, found out without a proof."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from mechid.base import quick
from mechid.base.analyse import base_parameters
from mechid.base.bounds import bounds
from mechid.base.certificate import certificate
from mechid.base.experiment import EVERYTHING
from mechid.base.quick import QuickRank, quick_rank
from mechid.base.verify import verify
from mechid.mechanism.records import Mechanism
from mechid.modelfile import build


@cache
def bennett(angle: float = 1.0) -> Mechanism:
    """Bennett's linkage: four revolute joints that move though six would be needed.

    Opposite links are equal, lengths are as the sines of the twists, and the angles of neighbours
    obey tan(t1/2) tan(t2/2) = sin((α + β)/2) / sin((β - α)/2).
    """
    a, b, alpha = 1.0, 0.6, np.deg2rad(60)
    beta = np.arcsin(b / a * np.sin(alpha))
    ratio = np.sin((alpha + beta) / 2) / np.sin((beta - alpha) / 2)
    second = 2 * np.arctan(ratio / np.tan(angle / 2))
    T, points, axes = np.eye(4), [], []
    for t, (length, twist) in zip(
        (angle, second, -angle, -second), ((a, alpha), (b, beta)) * 2, strict=True
    ):
        points.append(T[:3, 3].tolist())
        axes.append(T[:3, 2].tolist())
        c, s, ca, sa = np.cos(t), np.sin(t), np.cos(twist), np.sin(twist)
        T = T @ np.array(
            [[c, -s * ca, s * sa, length * c], [s, c * ca, -c * sa, length * s],
             [0, sa, ca, 0], [0, 0, 0, 1]]
        )  # fmt: skip
    assert np.allclose(T, np.eye(4), atol=1e-14)
    names = ["ground", "b1", "b2", "b3", "ground"]
    return build(
        name="bennett",
        gravity=[0, 0, -9.81],
        points={f"P{i}": p for i, p in enumerate(points)},
        bodies={f"b{i}": {"frame": {"origin": f"P{i - 1}"}} for i in (1, 2, 3)},
        joints={
            f"j{i}": {
                "type": "revolute",
                "between": [names[i], names[i + 1]],
                "at": f"P{i}",
                "axis": axes[i],
            }
            for i in range(4)
        },
        coordinates={"q": {"joint": "j0"}},
    )


def test_bennett_linkage() -> None:
    """One relation more than transfers know: 7, as singular values say too."""
    found = base_parameters(bennett())
    assert found.chosen.rank == 8
    assert found.quick == QuickRank(8, 7, "double precision")


def test_a_loop_that_closes_to_rounding_proves_nothing() -> None:
    """Its numbers are rounded: at 1e-15 the columns look independent in ball arithmetic."""
    found = bounds(bennett(), precision=192)
    assert (found.upper, found.lower) == (8, 7)
    assert not found.closes
    verdict = verify(certificate(found))
    assert verdict.valid
    assert not verdict.certified
    assert verdict.proved == "nothing"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "upper", "rank"),
    [
        ("four_bar", 8, 8),
        ("macpherson", 41, 40),  # a spring that cannot be told from a weight
        ("bricard", 22, 22),
        ("screw_press", 15, 15),
        ("sla_suspension", 83, 83),
    ],
)
def test_models_whose_number_is_known(spec: str, upper: int, rank: int) -> None:
    quick = base_parameters(spec).quick
    assert quick is not None
    assert (quick.upper, quick.rank) == (upper, rank)
    assert quick.reached == (upper == rank)


def test_bounds_say_more() -> None:
    assert base_parameters("four_bar", certify=True).quick is None


@pytest.mark.parametrize(("ranks", "asked"), [((3, 4), [True, False]), ((4, 2), [True])])
def test_near_states_are_tried_where_far_ones_do_not_suffice(
    ranks: tuple[int, int], asked: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Columns of the given ranks for far and for near states: the better of both counts."""
    seen = []

    def states(*_: object, wide: bool = True) -> np.ndarray:
        seen.append(wide)
        return np.eye(6, 4)[None] * (np.arange(4) < ranks[0 if wide else 1])

    monkeypatch.setattr(quick, "float_observation", states)
    monkeypatch.setattr(quick, "candidates", lambda _: ("a", "b", "c", "d"))
    null = SimpleNamespace(zeros=("x",))
    found = quick_rank(None, EVERYTHING, null)  # type: ignore[arg-type]
    assert found == QuickRank(4, 4, "double precision")
    assert seen == asked
