"""The linear problem behind an identification, for those who want to solve it themselves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mechid.dynamics.compile import dynamic_model
from mechid.estimation.regression import Regression
from mechid.mechanism.records import Mechanism
from mechid.options import IdentifyOptions
from mechid.tasks.inputs import mechanism_of
from mechid.tasks.measured import prepare
from mechid.tasks.regress import regression_of
from mechid.tasks.stages import chosen_base


def regression(
    model: Mechanism | str | Path,
    data: Any,
    *,
    base: str | None = "balanced",
    mapping: str | Path | Mapping[str, Any] | None = None,
) -> Regression:
    """Return W φ + known = τ of a measured motion, both sides filtered alike.

    Parameters
    ----------
    model : Mechanism, str or Path
        A mechanism, or what `load` takes.
    data : Measurement, PreparedMeasurement, Synthesis, str or Path
        As for `identify`.
    base : str or None
        Base set whose columns are kept, as in `IdentifyOptions`; None: all parameters.
    mapping : path or dict, optional
        Which channel of a file is what.

    Returns
    -------
    Regression
        `W` (N, n_d, b), `tau` and `known` (N, n_d; N or N m), `valid` (N, n_d), `parameters`;
        `stacked()` gives A x = b for least squares.

    Examples
    --------
    >>> import mechid, numpy as np
    >>> motion = mechid.excite("five_bar", random=4, starts=0)
    >>> log = mechid.synthesise("five_bar", motion)
    >>> problem = mechid.regression("five_bar", log)
    >>> A, b, _ = problem.stacked()
    >>> x, *_ = np.linalg.lstsq(A, b, rcond=None)
    >>> A.shape[1] == len(problem.parameters) == 11
    True
    """
    mechanism = mechanism_of(model)
    motion = prepare(data, mechanism, mapping=mapping)
    columns = None
    if base is not None:
        columns = chosen_base(mechanism, IdentifyOptions(base=base)).base
    return regression_of(dynamic_model(mechanism), motion, columns)
