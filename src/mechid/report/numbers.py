"""Numbers as a reader likes them: few digits, true minus signs, powers of ten."""

from __future__ import annotations

import math

from mechid.runs.record import MOST_PERCENT

NOTHING = "–"
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with so many digits: 1234, 0.01234, 1.234·10⁻⁷; a dash for none."""
    if value is None or math.isnan(value):
        return NOTHING
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
    power = int(exponent)
    if -4 <= power < max(digits, 6):
        return f"{value:.{max(digits - 1 - power, 0)}f}".replace("-", "−")
    return f"{mantissa}·10{str(power).translate(_RAISED)}".replace("-", "−")


def percent(value: float | None, digits: int = 3) -> str:
    """Return a share as percent: 0.0123 is 1.23 %."""
    shown = number(None if value is None else 100.0 * value, digits)
    return shown if shown == NOTHING else f"{shown} %"


def relative(value: float | None, digits: int = 3) -> str:
    """Return a relative standard deviation in percent; what is beyond telling as > 1000."""
    if value is not None and value > MOST_PERCENT:
        return f"> {MOST_PERCENT:g}"
    return number(value, digits)


def counted(n: int, one: str, many: str = "") -> str:
    """Return `1 force`, `3 forces`."""
    return f"{n} {one if n == 1 else many or one + 's'}"
