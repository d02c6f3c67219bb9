"""A random sample of all mutants, and what its score says about all of them."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence

from .forked import ROOT
from .mutants import Mutant, mutants

PACKAGES = ("base", "dynamics", "estimation", "excitation", "reduction")
KERNELS = "kernels"  # compiled by Numba, which takes a minute for each mutant: their own stratum
_ELSEWHERE = {"dynamics/device.py", "excitation/device_factor.py"}  # run on a GPU only, or mostly
_LEVEL = 1.959964  # of the normal distribution, for 95 %


def stratum(path: str) -> str:
    """Return the stratum of a module: its package, or the compiled kernels."""
    return KERNELS if "/kernels/" in path else path.split("/", 1)[0]


def stratum_of(name: str) -> str:
    """Return the stratum of a mutant by its name."""
    return stratum(f"{name.split(':')[0]}.py")


def population(strata: Sequence[str]) -> dict[str, list[Mutant]]:
    """Return all mutants of some strata."""
    found: dict[str, list[Mutant]] = {name: [] for name in strata}
    source = ROOT / "src" / "mechid"
    for package in PACKAGES:
        for file in sorted((source / package).rglob("*.py")):
            path = file.relative_to(source).as_posix()
            if stratum(path) in found and path not in _ELSEWHERE:
                found[stratum(path)] += mutants(path, file.read_text("utf-8"))
    return found


def draw(of: Mapping[str, Sequence[Mutant]], count: int, seed: int) -> list[Mutant]:
    """Return a random sample, in proportion to the sizes of the strata, in random order.

    Mutants are ordered by a checksum of the seed and of their names: a larger sample of the same
    seed contains the smaller one, and a change of the code changes the sample where it is.
    """
    total = sum(map(len, of.values()))

    def key(mutant: Mutant) -> bytes:
        return hashlib.sha256(f"{seed} {mutant.name}".encode()).digest()

    drawn: list[Mutant] = []
    for all_of_it in of.values():
        drawn += sorted(all_of_it, key=key)[: math.ceil(count * len(all_of_it) / max(total, 1))]
    return sorted(drawn, key=key)


def wilson(killed: int, n: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a proportion."""
    if n == 0:
        return 0.0, 1.0
    p, z2 = killed / n, _LEVEL**2
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = _LEVEL * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return centre - half, centre + half
