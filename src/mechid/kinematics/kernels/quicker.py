"""What makes Numba compile in less time, without a change of what it compiles."""

from __future__ import annotations

import gc
import operator
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from numba.core import types

# Objects between two collections; with the usual 700 they took a twelfth of a compilation.
_OBJECTS = 200_000
# Functions of Numba with the signatures that were found, by the types of their arguments. (By their
# addresses: equal ones do not share what else they note down.)
_found: dict[int, tuple[Any, dict[Any, Any]]] = {}
_ITEMS = (operator.getitem, operator.setitem)
_function: Any = types.Function
_look_up = _function.get_call_type


class Shared:
    """A change of something that all threads share: the last block to end takes it back."""

    def __init__(self, change: Callable[[], Callable[[], None]]) -> None:
        self._change = change  # returns what takes it back
        self._lock = threading.Lock()
        self._blocks = 0
        self._back: Callable[[], None] = lambda: None

    @contextmanager
    def made(self) -> Iterator[None]:
        """Keep the change inside the block."""
        with self._lock:
            if self._blocks == 0:
                self._back = self._change()
            self._blocks += 1
        try:
            yield
        finally:
            with self._lock:
                self._blocks -= 1
                if self._blocks == 0:
                    self._back()


def seldom_collecting() -> AbstractContextManager[None]:
    """Let Python look for unused objects less often inside the block."""
    return _collecting.made()


def looked_up_once() -> AbstractContextManager[None]:
    """Let Numba look up every operation once inside the block.

    It tries all that it knows by that name, one after the other, wherever an operation stands, and
    again when it is translated: a quarter of its time, apart from that of LLVM.
    """
    return _looking_up.made()


def _collect_seldom() -> Callable[[], None]:
    before = gc.get_threshold()
    gc.set_threshold(_OBJECTS, *before[1:])
    return lambda: gc.set_threshold(*before)


def _look_up_once() -> Callable[[], None]:
    before = _function.get_call_type

    def back() -> None:
        _function.get_call_type = before

    _function.get_call_type = _looked_up
    return back


def _looked_up(function: Any, context: Any, args: Any, words: Any) -> Any:
    """Return the signature of a call."""
    if words:
        return _look_up(function, context, args, words)
    if function.typing_key in _ITEMS and isinstance(args[0], types.Array):
        args = [types.unliteral(x) for x in args]  # the same for every number that is an index
    _, known = _found.setdefault(id(function), (function, {}))
    key = tuple(args)
    if key not in known:
        known[key] = _look_up(function, context, key, words)
    return known[key]


_collecting, _looking_up = Shared(_collect_seldom), Shared(_look_up_once)
