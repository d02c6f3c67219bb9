"""How many operations per second simple scalar code reaches here, on one core."""

from __future__ import annotations

import numpy as np
from numba import njit
from report import best

LENGTH, ROUNDS = 1000, 1000


@njit
def one_sum(x, y, rounds):
    """A sum of products in which every addition waits for the one before."""
    total = 0.0
    for _ in range(rounds):
        for i in range(x.size):
            total += x[i] * y[i]
    return total


@njit
def four_sums(x, y, rounds):
    """The same with four sums that do not wait for each other."""
    a = b = c = d = 0.0
    for _ in range(rounds):
        for i in range(x.shape[0]):
            a += x[i, 0] * y[i, 0]
            b += x[i, 1] * y[i, 1]
            c += x[i, 2] * y[i, 2]
            d += x[i, 3] * y[i, 3]
    return a + b + c + d


def rates(repeat: int) -> tuple[float, float]:
    """Return operations per second (a product and a sum are two) with one sum and with four."""
    x, y = np.linspace(0, 1, LENGTH), np.linspace(1, 2, LENGTH)
    count = 2 * LENGTH * ROUNDS
    four = x.reshape(-1, 4), y.reshape(-1, 4)
    chain = best(lambda: one_sum(x, y, ROUNDS), repeat)
    free = best(lambda: four_sums(*four, ROUNDS), repeat)
    return count / chain, count / free
