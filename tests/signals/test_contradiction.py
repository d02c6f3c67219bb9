"""Redundant positions with a known error: the warning names the quantity and the error."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.kinematics.motion import Motion
from mechid.signals.prepare import prepare
from mechid.signals.record import Measurement

from .test_project import T, known, quantities, seen

SENSORS = {
    "four_bar": ("q1", "q3", "q4"),
    "sla_suspension": ("z_r", "z_l", "rack", "K_r", "K_l", "E_r", "A_r"),
}
NOISE = 1e-5  # of the range


def measured(model: str, names: tuple[str, ...]) -> tuple[Motion, Measurement]:
    motion = known(model)
    mechanism = motion.model.mechanism
    y = seen(motion, names)[0]
    y += NOISE * np.ptp(y, axis=0) * np.random.default_rng(0).standard_normal(y.shape)
    return motion, Measurement(
        time=T,
        coordinates=tuple(
            replace(q, name=name)
            for q, name in zip(quantities(mechanism, names), names, strict=True)
        ),
        y=y,
        forces=(mechanism.coordinates[0].force,),
        tau=np.ones((len(T), 1)),
        valid=np.ones((len(T), 1), dtype=bool),
    )


def spoilt(model: str, names: tuple[str, ...], column: int, error: str) -> tuple[str, ...]:
    """Return the warnings of a measurement with an error in one column."""
    motion, log = measured(model, names)
    y = log.y.copy()
    match error:
        case "sign":
            y[:, column] *= -1
        case "late":
            late = known(model, T - 0.03)
            y[:, column] = seen(late, names)[0][:, column]
        case "offset":
            y[:, column] += 0.01
        case "degrees":
            y[:, column] = np.degrees(y[:, column])
        case "counts":
            y[:, column] *= 651.9
    try:
        return prepare(replace(log, y=y), motion.model.mechanism).warnings
    except DataError as problem:
        return (str(problem),)


@pytest.mark.slow
@pytest.mark.parametrize("names", [("q1", "q3", "q4"), ("q3", "q4"), ("q1", "bar_2.B.x")])
def test_consistent_positions_draw_no_warning(names: tuple[str, ...]) -> None:
    motion, log = measured("four_bar", names)
    assert not any("contradict" in x for x in prepare(log, motion.model.mechanism).warnings)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("sign", "q3 fits with the opposite sign: write sign: -1"),
        ("late", "q3 is 30 ms late"),
        ("offset", "q3 is off by 0.01 rad"),
        ("degrees", "q3 is 57.3 times as large as the loops say, as if in degrees"),
        ("counts", "q3 is 651.9 times as large as the loops say (encoder counts, gear ratio?)"),
    ],
)
def test_the_cause_is_named(error: str, words: str) -> None:
    found = spoilt("four_bar", SENSORS["four_bar"], 1, error)
    assert any(words in x for x in found), found


@pytest.mark.slow
@pytest.mark.parametrize("error", ["sign", "late", "offset"])
def test_with_many_sensors(error: str) -> None:
    names = SENSORS["sla_suspension"]
    words = {
        "sign": "E_r fits with the opposite",
        "late": "E_r is 30 ms late",
        "offset": "E_r is off by 0.01",
    }
    found = spoilt("sla_suspension", names, 5, error)
    assert any(words[error] in x for x in found), found


@pytest.mark.parametrize("value", [1e300, -1e6, 1e6])
def test_a_sample_beyond_all_others(value: float) -> None:
    """Named at once, before filters spread it over its neighbours."""
    motion, log = measured("four_bar", ("q1",))
    for name in ("y", "tau"):
        values = getattr(log, name) + 0.1 * np.sin(T)[:, None]
        values[123] = 1e3 * value if name == "tau" and abs(value) < 1e9 else value
        with pytest.raises(DataError, match=r"at sample 123 \(t = 0\.615 s\), elsewhere"):
            prepare(replace(log, **{name: values}), motion.model.mechanism)


def test_a_sensor_that_jumps_by_a_turn() -> None:
    motion, log = measured("four_bar", ("q1",))
    plain = prepare(log, motion.model.mechanism)
    wrapped = np.where(log.y > np.median(log.y), log.y - 2 * np.pi, log.y)
    found = prepare(replace(log, y=wrapped), motion.model.mechanism)
    turns = (found.y - plain.y) / (2 * np.pi)
    np.testing.assert_allclose(turns, np.rint(turns[0, 0]), atol=1e-9)
    np.testing.assert_allclose(found.ydd, plain.ydd, atol=1e-6)
    assert any("q1 jumps by" in x and "taken as a turn" in x for x in found.warnings)
