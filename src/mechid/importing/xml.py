"""Reading XML that may be hostile: no entities, bounded size and depth, lines for messages."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.sax import SAXException, SAXParseException
from xml.sax.handler import ContentHandler

from mechid.errors import ModelError
from mechid.outputs import real_path
from mechid.textfile.words import hint

MAX_BYTES = 64_000_000
MAX_ELEMENTS = 200_000
MAX_DEPTH = 200  # of elements; the deepest robots have some dozens of bodies in each other
MAX_TEXT = 1000  # characters inside an element: only single numbers are read
LARGEST = 1e9  # metres, kilograms, …: beyond it, a number is a mistake


@dataclass(eq=False)
class Node:
    """An element: its name as written, its attributes, and where it stands."""

    tag: str
    attributes: dict[str, str]
    place: str
    children: list[Node] = field(default_factory=list)
    text: str = ""

    def all(self, *tags: str) -> Iterator[Node]:
        """Return the children of these names."""
        return (child for child in self.children if child.tag in tags)

    def first(self, tag: str) -> Node | None:
        """Return the first child of this name."""
        return next(self.all(tag), None)

    def get(self, key: str) -> str | None:
        """Return an attribute without blanks around it."""
        value = self.attributes.get(key)
        return None if value is None else value.strip()

    def error(self, what: str, remedy: str = "") -> ModelError:
        """Return an error that names the line of the element."""
        return ModelError(what, where=self.place, remedy=remedy)

    def needed(self, key: str) -> str:
        """Return an attribute that must be there."""
        value = self.get(key)
        if not value:
            raise self.error(f"<{self.tag}> has no {key}", f'write {key}="…"')
        return value

    def numbers(
        self, key: str, n: int, default: tuple[float, ...], largest: float = LARGEST
    ) -> tuple[float, ...]:
        """Return an attribute of exactly n numbers."""
        found = self.some_numbers(key, default, largest)
        if len(found) != n:
            raise self.error(
                f"{key} of <{self.tag}> must be {n} numbers, got {len(found)}",
                "separate them by blanks",
            )
        return found

    def some_numbers(
        self, key: str, default: tuple[float, ...] = (), largest: float = LARGEST
    ) -> tuple[float, ...]:
        """Return an attribute of any count of numbers."""
        text = self.get(key)
        if text is None:
            return default
        return tuple(self._number(key, word, largest) for word in text.split())

    def number(self, key: str, default: float = 0.0, largest: float = LARGEST) -> float:
        """Return an attribute that is one number."""
        return self.numbers(key, 1, (default,), largest)[0]

    def flag(self, key: str, default: bool = False) -> bool:
        """Return an attribute that is true or false."""
        return self.choice(key, ("true", "false"), "true" if default else "false") == "true"

    def choice(self, key: str, known: tuple[str, ...], default: str) -> str:
        """Return an attribute that is one of some words."""
        value = self.get(key) or default
        if value not in known:
            raise self.error(f'unknown {key} "{value}" of <{self.tag}>', hint(value, known))
        return value

    def _number(self, key: str, word: str, largest: float) -> float:
        try:
            value = float(word)
        except ValueError:
            raise self.error(f'{key} of <{self.tag}> must be numbers, got "{word[:40]}"') from None
        if not math.isfinite(value) or abs(value) > largest:
            raise self.error(
                f"{key} of <{self.tag}> must be finite numbers below {largest:g}, got {word[:40]}",
                "correct the file",
            )
        return value


class _Builder(ContentHandler):
    def __init__(self, shown: str) -> None:
        super().__init__()
        self.shown = shown
        self.stack: list[Node] = []
        self.count = 0
        self.root: Node | None = None

    def startElement(self, name: str, attrs: Any) -> None:
        place = f"{self.shown}:{self._locator.getLineNumber()}"  # type: ignore[attr-defined]
        node = Node(name, dict(attrs.items()), place)
        self.count += 1
        if self.count > MAX_ELEMENTS or len(self.stack) >= MAX_DEPTH:
            limit = (
                f"{MAX_ELEMENTS} elements"
                if self.count > MAX_ELEMENTS
                else f"{MAX_DEPTH} elements inside each other"
            )
            raise node.error(f"the file has more than {limit}", "import a part of it")
        if self.stack:
            self.stack[-1].children.append(node)
        else:
            self.root = node
        self.stack.append(node)

    def endElement(self, name: str) -> None:
        self.stack.pop()

    def characters(self, content: str) -> None:
        if self.stack and len(self.stack[-1].text) < MAX_TEXT:
            self.stack[-1].text += content


def read_xml(path: Path, shown: str = "") -> Node:
    """Return the root element of a file; `shown` is its name in messages.

    Raises
    ------
    ModelError
        If the file cannot be read, is no XML, declares entities, or is too large or too deep.
    """
    from defusedxml import DefusedXmlException
    from defusedxml.sax import parse

    shown = shown or str(path)
    builder = _Builder(shown)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ModelError(
                f"the file is larger than {MAX_BYTES // 1_000_000} MB",
                where=shown,
                remedy="import a smaller file; meshes belong in files of their own",
            )
        with path.open("rb") as stream:
            parse(stream, builder)
    except OSError as error:
        raise ModelError(f"cannot read the file: {error.strerror}", where=shown) from None
    except DefusedXmlException:
        raise ModelError(
            "the file declares entities or refers to other documents in its DTD",
            where=shown,
            remedy="remove the <!DOCTYPE …> and write the entities out",
        ) from None
    except SAXParseException as error:
        raise ModelError(
            f"not valid XML: {error.getMessage()}",
            where=f"{shown}:{error.getLineNumber()}",
            remedy="check the tags in this line and above",
        ) from None
    except (SAXException, UnicodeError, LookupError, ValueError) as error:
        raise ModelError(f"not valid XML: {error}", where=shown, remedy="save it anew") from None
    assert builder.root is not None
    return builder.root


def inside(root: Path, name: str, node: Node) -> Path:
    """Return a file named in a model, which must lie under the folder `root`.

    Raises
    ------
    ModelError
        If the name leads out of the folder: a model must not make us read arbitrary files.
    """
    if "\0" in name:
        raise node.error("the name of a file has a zero byte", "correct the file")
    path = real_path(root / name)
    if not path.is_relative_to(real_path(root)):
        raise node.error(
            f'"{name}" lies outside of the folder {root}',
            "name a folder that holds all files by the option root",
        )
    return path
