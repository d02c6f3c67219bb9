"""When code is generated: where the time it takes is soon won back.

The choice depends on the size of the job alone, never on what is on disk already: results of the
two ways differ by rounding, and the same call must give the same numbers every time.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from mechid.errors import DataError

CHOICES = ("auto", "tables", "compiled")
# Samples of one call that are worth the second or two of generating code.
_WORTH_IT = 50_000
_choice: ContextVar[str | None] = ContextVar("engine", default=None)


@contextmanager
def engine(choice: str) -> Iterator[None]:
    """Choose how paths are solved inside a `with` block.

    Parameters
    ----------
    choice : {"auto", "tables", "compiled"}
        Kernels that run over tables, code that is generated for the mechanism, or whichever is
        faster for the size of the job (the default; the environment variable MECHID_ENGINE
        changes it). Results agree to rounding.

    Examples
    --------
    >>> import mechid, numpy as np
    >>> model = mechid.load("four_bar")
    >>> angle = 0.785 + 0.2 * np.sin(np.linspace(0, 6, 1000))[:, None]  # rad
    >>> with mechid.engine("compiled"):
    ...     motion = mechid.solve_motion(model, angle)
    >>> np.allclose(motion.q, mechid.solve_motion(model, angle).q)
    True
    """
    token = _choice.set(_checked(choice, "engine"))
    try:
        yield
    finally:
        _choice.reset(token)


@contextmanager
def preferred(choice: str) -> Iterator[None]:
    """Choose as `engine` does, unless the user has chosen already."""
    with engine(choice if _chosen() == "auto" else _chosen()):
        yield


def least_wanted() -> float:
    """Return how many samples a path must have to be solved by generated code."""
    return {"auto": float(_WORTH_IT), "tables": math.inf, "compiled": 0.0}[_chosen()]


def wanted(n: int) -> bool:
    """Tell whether a path of n samples should be solved by generated code."""
    return n >= least_wanted()


def chosen(n: int) -> str:
    """Return the choice for all parts of a path of n samples."""
    return "compiled" if wanted(n) else "tables"


def _chosen() -> str:
    return _choice.get() or _checked(os.environ.get("MECHID_ENGINE", "auto"), "MECHID_ENGINE")


def _checked(choice: str, where: str) -> str:
    if choice not in CHOICES:
        raise DataError(
            f"{where} must be one of {', '.join(CHOICES)}, got {choice!r}",
            remedy=f"choose one of: {', '.join(CHOICES)}",
        )
    return choice
