"""Which parameters are dependent, as people say it: a word, a set of the model file, a file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from mechid.base import choose, exchange
from mechid.base.analyse import Rule
from mechid.base.experiment import EVERYTHING, checked, random_states
from mechid.dynamics.regressor import observation_matrix
from mechid.errors import DataError
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Mechanism
from mechid.modelfile.base_sets import read_base_set

RANKINGS = ("balanced", "first", "last", "terms", "condition")
DEFAULT = RANKINGS[0]
_SAMPLES = 500


def rule_of(
    mechanism: Mechanism, base: str = DEFAULT, converge_on: Sequence[str] = (), seed: int = 0
) -> Rule:
    """Return the rule that chooses the dependent parameters.

    Parameters
    ----------
    mechanism : Mechanism
    base : str
        A base set of the model file, a .yaml file with `dependent`, names of dependent parameters
        separated by commas, or one of `RANKINGS`: the last parameters that can be are dependent but
        for large factors, the first, the last, the fewest terms, the best condition number.
    converge_on : sequence of str
        Instead: bodies on which inertia is gathered.
    seed : int
        Of random states and random choices.

    Raises
    ------
    DataError
        If there is no such base set.
    """
    if converge_on:
        if base != DEFAULT:
            raise DataError("base and converge_on exclude each other", remedy="use one of them")
        return partial(choose.converge_on, targets=list(converge_on))
    named = [s.name for s in mechanism.base_sets]
    if base in named:
        return partial(choose.by_name, name=base)
    if Path(base).suffix.lower() in (".yaml", ".yml"):
        return partial(choose.as_listed, names=read_base_set(base).dependent)
    if "," in base:
        listed = [name.strip() for name in base.split(",") if name.strip()]
        return partial(choose.as_listed, names=listed)
    match base:
        case "balanced":
            return exchange.balanced
        case "condition":
            return partial(exchange.best_conditioned, W=observed(mechanism, seed))
        case "terms":
            return partial(exchange.most_readable, seed=seed)
        case "first":
            return choose.first
        case "last":
            return choose.last
    raise DataError(
        f"there is no base set {base}",
        remedy=f"use a .yaml file, or choose one of: {', '.join([*named, *RANKINGS])}",
    )


def observed(mechanism: Mechanism, seed: int) -> Floats:
    """Return the observation matrix of random states, (500 n_i, p)."""
    W = observation_matrix(
        random_states(mechanism, checked(EVERYTHING, mechanism), _SAMPLES, seed, wide=False)
    ).W
    return W.reshape(-1, W.shape[-1])
