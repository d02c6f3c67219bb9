"""Base parameters of a mechanism from end to end: transfers, bounds, a base set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import sympy as sp

from mechid.base.baseset import BaseSet, base_set
from mechid.base.bounds import Bounds, Watch, all_transfers, bounds
from mechid.base.dependencies import Dependency, dependencies
from mechid.base.exchange import balanced
from mechid.base.experiment import EVERYTHING, Experiment, checked
from mechid.base.nullspace import NullSpace
from mechid.base.quick import QuickRank, quick_rank
from mechid.base.transfers import Transfer
from mechid.blas_threads import one_blas_thread
from mechid.exact.geometry import Geometry, exact_geometry
from mechid.importing.resolve import mechanism_of
from mechid.kinematics.motion import Motion
from mechid.mechanism.records import GROUND, Mechanism
from mechid.shown import Tabular
from mechid.spatial.inertia import NAMES, transform

Rule = Callable[[NullSpace], tuple[str, ...]]


@dataclass(frozen=True, eq=False, repr=False)
class BaseParameters(Tabular):
    """What can be identified of a mechanism.

    Attributes
    ----------
    mechanism : Mechanism
    experiment : Experiment
        What is moved and measured.
    null_space : NullSpace
        Transfers in the frames of the bodies; with `bounds`, dependencies too.
    chosen : BaseSet
        Dependent and base parameters by the rule.
    bounds : Bounds or None
        Upper and lower bound, if they were asked for.
    dependencies : tuple of Dependency
        Null vectors that no transfer explains, in the frames of `bounds`.
    """

    mechanism: Mechanism
    experiment: Experiment
    null_space: NullSpace
    chosen: BaseSet
    bounds: Bounds | None
    dependencies: tuple[Dependency, ...]

    def summary(self) -> Mapping[str, object]:
        """Return what `repr` shows."""
        bounds = self.bounds
        proved = None if bounds is None else f"between {bounds.lower} and {bounds.upper}"
        return {
            "mechanism": self.mechanism.name,
            "parameters": self.parameters,
            **{
                name: value for name, value in self.chosen.summary().items() if name != "parameters"
            },
            "proved": "yes" if self.certified else proved,
        }

    @cached_property
    def quick(self) -> QuickRank | None:
        """Whether the number that transfers leave is reached, as far as that can be seen quickly.

        None where bounds say more.
        """
        if self.bounds is not None:
            return None
        return quick_rank(self.mechanism, self.experiment, self.null_space)

    @property
    def parameters(self) -> int:
        """Number of parameters, those of massless bodies left out."""
        return len(self.null_space.names) - len(self.null_space.zeros)

    @property
    def certified(self) -> bool:
        """Whether the number of base parameters is proved."""
        return self.bounds is not None and self.bounds.certified


@one_blas_thread()
def base_parameters(
    model: Mechanism | str | Path,
    experiment: Experiment = EVERYTHING,
    *,
    rule: Rule = balanced,
    certify: bool = False,
    motion: Motion | None = None,
    seed: int = 0,
    watch: Watch | None = None,
) -> BaseParameters:
    """Find the base parameters of a mechanism.

    Parameters
    ----------
    model : Mechanism, str or Path
        A mechanism, or what `load` takes.
    experiment : Experiment
        What is moved and measured; by default everything. Transfers alone do not know what a
        restricted experiment misses, so that it is always analysed with bounds.
    rule : callable
        Chooses the dependent parameters of a null space; see `choose` and `exchange`.
    certify : bool
        Bound the number from below as well, in ball arithmetic. Without, the number is that which
        transfers leave, an upper bound; `quick` says whether it is reached.
    motion : Motion, optional
        A trajectory: count what it shows, instead of what all motions show.
    seed : int
        Of the random states.
    watch : callable, optional
        Told (what, done, of) as the work goes on.

    Examples
    --------
    >>> import mechid
    >>> found = mechid.base_parameters("four_bar", certify=True)
    >>> found.parameters, found.chosen.rank, found.certified
    (30, 8, True)
    """
    mechanism = mechanism_of(model)
    experiment = checked(experiment, mechanism)
    found: Bounds | None = None
    left: tuple[Dependency, ...] = ()
    if certify or motion is not None or not experiment.whole:
        found = bounds(mechanism, experiment, motion=motion, seed=seed, watch=watch)
        left = dependencies(found)
    null = all_transfers(exact_geometry(mechanism), experiment, seed).null
    if found is not None:
        null = with_dependencies(null, found, left)
    chosen = base_set(null, rule(null))
    return BaseParameters(mechanism, experiment, null, chosen, found, left)


def with_dependencies(null: NullSpace, found: Bounds, left: Iterable[Dependency]) -> NullSpace:
    """Return a null space with dependencies that bounds have found besides."""
    more = tuple(_as_transfer(d, found.null.geometry) for d in left)
    return replace(null, transfers=(*null.transfers, *more)) if more else null


def _as_transfer(found: Dependency, geometry: Geometry) -> Transfer:
    """Return a dependency as a vector in the frames of the bodies."""
    exact = [
        sp.Rational(digits) if form is None else form
        for digits, form in zip(found.digits, found.forms, strict=True)
    ]
    entries = dict(zip(found.names, exact, strict=True))
    for i, body in enumerate(geometry.mechanism.bodies, start=1):
        names = [f"{name}_{i}" for name in NAMES]
        if body.name in geometry.turned and any(name in entries for name in names):
            R, p = np.array(body.frame.rotation), np.array(body.frame.origin)
            ten = np.array([float(geometry.balls(entries.pop(n, 0)).mid()) for n in names])
            turned = transform(ten, R.T, -R.T @ p)
            size = float(np.max(np.abs(turned)))
            entries |= {
                n: sp.Rational(repr(float(x)))
                for n, x in zip(names, turned, strict=True)
                if abs(x) > 1e-14 * size
            }
    words = f"dependency of {', '.join(found.names)}, found numerically, not explained"
    return Transfer(words, GROUND, GROUND, tuple(entries.items()), by_loops=True)
