"""Numbers that write down what is done with them.

The kernels are generic in the number type. Run once, uncompiled, on these numbers they leave the
list of their operations behind: without loops and tables, with constants folded, zeros dropped and
common terms shared. A number also has its value at the state of the recording, which decides where
a kernel looks for the best pivot; nothing else may look at it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from mechid.errors import MechidError

Value: TypeAlias = "Number | float"


class RecordingError(MechidError):
    """A kernel did something with its numbers that a list of operations cannot hold."""


# What ends a recording: that, or plain numbers that are divided by zero or leave their range.
NOT_RECORDED = (RecordingError, ArithmeticError, ValueError)


class Op(NamedTuple):
    """One operation: its name and the places of its operands; a constant has its value instead."""

    name: str
    a: int = -1
    b: int = -1
    c: int = -1
    constant: float = 0.0


# What an operation gives, for the value at the state of the recording and for constants.
FUNCTIONS: dict[str, Callable[..., float]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b if b else math.copysign(math.inf, a * b) if a else math.nan,
    "neg": lambda a: -a,
    "abs": abs,
    "min": min,
    "max": max,
    "sqrt": lambda a: math.sqrt(a) if a >= 0.0 else math.nan,
    "sin": math.sin,
    "cos": math.cos,
    "exp": math.exp,
    "tanh": math.tanh,
    "pow": math.pow,
    "atan2": math.atan2,
    "lt": lambda a, b: float(a < b),
    "le": lambda a, b: float(a <= b),
    "select": lambda c, a, b: a if c else b,
}
COMMUTATIVE = ("add", "mul", "min", "max")
# Code of more operations takes longer to generate than it saves: about 0.1 ms each.
MOST_OPERATIONS = 300_000


class Recorder:
    """The list of operations so far; equal operations are entered once."""

    def __init__(self) -> None:
        self.ops: list[Op] = []
        self.values: list[float] = []
        self._known: dict[Op, int] = {}
        self.oracle: Callable[[Condition], bool] | None = None  # answers comparisons, see branches

    def input(self, value: float) -> Number:
        """Return a new input, with its value at the state of the recording."""
        self.ops.append(Op("input", len(self.ops)))
        self.values.append(float(value))
        return Number(self, len(self.ops) - 1)

    def place(self, x: Value) -> int:
        """Return where a number stands in the list; constants are entered."""
        if isinstance(x, Number):
            return x.place
        return self._enter(Op("constant", constant=float(x)), float(x))

    def _enter(self, op: Op, value: float) -> int:
        # 0.0 and -0.0 are equal and differ; nothing that is recorded depends on the sign of zero.
        place = self._known.get(op)
        if place is None:
            if len(self.ops) >= MOST_OPERATIONS:
                raise RecordingError(f"more than {MOST_OPERATIONS} operations would be recorded")
            place = self._known[op] = len(self.ops)
            self.ops.append(op)
            self.values.append(value)
        return place

    def apply(self, name: str, *operands: Value) -> Value:
        """Enter an operation; what does not depend on the inputs stays a plain number."""
        if not any(isinstance(x, Number) for x in operands):
            return FUNCTIONS[name](*operands)
        places = [self.place(x) for x in operands]
        if name in COMMUTATIVE:
            places.sort()
        try:
            value = FUNCTIONS[name](*(self.values[i] for i in places))
        except (OverflowError, ValueError):
            value = math.nan
        return Number(self, self._enter(Op(name, *places), value))

    def negated(self, x: Value) -> Value | None:
        """Return y if x was entered as -y."""
        if isinstance(x, Number) and self.ops[x.place].name == "neg":
            return Number(self, self.ops[x.place].a)
        return None


class Condition:
    """A comparison of recorded numbers; the truth of it is decided where the code runs."""

    __slots__ = ("number", "recorder")

    def __init__(self, recorder: Recorder, name: str, a: Value, b: Value) -> None:
        self.recorder = recorder
        number = recorder.apply(name, a, b)
        assert isinstance(number, Number)
        self.number = number

    def __bool__(self) -> bool:
        """Answer for a function whose ways are explored; there is no answer otherwise."""
        if self.recorder.oracle is None:
            raise RecordingError("a kernel branches on a number that is not known beforehand")
        return self.recorder.oracle(self)


class Number:  # its operators say what they do
    """A recorded number."""

    __slots__ = ("place", "recorder")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, recorder: Recorder, place: int) -> None:
        self.recorder = recorder
        self.place = place

    @property
    def value(self) -> float:
        """Value at the state of the recording."""
        return self.recorder.values[self.place]

    @property
    def real(self) -> Number:
        """The number itself: complex steps are not recorded."""
        return self

    def __add__(self, other: Value) -> Value:  # noqa: D105
        r = self.recorder
        if not isinstance(other, Number) and other == 0:
            return self
        y = r.negated(other)
        if y is not None:
            return self - y
        x = r.negated(self)
        return other - x if x is not None else r.apply("add", self, other)

    __radd__ = __add__

    def __sub__(self, other: Value) -> Value:  # noqa: D105
        r = self.recorder
        if isinstance(other, Number):
            if other.place == self.place:
                return 0.0
            y = r.negated(other)
            if y is not None:
                return self + y
        elif other == 0:
            return self
        x = r.negated(self)
        return -(x + other) if x is not None else r.apply("sub", self, other)

    def __rsub__(self, other: Value) -> Value:  # noqa: D105
        x = self.recorder.negated(self)
        if x is not None:
            return x + other
        return -self if other == 0 else self.recorder.apply("sub", other, self)

    def __mul__(self, other: Value) -> Value:  # noqa: D105
        r = self.recorder
        if not isinstance(other, Number):
            if other == 0:
                return 0.0
            if other == 1:
                return self
            if other < 0:
                return -(self * -other)
        x = r.negated(self)
        if x is not None:
            return -(x * other)
        y = r.negated(other)
        return -(self * y) if y is not None else r.apply("mul", self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Value) -> Value:  # noqa: D105
        r = self.recorder
        if not isinstance(other, Number):
            return self * (1.0 / other)
        x, y = r.negated(self), r.negated(other)
        if x is not None:
            return -(x / other)
        return -(self / y) if y is not None else r.apply("div", self, other)

    def __rtruediv__(self, other: Value) -> Value:  # noqa: D105
        if other == 0:
            return 0.0
        y = self.recorder.negated(self)
        return -(other / y) if y is not None else self.recorder.apply("div", other, self)

    def __neg__(self) -> Value:  # noqa: D105
        r = self.recorder
        x = r.negated(self)
        if x is not None:
            return x
        op = r.ops[self.place]
        if op.name == "sub":
            return r.apply("sub", Number(r, op.b), Number(r, op.a))
        return r.apply("neg", self)

    def __abs__(self) -> Value:  # noqa: D105
        x = self.recorder.negated(self)
        return abs(x) if x is not None else self.recorder.apply("abs", self)

    def __pow__(self, other: float) -> Value:  # noqa: D105
        return self.recorder.apply("pow", self, other)

    def sqrt(self) -> Value:
        """Square root; called by `numpy.sqrt`, as the following are by their likes."""
        return self.recorder.apply("sqrt", self)

    def sin(self) -> Value:
        """Sine."""
        x = self.recorder.negated(self)
        return -x.sin() if isinstance(x, Number) else self.recorder.apply("sin", self)

    def cos(self) -> Value:
        """Cosine."""
        x = self.recorder.negated(self)
        return x.cos() if isinstance(x, Number) else self.recorder.apply("cos", self)

    def exp(self) -> Value:
        """Exponential."""
        return self.recorder.apply("exp", self)

    def tanh(self) -> Value:
        """Hyperbolic tangent."""
        return self.recorder.apply("tanh", self)

    def arctan2(self, other: Value) -> Value:
        """Angle of the point (other, self)."""
        return self.recorder.apply("atan2", self, other)

    def __lt__(self, other: Value) -> Condition:  # noqa: D105
        return Condition(self.recorder, "lt", self, other)

    def __gt__(self, other: Value) -> Condition:  # noqa: D105
        return Condition(self.recorder, "lt", other, self)

    def __le__(self, other: Value) -> Condition:  # noqa: D105
        return Condition(self.recorder, "le", self, other)

    def __ge__(self, other: Value) -> Condition:  # noqa: D105
        return Condition(self.recorder, "le", other, self)

    def __eq__(self, other: object) -> bool:  # noqa: D105
        return not self.__ne__(other)

    def __ne__(self, other: object) -> bool:
        """Kernels ask whether a number is zero to spare themselves work: one that varies is not.

        In a function whose ways are explored it is a branch like others.
        """
        if isinstance(other, Number) or other != 0:
            raise RecordingError("a kernel asks whether a recorded number equals another")
        return self.recorder.oracle is None or bool(Condition(self.recorder, "lt", 0.0, abs(self)))


def known_zero(x: Value) -> bool:
    """Tell whether a number is zero whatever the inputs are."""
    return not isinstance(x, Number) and x == 0


def value_of(x: Value) -> float:
    """Return the value at the state of the recording."""
    return x.value if isinstance(x, Number) else float(x)


def larger(x: Value, y: Value) -> Value:
    """Return the larger of two numbers."""
    return _apply("max", x, y)


def smaller(x: Value, y: Value) -> Value:
    """Return the smaller of two numbers."""
    return _apply("min", x, y)


def select(condition: Condition | bool, yes: Value, no: Value) -> Value:
    """Return one of two numbers, as a condition says."""
    if not isinstance(condition, Condition):
        return yes if condition else no
    r = condition.recorder
    if r.place(yes) == r.place(no):
        return yes
    return r.apply("select", condition.number, yes, no)


def _apply(name: str, *operands: Value) -> Value:
    recorder = next((x.recorder for x in operands if isinstance(x, Number)), None)
    return FUNCTIONS[name](*operands) if recorder is None else recorder.apply(name, *operands)
