"""stub while computing"""
from dataclasses import dataclass
from typing import Any
@dataclass(frozen=True, eq=False)
class Study:
    """Everything that the page says."""

    size: Any
    suspension: Any
    five_bar: Any
    random_sets: Any
    sets: Any
    others: Any
    rounding: Any
    seconds: float
def page(s): return repr(s)[:3000]
