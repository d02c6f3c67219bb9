"""Values of parameters, which may depend on one another, and of every scalar that uses them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mechid.errors import ModelError
from mechid.mechanism.records import Parameter
from mechid.modelfile.document import ParameterSpec
from mechid.modelfile.scope import Entry, Scope
from mechid.modelfile.spec_geometry import RoundedVector
from mechid.modelfile.vectors import Exact
from mechid.textfile import expressions
from mechid.textfile.expressions import Number
from mechid.textfile.yamlio import Key


class Numbers:
    """Evaluates scalars in their scope; parameters are resolved when first used."""

    def __init__(self, parameters: Mapping[str, Entry]) -> None:
        self._entries = parameters
        self._numbers: dict[str, Number] = {}
        self._values: dict[str, float] = {}
        self._busy: list[str] = []

    def records(self) -> tuple[Parameter, ...]:
        """Return every parameter with its value."""
        records = []
        for name, entry in self._entries.items():
            number = self._parameter(name)
            scalar, unit, source = _parts(entry.spec)
            if not unit and isinstance(scalar, str) and scalar.rstrip().endswith(("deg", "rad")):
                unit = "rad"
            expr = None if expressions.is_constant(number.text) else number.text
            records.append(Parameter(name, number.value, unit, source, expr))
        return tuple(records)

    def number(self, scalar: Any, scope: Scope, path: Key) -> Number:
        """Return value and normal form of a scalar."""
        try:
            tree = expressions.parse(scalar)
            final = {n: scope.find("parameters", n, path) for n in expressions.names(tree)}
            for name in final.values():
                self._parameter(name)
            tree = expressions.renamed(tree, final)
            value = expressions.evaluate(tree, self._values)
            if abs(value) > expressions.LARGEST:  # products of a few such numbers must stay finite
                raise ValueError(f"{value:g} is out of range; check the value")
            return Number(value, expressions.text_of(tree))
        except ValueError as error:
            what, _, remedy = str(error).partition("; ")
            raise ModelError(what, path=path, remedy=remedy) from None

    def value(self, scalar: Any, scope: Scope, path: Key) -> float:
        """Return the value of a scalar."""
        return self.number(scalar, scope, path).value

    def vector(self, three: Any, scope: Scope, path: Key) -> Exact:
        """Return three scalars, or three floats without an exact meaning."""
        if isinstance(three, RoundedVector):
            return Exact.of(three.rounded, three.expr)
        numbers = [self.number(s, scope, (*path, i)) for i, s in enumerate(three)]
        texts = tuple(n.text for n in numbers)
        return Exact.of([n.value for n in numbers], (texts[0], texts[1], texts[2]))

    def of_text(self, text: str) -> float:
        """Return the value of an expression in normal form (final names)."""
        tree = expressions.parse(text)
        for name in expressions.names(tree):
            self._parameter(name)
        return expressions.evaluate(tree, self._values)

    def _parameter(self, name: str) -> Number:
        if name not in self._numbers:
            entry = self._entries[name]
            if name in self._busy:
                chain = [*self._busy[self._busy.index(name) :], name]
                raise ModelError(
                    f"parameter depends on itself: {' -> '.join(chain)}",
                    path=entry.path,
                    remedy="give one of them a number",
                )
            self._busy.append(name)
            self._numbers[name] = self.number(_parts(entry.spec)[0], entry.scope, entry.path)
            self._values[name] = self._numbers[name].value
            self._busy.pop()
        return self._numbers[name]


def _parts(spec: Any) -> tuple[float | str, str, str]:
    if isinstance(spec, ParameterSpec):
        return spec.value, spec.unit, spec.source
    return spec, "", ""
