"""Records in ten lines at most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from mechid.shown import LINES, WIDTH, Shown, in_words, span


@dataclass(frozen=True, repr=False)
class Long(Shown):
    name: str
    values: np.ndarray
    a: int = 1
    b: int = 2
    c: int = 3
    d: int = 4
    e: int = 5
    f: int = 6
    g: int = 7
    h: int = 8


def test_what_does_not_fit_is_counted() -> None:
    lines = repr(Long("x" * 500, np.zeros((3, 4)))).splitlines()
    assert len(lines) == LINES
    assert max(map(len, lines)) <= WIDTH
    assert lines[0] == "Long"
    assert lines[-1] == "  … and 2 more"  # ten fields, eight of them shown


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        ((), ""),
        (True, "True"),
        (2.0, "2"),
        (1 / 3, "0.333333"),
        (np.array([1.0, 2.5]), "1, 2.5"),
        (np.arange(12.0).reshape(3, 4), "array (3, 4), 0 … 11"),
        (np.zeros((9, 2), dtype=bool), "array (9, 2)"),
        (tuple("abcdefgh"), "a, b, c, d, e, f, … (8)"),
        ({"k": 1.0}, "k: 1"),
        (Long("wheel", np.zeros(1)), "wheel"),
    ],
)
def test_words(value: object, text: str) -> None:
    assert in_words(value) == text


def test_span() -> None:
    assert span(np.array([1.0, np.nan, -2.0]), "m") == "-2 … 1 m"
    assert span(np.array([3.0, 3.0])) == "3"
    assert span(np.array([np.nan])) == "no finite values"
