"""The study of worlds: it runs, and its scores are what they are defined to be."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from mechid.dynamics.inverse import inverse_dynamics
from mechid.kinematics.motion import solve_motion

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def benchmarks() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        yield importlib.import_module


@pytest.fixture(scope="module")
def cases(benchmarks) -> ModuleType:
    return benchmarks("worlds_cases")


@pytest.fixture(scope="module")
def scores(benchmarks) -> ModuleType:
    return benchmarks("worlds_scores")


@pytest.fixture(scope="module")
def study(benchmarks) -> ModuleType:
    return benchmarks("worlds_study")


@pytest.fixture(scope="module")
def five(cases, tmp_path_factory) -> Any:
    return cases.Case.of(cases.MACHINES["five_bar"], tmp_path_factory.mktemp("motions"))


def test_other_motions_are_of_the_machine_that_was_measured(cases, five):
    log, problem = five.measured("friction", 1)
    np.testing.assert_array_equal(problem.tau, log.tau)
    for motion, other in zip(five.motions[1:], five.others(log), strict=True):
        solved = solve_motion(five.mechanism, motion.y, motion.yd, motion.ydd, time=motion.time)
        friction = other.tau - inverse_dynamics(solved).tau
        # Friction takes power at every sample; the model itself is the truth.
        assert np.all(np.sum(friction * motion.yd, axis=1) > 0)
    log, _ = five.measured("white", 1)
    for r in five.others(log):
        np.testing.assert_allclose(r.W @ five.truth(log) + r.known, r.tau, atol=1e-8)


def test_every_world_has_data_for_every_seed(cases, five):
    for name, world in cases.WORLDS.items():
        for seed in (0, 1):
            log, problem = five.measured(name, seed)
            assert problem.tau.shape[1] == 2
            assert np.any(log.tau != log.exact), (name, seed)
        single = {**world.one, **({"hardpoints": ""} if world.two else {})}
        for kind in single:
            drawn = log.errors[kind]
            assert sum(bool(np.any(x)) for x in drawn.values()) == (2 if world.two else 1)


def test_a_study_and_its_page(study, five, benchmarks):
    found = [
        study.outcome(five, "five_bar", world, seed, study.METHODS, {})
        for world in ("white", "unit")
        for seed in (0, 1)
    ]
    by_world = {s.world: s for s in benchmarks("worlds_scores").scores(found)}
    white = by_world["white"]
    assert white.ratio < 1.5
    assert white.errors("auto").max() < 0.5 * white.errors("CAD alone").min()
    # A force that is a thousand times too small makes every estimate worse than the CAD values.
    assert by_world["unit"].best_simple == "CAD alone"
    text = benchmarks("worlds_page").page(found, found)
    assert "| white, 5 % |" in text
    assert "auto before" in text
    again = study.outcome(five, "five_bar", "white", 0, ["CAD alone"], found[0]["methods"])
    assert again["methods"]["auto"] == found[0]["methods"]["auto"]


def result(*total: float, z: tuple[float, ...] = (), warnings: tuple[str, ...] = ()) -> Any:
    names = ["m_1", "mx_1", "Ixx_1", "k_spring"]
    return {"total": total, "overall": total, "inside_forces": [1.0, 0.5], "known": ["a 3 %"],
            "warnings": warnings, "z": dict(zip(names, z, strict=False))}  # fmt: skip


def test_scores(scores):
    def seed(cad: float, ols: float, auto: float, **words: Any) -> Any:
        methods = {"CAD alone": result(cad, cad), "least squares": result(ols, ols),
                   "auto": result(auto, auto, **words)}  # fmt: skip
        methods["auto"]["gain"] = {"M1": 0.08}
        drawn = {"gain": {"M1": 0.1, "M2": 0.0}}
        return {"machine": "five_bar", "world": "white", "drawn": drawn, "seed": 0,
                "methods": methods}  # fmt: skip

    (found,) = scores.scores(
        [
            seed(4.0, 2.0, 1.0, z=(0.5, -1.0, 2.0, 0.0)),
            seed(4.0, 2.0, 3.0, z=(3.0, 1.0, 0.0, 0.0), warnings=("gain of M1 10 % (much); x",)),
            seed(4.0, 8.0, 6.0, z=(0.0, 0.0, 0.0, 0.0)),
        ]
    )
    assert found.best_simple == "least squares"
    assert found.ratio == 1.5  # medians 3 and 2
    assert found.worst == 1.5  # 1/2, 3/2, 6/4
    assert found.coverage() == pytest.approx(10 / 12)
    assert found.coverage(kind="mass") == pytest.approx(2 / 3)
    assert found.coverage(kind="inertia") == pytest.approx(2 / 3)
    assert found.coverage(kind="element") == 1
    assert found.rms_z() == pytest.approx(np.sqrt((0.25 + 1 + 4 + 9 + 1) / 12))
    assert found.force_coverage == 0.75
    assert found.silent_losses == 1
    assert found.said("warnings") == ["gain of M1 … (1)"]
    assert found.missed("gain") == pytest.approx(0.2)
    assert np.isnan(found.missed("offset"))
    assert len(found.misses) == 3


def test_a_world_that_is_refused_has_no_scores(scores):
    refused = {"machine": "five_bar", "world": "white", "seed": 0, "refused": "no", "methods": {}}
    assert scores.scores([refused]) == []
