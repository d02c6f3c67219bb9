"""A tuple of arrays that kernels can be called with at the price of one number.

A call from Python looks at every array of its arguments, which takes tens of microseconds for the
tables and scratch arrays of a mechanism: longer than the arithmetic of one pose. A held tuple has
been looked at once.
"""

from typing import Any

from mechid.kinematics.kernels.jit import is_interpreted


class Held:
    """The tuple as `value`; for compiled kernels, a structure of Numba in its place."""

    def __init__(self, value: Any) -> None:
        self.value = value


def hold(value: Any) -> Held:
    """Return the tuple, held for later calls; the arrays in it may change, but not be replaced."""
    if is_interpreted():
        return Held(value)
    from mechid.kinematics.kernels import structure

    held: Held = structure.hold.entry(value)  # compiled, where only some kernels are, too
    return held
