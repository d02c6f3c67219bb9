"""A measured arm with friction and drives, for tests of what its model may lack."""

from __future__ import annotations

from typing import Any

import mechid
from mechid.modelfile import load
from mechid.runs.record import Run

ARM = load("puma560")


def identified(seed: int, noise: str, **words: Any) -> Run:
    """Return an identification of the arm, with errors as words of `synthesise`."""
    motion = mechid.excite(ARM, random=5, starts=0)
    log = mechid.synthesise(
        ARM, motion, noise=noise, cad_error="20%", rate=50.0, periods=6, seed=seed, **words
    )
    return mechid.identify(ARM, log, cad_error="20%")
