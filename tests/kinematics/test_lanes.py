"""Chunks of a path side by side: where they begin, and where they lead."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.kinematics.engine.path import PathCode
from mechid.kinematics.model import KinematicModel, kinematic_model
from mechid.kinematics.motion import solve_motion
from mechid.modelfile import load

STARTS = np.array([0, 40, 95, 130, 200])


def path(model: KinematicModel) -> tuple[np.ndarray, ...]:
    t = np.arange(STARTS[-1]) / 100.0
    size = 0.05 * np.arange(1, model.n_independent + 1)
    y = model.home_y + size * np.sin(3.0 * t)[:, None]
    return y, 3.0 * size * np.cos(3.0 * t)[:, None], -9.0 * size * np.sin(3.0 * t)[:, None], t


def followed(code: PathCode, model: KinematicModel, from_home: bool) -> tuple[np.ndarray, ...]:
    y, yd, ydd, t = path(model)
    found = [np.full((len(t), rows.n), np.nan) for rows in code.rows]
    ends = np.full((len(STARTS) - 1, model.compiled.n_q), np.nan)
    n = len(STARTS) - 1
    if from_home:
        where = np.tile(model.home_y, (n, 1)), np.tile(model.home_q, (n, 1))
    else:
        where = y[STARTS[:-1]], solve_motion(model, y, yd, ydd, time=t).q[STARTS[:-1]]
    inputs = (y, yd, ydd, np.append(np.diff(t), 0.0))
    done = code.follow(STARTS, inputs, *where, (found[0], found[1], found[2]), ends, 2 * from_home)
    return found[0], found[1], ends, done


@pytest.mark.parametrize("name", ["four_bar", "five_bar", "delta", "puma560"])
@pytest.mark.parametrize("from_home", [False, True])
def test_chunks_begin_and_end_where_the_path_is(name: str, from_home: bool) -> None:
    model = kinematic_model(load(name))
    code = model.path_code
    assert code is not None
    y, yd, ydd, t = path(model)
    expected = solve_motion(model, y, yd, ydd, time=t)
    q, v, ends, done = followed(code, model, from_home)
    assert done.tolist() == np.diff(STARTS).tolist()
    np.testing.assert_allclose(q, expected.q, atol=1e-9)
    np.testing.assert_allclose(v, expected.v, atol=1e-8)
    # the first sample of the next chunk, and nothing behind the last one
    np.testing.assert_allclose(ends[:-1], expected.q[STARTS[1:-1]], atol=1e-9)
    assert np.isnan(ends[-1]).all()


def test_a_chunk_that_is_not_reached_is_not_begun() -> None:
    """The first sample of the second chunk is far outside of what the linkage can do."""
    model = kinematic_model(load("five_bar"))
    code = model.path_code
    assert code is not None
    y, yd, ydd, t = path(model)
    y = y.copy()
    y[STARTS[1]] += np.array([3.0, -3.0])
    found = [np.full((len(t), rows.n), np.nan) for rows in code.rows]
    ends = np.full((len(STARTS) - 1, model.compiled.n_q), np.nan)
    home = (np.tile(x, (len(STARTS) - 1, 1)) for x in (model.home_y, model.home_q))
    inputs = (y, yd, ydd, np.append(np.diff(t), 0.0))
    done = code.follow(STARTS, inputs, *home, (found[0], found[1], found[2]), ends, 2)
    assert done.tolist() == [40, 0, 35, 70]
    assert np.isnan(ends[:2]).all()
    assert np.isfinite(ends[2]).all()
    assert np.isnan(found[0][STARTS[1] : STARTS[2]]).all()
