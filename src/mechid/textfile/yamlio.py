"""Reading YAML with the line of every entry, and writing it.

Scalars are read as YAML 1.2 has them: only `true` and `false` are booleans, so that names such as
`N`, `on` and `y` stay names, and `1e-5` is a number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from mechid.errors import MechidError, ModelError

Key: TypeAlias = tuple[str | int, ...]

_RESOLVERS = (
    ("tag:yaml.org,2002:null", re.compile(r"^(?:~|null|Null|NULL|)$"), "~nN\0"),
    ("tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), "tTfF"),
    ("tag:yaml.org,2002:int", re.compile(r"^[-+]?[0-9]+$"), "-+0123456789"),
    (
        "tag:yaml.org,2002:float",
        re.compile(
            r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
            r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
        ),
        "-+0123456789.",
    ),
)
# Levels of entries, entries that aliases may repeat, and characters of a file with mistakes that
# the slower loader reads again.
_DEEPEST, _REPEATED, _LONG = 100, 100_000, 300_000


class _Loader(yaml.SafeLoader):
    pass


class _FastLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    pass


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


for _class in (_Loader, _FastLoader, _Dumper):
    _class.yaml_implicit_resolvers = {}  # not those of YAML 1.1
    for _tag, _pattern, _first in _RESOLVERS:
        _characters = [c if c != "\0" else "" for c in _first]
        _class.add_implicit_resolver(_tag, _pattern, _characters)


@dataclass(frozen=True)
class FileKind:
    """How a kind of file is called and recognised, for messages."""

    name: str
    start: str
    keys: str


MODEL_FILE = FileKind("model file", "mechid: 1", "name, bodies, joints")


@dataclass
class Source:
    """Where the entries of a document stand: a file and the line of every path."""

    file: str
    lines: dict[Key, int] = field(default_factory=dict)
    files: dict[Key, str] = field(default_factory=dict)  # of entries from included files

    def _written(self, path: Key) -> Key | None:
        """Return the path, or the innermost entry around it that is written."""
        return next((path[:n] for n in range(len(path), -1, -1) if path[:n] in self.lines), None)

    def line(self, path: Key) -> int | None:
        """Return the line of a path, or of the innermost entry around it that is written."""
        key = self._written(path)
        return None if key is None else self.lines[key]

    def place(self, path: Key) -> str:
        """Return `file:line` of a path."""
        key = self._written(path)
        if key is None:
            return self.file
        return f"{self.files.get(key, self.file)}:{self.lines[key]}"

    def include(self, other: Source) -> None:
        """Let entries that are not written here be found where another file has them."""
        for key, line in other.lines.items():
            if key not in self.lines or key in self.files:  # a later file comes before an earlier
                self.lines[key] = line
                self.files[key] = other.files.get(key, other.file)

    @contextmanager
    def locating(self) -> Iterator[None]:
        """Put file and line before the errors that are raised inside."""
        try:
            yield
        except ModelError as error:
            raise self.locate(error) from None

    def locate(self, error: ModelError) -> MechidError:
        """Return the error with the file and line of its path put before it."""
        return error.located(self.place(error.path))

    def overlay(self, inner: Key, outer: Key) -> None:
        """Let the entries under `outer` be found at `inner`: a variant merged into the file."""
        n = len(outer)
        around = {k[:-1] for k in self.lines}
        for key, line in list(self.lines.items()):
            if key[:n] == outer and len(key) > n:
                moved = inner + key[n:]
                # An entry that the file has too stays where it is; what is in it may move.
                if key not in around or moved not in self.lines:
                    self.lines[moved] = line
                    self.files[moved] = self.files.get(key, self.file)


def read(text: str, file: str, kind: FileKind = MODEL_FILE) -> tuple[dict[str, Any], Source]:
    """Return the data of a YAML text and the lines of its entries."""
    source = Source(file)
    try:
        _refuse_depth(text, file)
        node = _node(text)
    except yaml.YAMLError as error:
        raise _syntax_error(error, file, text) from None
    if node is None:
        raise ModelError("the file is empty", where=file, remedy=f"start it with {kind.start}")
    if not isinstance(node, yaml.MappingNode):
        raise ModelError(
            f"a {kind.name} is a mapping of keys such as {kind.keys}",
            where=f"{file}:{node.start_mark.line + 1}",
            remedy=f"start it with {kind.start}",
        )
    # Aliases need anchors; most files have none, and need not be searched for repetitions.
    data = _construct(node, (), source, (), _Repeated() if "&" in text else None)
    assert isinstance(data, dict)
    return data, source


def _refuse_depth(text: str, file: str) -> None:
    """Reject entries that are nested so deeply that the loaders, which recurse, would crash."""
    depth = 0
    for event in yaml.parse(text, Loader=_FastLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _DEEPEST:
                line = 0 if event.start_mark is None else event.start_mark.line
                raise ModelError(
                    f"entries are nested more than {_DEEPEST} levels deep",
                    where=f"{file}:{line + 1}",
                    remedy="check brackets and indentation",
                )
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _node(text: str) -> yaml.Node | None:
    """Return the tree of a text; the slower loader, ten times, says better what is wrong."""
    try:
        return _FastLoader(text).get_single_node()  # type: ignore[no-any-return]
    except yaml.YAMLError:
        if len(text) > _LONG:
            raise
        return _Loader(text).get_single_node()


class _Repeated:
    """How many entries aliases have repeated: a few lines of them can stand for billions."""

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._count = 0

    def __call__(self, node: yaml.Node) -> bool:
        """Return whether there are too many, with this one."""
        if id(node) in self._seen:
            self._count += 1
        self._seen.add(id(node))
        return self._count > _REPEATED


def _construct(
    node: yaml.Node, path: Key, source: Source, around: tuple[int, ...], repeated: _Repeated | None
) -> Any:
    line = node.start_mark.line + 1
    source.lines.setdefault(path, line)
    place = f"{source.file}:{line}"
    if repeated is not None:
        if id(node) in around:
            raise ModelError(
                "this alias contains itself", path=path, remedy="write the entry out"
            ).located(place)
        if repeated(node):
            raise ModelError(
                f"aliases repeat more than {_REPEATED} entries", remedy="write the entries out"
            ).located(place)
        around = (*around, id(node))
    if isinstance(node, yaml.MappingNode):
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key_line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode) or "\n" in key_node.value:
                raise ModelError(
                    "a key must be a name", path=path, remedy="put braces in quotes"
                ).located(place)
            key = str(key_node.value)
            if key in result:
                raise ModelError(
                    f"{key} is defined twice (first in line {source.lines[(*path, key)]})",
                    path=(*path, key),
                    remedy="rename or remove one of them",
                ).located(f"{source.file}:{key_line}")
            source.lines[(*path, key)] = key_line
            result[key] = _construct(value_node, (*path, key), source, around, repeated)
        return result
    if isinstance(node, yaml.SequenceNode):
        return [
            _construct(v, (*path, i), source, around, repeated) for i, v in enumerate(node.value)
        ]
    try:
        return _scalar(node)
    except ValueError:  # a tag that says something else than the text
        kind = node.tag.rsplit(":", 1)[-1]
        raise ModelError(
            f"the value is tagged !!{kind} and is not one", path=path, remedy="remove the tag"
        ).located(place) from None


def _scalar(node: yaml.Node) -> Any:
    text = str(node.value)
    match node.tag.rsplit(":", 1)[-1]:
        case "null":
            return None
        case "bool":
            return text.lower() == "true"
        case "int":
            return int(text) if len(text) < 300 else float(text)
        case "float":
            if (word := text.lower().lstrip("+-").lstrip(".")) in ("inf", "nan"):
                return math.copysign(float(word), -1 if text.startswith("-") else 1)
            return float(text)
    return text


def _syntax_error(error: yaml.YAMLError, file: str, text: str) -> ModelError:
    if odd := yaml.reader.Reader.NON_PRINTABLE.search(text):
        return ModelError(
            f"not valid YAML: the character U+{ord(odd[0]):04X} is not allowed",
            where=f"{file}:{text.count(chr(10), 0, odd.start()) + 1}",
            remedy="remove it, or save the file as UTF-8 text again",
        )
    mark = getattr(error, "problem_mark", None)
    where = file if mark is None else f"{file}:{mark.line + 1}"
    problem = getattr(error, "problem", None) or "cannot be read"
    return ModelError(
        f"not valid YAML: {' '.join(str(problem).split())}",
        where=where,
        remedy="check indentation, colons and brackets in this line and the one above",
    )


def _represent_float(dumper: yaml.SafeDumper, value: float) -> yaml.ScalarNode:
    text = (
        repr(value)
        if math.isfinite(value)
        else {math.inf: ".inf", -math.inf: "-.inf"}.get(value, ".nan")
    )
    return dumper.represent_scalar("tag:yaml.org,2002:float", text)


_Dumper.add_representer(float, _represent_float)


def write(data: dict[str, Any]) -> str:
    """Return a document as YAML text; floats keep every digit."""
    return yaml.dump(
        data,
        Dumper=_Dumper,
        sort_keys=False,
        default_flow_style=None,
        width=100,
        allow_unicode=True,
    )


def read_file(path: Path, shown: str, kind: FileKind = MODEL_FILE) -> tuple[dict[str, Any], Source]:
    """Return data and lines of a file; `shown` is its name in messages."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ModelError(
            "the file is not UTF-8 text", where=shown, remedy="save it as UTF-8"
        ) from None
    except OSError as error:
        raise ModelError(f"cannot read the file: {error.strerror}", where=shown) from None
    return read(text, shown, kind)
