"""Whether a linear problem fits in memory, asked before it is built."""

from __future__ import annotations

import os
from pathlib import Path

from mechid.errors import DataError

# Arrays of the size of W that the default estimator holds at once, with weighted rows of every term
# that it tries: 17 to 21 were measured with 50 000 and 150 000 samples.
_COPIES = 20


def refuse_too_large(samples: int, forces: int, parameters: int) -> None:
    """Reject a problem whose estimate would need more memory than there is.

    Raises
    ------
    DataError
    """
    needed, there = 8 * _COPIES * samples * forces * (parameters + 1), available_memory()
    if needed > there:
        raise DataError(
            f"{samples} samples of {forces} forces and {parameters} parameters need about "
            f"{needed / 1e9:.3g} GB of memory, {there / 1e9:.3g} GB are available",
            remedy="keep fewer samples (decimation), use parts of the log (FILE@FROM:TO), or "
            "mechid identify-streamed, which reads it in blocks",
        )


def available_memory() -> float:
    """Return the memory that can be had without swapping, bytes; infinite if nobody knows."""
    try:
        lines = Path("/proc/meminfo").read_text("utf-8").splitlines()
        (found,) = [line for line in lines if line.startswith("MemAvailable")]
        return 1024.0 * int(found.split()[1])
    except (OSError, ValueError):
        pass
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return float("inf")
