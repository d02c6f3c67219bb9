"""Whatever stands in a trajectory file, it is read or refused with a DataError."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from typing import Any

import pytest

from mechid.errors import DataError
from mechid.excitation.trajectory import sample
from mechid.textfile.yamlio import read, write
from mechid.trajectoryfile import loads_trajectory

TEXT = """\
trajectory: 1
name: everything
duration: 4
rate: 20
parameters: {f: 0.5, A: 20 deg}
coordinates:
  a: {fourier: {frequency: f, offset: 90 deg, a: [0.2, 0.1], b: [0, A]}}
  b: {bspline: {values: [0, 1, 2, 3], ends: rest, degree: 5, length: 4}}
  c: {sine: {amplitude: 50, frequency: f/2, phase: 0.1, offset: 0}}
  d: {chirp: {amplitude: 1, start_frequency: 0, end_frequency: 5, length: 4, phase: 0, offset: 0}}
  e: {constant: 1}
  g: {expression: {text: w*t, parameters: {w: 3}, period: 2}}
  h: {table: {time: [0, 2, 4], positions: [1, 2, 1], speeds: [0, 0, 0], accelerations: [0, 0, 0],
      periodic: true}}
  i: {sum: [{scaled: {signal: {sine: {amplitude: 1, frequency: 1}}, factor: 2}}, {constant: 1}]}
  j: {table: {file: road.csv, column: z}}
"""
ODD: tuple[Any, ...] = (
    None, True, "", "nonsense word", "t", "1/0", 0, -1, 1e308, 1e-308, float("inf"), float("nan"),
    10**400, [], [1], ["x"], {}, {"x": 1}, [[1]], "1e400", "sqrt(-1)", "__import__", "f" * 3000,
)  # fmt: skip


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in keys:
        yield (*path, key)
        yield from paths(value[key], (*path, key))


DATA = read(TEXT, "t.yaml")[0]
PATHS = list(paths(DATA))


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS, ids=lambda p: ".".join(map(str, p)))
def test_odd_values_are_refused_or_read(path: tuple[Any, ...]) -> None:
    for odd in ODD:
        data = deepcopy(DATA)
        # One mistake at a time: of the two that cannot be read anyway, only the one that is meant.
        for name, valid in (("g", {"constant": 1}), ("j", {"constant": 1})):
            if path[:2] != ("coordinates", name):
                data["coordinates"][name] = valid
            elif len(path) > 2 and path[2] not in data["coordinates"][name]:
                return
        inner = data
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = odd
        with suppress(DataError):
            sample(loads_trajectory(write(data), name="t.yaml"))


def test_without_a_key() -> None:
    for path in PATHS:
        data = deepcopy(DATA)
        data["coordinates"] |= {"g": {"constant": 1}, "j": {"constant": 1}}
        inner = data
        try:
            for key in path[:-1]:
                inner = inner[key]
            del inner[path[-1]]
        except (KeyError, IndexError, TypeError):
            continue
        with suppress(DataError):
            sample(loads_trajectory(write(data), name="t.yaml"))
