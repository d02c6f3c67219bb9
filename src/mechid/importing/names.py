"""Names that the model format takes, made of those of another."""

from __future__ import annotations

import re

from mechid.mechanism.records import GROUND

_OTHER = re.compile(r"[^A-Za-z0-9_-]+")


class Names:
    """Gives every name of one kind a valid and unique form, and remembers which it changed."""

    def __init__(self, what: str, reserved: tuple[str, ...] = ()) -> None:
        self._what = what
        self._taken = set(reserved)
        self._known: dict[str, str] = {}
        self.renamed: list[tuple[str, str, str]] = []

    def __getitem__(self, name: str) -> str:
        """Return the name in the model of something that the file calls so."""
        if name not in self._known:
            self._known[name] = new = self.free(name)
            if new != name:
                self.renamed.append((self._what, name, new))
        return self._known[name]

    def free(self, name: str) -> str:
        """Return a valid name that nothing has yet, and take it."""
        valid = _OTHER.sub("_", name) or self._what
        if not (valid[0].isalpha() or valid[0] == "_"):
            valid = f"_{valid}"
        new, n = valid, 2
        while new in self._taken:
            new, n = f"{valid}_{n}", n + 1
        self._taken.add(new)
        return new


def body_names() -> Names:
    """Return the names of bodies; that of the ground is taken."""
    return Names("body", (GROUND,))
