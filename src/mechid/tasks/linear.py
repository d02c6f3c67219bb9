"""The linear problem behind an identification, for those who want to solve it themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mechid.dynamics.compile import dynamic_model
from mechid.estimation.regression import Regression, joined
from mechid.mechanism.records import Mechanism
from mechid.options import IdentifyOptions
from mechid.tasks.inputs import mechanism_of
from mechid.tasks.measured import Mappings, chosen_mappings, prepare, several
from mechid.tasks.regress import regression_of
from mechid.tasks.stages import chosen_base


def regression(
    model: Mechanism | str | Path,
    data: Any,
    *,
    base: str | None = "balanced",
    mapping: Mappings = None,
) -> Regression:
    """Return W φ + known = τ of one or several measured motions, both sides filtered alike.

    Parameters
    ----------
    model : Mechanism, str or Path
        A mechanism, or what `load` takes.
    data : Measurement, PreparedMeasurement, Synthesis, str or Path, or a list of these
        As for `identify`; samples of several logs follow each other.
    base : str or None
        Base set whose columns are kept, as in `IdentifyOptions`; None: all parameters.
    mapping : path, dict or list, optional
        As for `identify`.

    Returns
    -------
    Regression
        `W` (N, n_d, b), `tau` and `known` (N, n_d; N or N m), `valid` (N, n_d), `parameters`, and
        of several logs `log` (N,), which of them each sample is from;
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
    logs = several(data)
    mappings = chosen_mappings(mapping, logs)
    columns = None
    if base is not None:
        columns = chosen_base(mechanism, IdentifyOptions(base=base)).base
    compiled = dynamic_model(mechanism)
    motions = [prepare(log, mechanism, mapping=mappings.of(log)) for log in logs]
    return joined([regression_of(compiled, motion, columns) for motion in motions])
