"""Which shapes of friction, and which rotors, a model gets: those that predict held-out blocks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Regression
from mechid.runs.record import FrictionChoice
from mechid.tasks.friction_shapes import FrictionShape
from mechid.validation.added_columns import fitted_problem, imitated, with_column
from mechid.validation.blocks import Blocks
from mechid.validation.crossvalidate import force_rms
from mechid.validation.held_out_columns import ChosenColumns, choose_columns

_BLOCKS = Blocks(8, 0)
_START, _STEPS = 0.1, 3  # of the noise, relative to the forces, before it is estimated
_EXACT = 1e-6  # residuals of data without noise, relative


def offset_columns(regression: Regression) -> Floats:
    """Return offsets of each force in each log as columns, (N, n_d, n_logs n_d).

    An offset of a force is no friction, though it looks like one that differs with direction.
    """
    n, n_d = regression.tau.shape
    logs = regression.logs[:, None] == np.unique(regression.logs)
    return np.asarray(np.einsum("nl,ij->nijl", logs, np.eye(n_d)).reshape(n, n_d, -1))


def choose_shapes(
    regression: Regression,
    prior: Prior | None,
    shapes: Sequence[FrictionShape],
    columns: Floats,
    choose: bool = True,
) -> tuple[tuple[FrictionShape, ...], FrictionChoice]:
    """Return the shapes that predict held-out blocks of time better (or all), and the errors.

    Parameters
    ----------
    regression : Regression
        With the base parameters of the model without the shapes.
    prior : Prior, optional
    shapes : sequence of FrictionShape
    columns : array (N, n_d, c)
        Forces per unit of each of them.
    choose : bool
        Without, all shapes are taken.
    """
    noise = fit_noise(regression, prior)
    folds = _BLOCKS.folds(regression.logs)
    offsets = offset_columns(regression)
    n, every = offsets.shape[-1], np.concatenate([offsets, columns], axis=-1)
    rotors = [n + k for k, s in enumerate(shapes) if s.shape == "rotor"]

    def tried(taken: Sequence[int], others: Sequence[int], noise: Floats) -> ChosenColumns:
        at = [*range(n), *taken, *others]
        positive = [i for i, k in enumerate(at) if k in rotors]
        fixed = n + len(taken)
        return choose_columns(
            regression, every[..., at], noise, folds, prior, fixed=fixed, positive=positive
        )

    def better(taken: Sequence[int], others: Sequence[int], noise: Floats) -> list[int]:
        found = tried(taken, others, noise).columns if others else ()
        return [[*range(n), *taken, *others][i] for i in found]

    taken = [n + k for k in range(len(shapes))]
    if choose:
        every_one, taken, own = taken, [], noise
        # What the model states is corrected first: then all else is seen better. So it is where the
        # noise is what is left of each force: friction that is taken hides the rest of it no more.
        stated = [n + k for k, s in enumerate(shapes) if s.fixed is not None]
        for group in (stated, every_one):
            while more := better(taken, [k for k in group if k not in taken], own):
                taken += more
                own = fit_noise(regression, prior, every[..., [*range(n), *taken]])
        if {*rotors} & {*taken}:
            # A file without one rotor lacks them all; CAD values of links do not contain them.
            left = [k for k in rotors if k not in taken]
            hidden = imitated(regression, every[..., left])
            taken += [k for k, x in zip(left, hidden, strict=True) if x]
    found = tuple(shapes[k - n] for k in taken)
    before, after = (tried(at, (), noise).before for at in ((), taken))
    return found, FrictionChoice(tuple(f"{s.words} of {s.joint}" for s in found), before, after)


def fit_noise(regression: Regression, prior: Prior | None, columns: Floats | None = None) -> Floats:
    """Return the standard deviation of each force about a fit, (n_d,), also of further columns."""
    size = force_rms(regression.tau, regression.valid)
    noise = np.where(size > 0, _START * size, 1.0)
    for _ in range(_STEPS):
        problem = fitted_problem(regression, noise, prior)
        problem = problem if columns is None else with_column(problem, columns)
        e = np.nan_to_num(problem.residuals())
        noise = np.maximum(force_rms(e, regression.valid), _EXACT * noise)
    return noise
