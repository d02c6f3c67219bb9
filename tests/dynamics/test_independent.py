"""The formulation in independent coordinates: its state, what is driven, and what it sees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mechid.dynamics.drive import driven_coordinates
from mechid.dynamics.forward.dead_centre import Knot
from mechid.dynamics.forward.engine import Engine
from mechid.dynamics.forward.independent import Independent
from mechid.errors import ModelError, SingularPoseError

from .rich import engine_of, some_state

NAMES = ["rich", "quarter_vehicle", "five_bar@distances", "three_rps"]


@pytest.mark.parametrize("name", NAMES)
def test_the_state_of_a_closed_pose(name: str) -> None:
    engine = engine_of(name)
    form = Independent(engine)
    y, yd = some_state(engine)
    e = engine.reduced(y, yd)
    z = form.start(e.q, e.v)
    np.testing.assert_allclose(z, np.concatenate([y, yd]), atol=1e-9)
    np.testing.assert_allclose(form.start(e.q, 2 * e.v), np.concatenate([y, 2 * yd]), atol=1e-9)
    np.testing.assert_array_equal(form.start(e.q, e.v), z)
    tau = np.arange(1.0, engine.n_i + 1)
    now, a = form.evaluate(z, tau), engine.accelerate(y, yd, tau)
    np.testing.assert_allclose(now.rate, np.concatenate([yd, a.ydd]), rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(form.independent_acceleration(z, now.rate), a.ydd, rtol=1e-7)
    assert now.multipliers.shape == (0,)
    for what in ("kinetic", "potential", "power", "dissipated"):
        assert getattr(now, what) == pytest.approx(getattr(a, what), rel=1e-7, abs=1e-8)
    q, v = form.tree(z)
    np.testing.assert_allclose(q, e.q, atol=1e-9)
    np.testing.assert_allclose(v, e.v, atol=1e-9)
    assert form.constraint_error(z) < 1e-10
    assert form.project(z) is z


@pytest.mark.parametrize("driven", [0, 1])
def test_driven_coordinates_are_no_part_of_the_state(driven: int) -> None:
    engine = engine_of("quarter_vehicle")
    y, yd = some_state(engine)
    free, name = 1 - driven, ("z", "spin")[driven]

    def motion(t: float) -> tuple[float, float, float]:
        return y[driven] + t, yd[driven] + 2 * t, 0.7 + t

    form = Independent(engine, driven_coordinates(engine.model.mechanism, {name: motion}))
    e = engine.reduced(y, yd)
    z = form.start(e.q, e.v)
    np.testing.assert_allclose(z, [y[free], yd[free]], atol=1e-9)
    t = 0.01
    whole, speeds = form.independent(z, t)
    assert (whole[driven], speeds[driven]) == motion(t)[:2]
    assert (whole[free], speeds[free]) == tuple(z)
    now = form.evaluate(z, np.zeros(2), t)
    there = Engine(engine.model, engine.phi).reduced(whole, speeds)
    ydd = form.independent_acceleration(z, now.rate, t)
    assert ydd[driven] == motion(t)[2]
    np.testing.assert_allclose(now.rate, [speeds[free], ydd[free]])
    np.testing.assert_allclose(there.M @ ydd + there.h, now.tau, rtol=1e-7, atol=1e-7)
    assert now.tau[free] == 0.0
    q, v = form.tree(z, t)
    np.testing.assert_allclose(q, there.q, atol=1e-9)
    np.testing.assert_allclose(v, there.v, atol=1e-9)
    assert form.constraint_error(z, t) < 1e-10


def test_motions_without_mass_are_refused() -> None:
    engine = engine_of("five_bar")
    form = Independent(Engine(engine.model, 0 * engine.phi))
    y, yd = some_state(engine)
    with pytest.raises(ModelError, match="moves no mass"):
        form.evaluate(np.concatenate([y, yd]), np.zeros(2))


def test_steps_are_looked_at_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """From knot to knot, with the forces of the time; a bounce or creeping ends it."""
    engine = engine_of("rich")
    form = Independent(engine)
    seen: list[Any] = []
    answers: list[float | None] = [None, None, 0.125]

    def bounce(before: Knot, after: Knot, look: Any, scale: Any) -> float | None:
        seen.append((before.t, after.t, scale))
        return answers[len(seen) - 1]

    monkeypatch.setattr("mechid.dynamics.forward.independent.bounce", bounce)
    asked: list[float] = []

    def forces(t: float, y: Any, yd: Any) -> Any:
        asked.append(t)
        return np.array([t])

    inspect = form.inspector(forces, 1.0)
    y, yd = some_state(engine)
    z = np.concatenate([y, yd])
    for t in (0.0, 0.1, 0.2):
        inspect(t, z)
    with pytest.raises(SingularPoseError, match="reaches a dead centre near q = ") as caught:
        inspect(0.3, z)
    assert caught.value.time == 0.125
    assert [x[:2] for x in seen] == [(0.0, 0.1), (0.1, 0.2), (0.2, 0.3)]
    assert asked == [0.0, 0.1, 0.2, 0.3]
    # The crank is given: its speed cannot jump. The others count in their sizes.
    t = engine.kinematics.tables
    scale = seen[0][2]
    assert np.isinf(scale[t.direct.column]).all()
    others = np.setdiff1d(np.arange(engine.n_v), t.direct.column)
    np.testing.assert_array_equal(scale[others], t.columns.scale[others])


def test_creeping_ends_at_the_last_step(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_of("rich")
    form = Independent(engine)
    monkeypatch.setattr(
        "mechid.dynamics.forward.independent.Creep.goes_on", lambda self, now: now.t > 0.15
    )
    inspect = form.inspector(lambda t, y, yd: np.zeros(1), 1.0)
    z = np.concatenate(some_state(engine))
    inspect(0.0, z)
    inspect(0.1, z)
    with pytest.raises(SingularPoseError) as caught:
        inspect(0.2, z)
    assert caught.value.time == 0.2
