"""Mutations of files: of bytes, of words, of parsed trees, of columns of numbers.

Everything is drawn from the generator that is passed in, so that a case is its seed and number.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Any, TypeAlias

import numpy as np

_CALL = "__import__('os').system('true')"  # code that must never run
# Written as they are, where a number stands.
NUMBERS = (
    "0", "-0.0", "-1", "1", "2", "0.5", "nan", ".nan", "NaN", "inf", "-.inf", ".inf", "1e300",
    "-1e300", "1e-300", "5e-324", "1e308", "1e9", "1e-9", "1e16", "-7", "100000", "1000000007",
    "2147483648", "9223372036854775808", "1" + "0" * 40, "9" * 400, "1e400", "1e999999999", "0x10",
    "1_000", "1,5", "½", "٣", "1e", "--1", "1.2.3", "", "null", "true", "1 mm", "30 deg", "5 %",
    "1/0", "9**9**9", "3" * 5000,
)  # fmt: skip
TEXTS = (
    "", " ", "x", "é", "\u202e", "\U0001f600", "\x1b[31m", "a\nb", "\t", "\0", "\ud800", "a" * 300,
    "b" * 20_000, "${x}", "{{7*7}}", "%s%n", "..", "../../etc/passwd", "/dev/zero", "/etc/passwd",
    "file:///etc/passwd", "~", ".nan", "null", "yes", _CALL, "t", "1/0", "2**3**4**5**6**7", "@",
    "sqrt(-1)", "sin(" * 300, "(" * 2000, "-" * 3000 + "1", "1+" * 3000 + "1", "*" * 50, "a.b.c",
    "ground", "x@y", "=1+1", "1;2", "<b>&amp;", "]]>", "'", '"', "\\", "#", "1 deg deg", "x" * 70,
    "pow(10, 10000)", "exp(1e5)", "1e5**1e5", "0**-1", "(-8)**(1/3)", "log(0)", "acos(2)",
    "utf-7", "undefined", "\0x",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -0.0, -1, 1, 2, 3, 0.5, float("nan"), float("inf"), -float("inf"), 1e300,
    -1e300, 1e-300, 1e16, 1e-9, 1000, 10**9, 2**63, 10**40, 10**400, [], {}, [1], [0, 0, 0],
    [1, 2, 3], [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [None], {"x": 1}, [[]], {"": ""},
)  # fmt: skip
# Pieces of YAML, JSON and XML, to be put between words.
PIECES = (
    "&a ", "*a", "<<: *a", "!!int ", "!!float ", "!!binary ", "!!set ", "!!timestamp ", "!x ",
    "!!python/object/apply:os.system ['true']", "!!python/name:os.system ", "? ", "- ",
    ": ", "|\n", ">\n", "---\n", "...\n", "%YAML 9.9\n---\n", "\t", "{", "}", "[", "]", ",", "#",
    "\ufeff", "\r", "\0", "\x85", "\u2028", "{a: &a [1], b: *a}", "&r {x: *r}", "[" * 3000,
    "- " * 150, "<!DOCTYPE r [<!ENTITY e 'x'>]>", "&e;", "<![CDATA[", "<!--", "<?x ?>", "</", "/>",
    "&#0;", "&lt;", '"', "'", "=", ";", "\\u0000",
)  # fmt: skip
_FIELDS = tuple(
    value.to_bytes(size, "little")
    for size in (1, 2, 4, 8)
    for value in (0, 1, 2, 0x7F, (1 << (8 * size - 1)) - 1, 1 << (8 * size - 1), 256**size - 1)
    if value < 256**size
)
_TOKEN = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|\w+|\s+|.", re.DOTALL)

Tree: TypeAlias = Any
Columns: TypeAlias = dict[str, Any]


def times(rng: Random) -> int:
    """Return how many changes to make: mostly one."""
    n = 1
    while n < 8 and rng.random() < 0.3:
        n += 1
    return n


def mutated_bytes(rng: Random, data: bytes, other: bytes) -> bytes:
    """Return changed bytes; `other` is a file to splice with."""
    changed = bytearray(data)
    for _ in range(times(rng)):
        n = len(changed)
        # Heads of files say most about the rest.
        at = rng.randrange(min(n, 64) if rng.random() < 0.2 else n) if n else 0
        end = min(n, at + rng.choice((1, 2, 4, 8, 30, 200, n)))
        match rng.randrange(9):
            case 0 | 1 if n:
                changed[at] ^= 1 << rng.randrange(8)
            case 2 if n:
                changed[at] = rng.randrange(256)
            case 3:
                field = rng.choice(_FIELDS)
                changed[at : at + len(field)] = field
            case 4:
                del changed[at:]
            case 5:
                del changed[at:end]
            case 6:
                changed[end:end] = changed[at:end] * rng.choice((1, 1, 2, 50))
            case 7:
                changed[at:at] = rng.randbytes(rng.choice((1, 3, 20)))
            case _:
                changed[at:] = other[rng.randrange(len(other) + 1) :]
    return bytes(changed)


def mutated_words(rng: Random, text: str, vocabulary: tuple[str, ...]) -> str:
    """Return a text with some of its words and numbers changed."""
    tokens = _TOKEN.findall(text)
    for _ in range(times(rng)):
        if not tokens:
            return rng.choice(PIECES)
        at = rng.randrange(len(tokens))
        match rng.randrange(9):
            case 0 | 1 | 2:
                places = [k for k, x in enumerate(tokens) if x[-1:].isdigit()]
                tokens[rng.choice(places or [at])] = rng.choice(NUMBERS)
            case 3 | 4:
                places = [k for k, x in enumerate(tokens) if x[:1].isalpha()]
                words = rng.choice((vocabulary or TEXTS, TEXTS, tokens))
                tokens[rng.choice(places or [at])] = rng.choice(words)
            case 5:
                del tokens[at : at + rng.choice((1, 1, 2, 10))]
            case 6:
                part = tokens[at : at + rng.choice((1, 5, 30))]
                tokens[at:at] = part * rng.choice((1, 1, 3, 30))
            case 7:
                tokens.insert(at, rng.choice(PIECES))
            case _:
                lines = "".join(tokens).splitlines(keepends=True)
                k = rng.randrange(len(lines))
                line = lines.pop(k)
                if rng.random() < 0.5:  # moved, else dropped; or indented otherwise
                    lines.insert(rng.randrange(len(lines) + 1), line)
                elif rng.random() < 0.5:
                    lines.insert(k, "  " + line if rng.random() < 0.5 else line.lstrip())
                tokens = _TOKEN.findall("".join(lines))
    return "".join(tokens)


def mutated_tree(rng: Random, tree: Tree, vocabulary: tuple[str, ...], others: list[Tree]) -> Tree:
    """Return a tree of mappings, lists and values with some of its entries changed."""
    whole = tree
    for _ in range(times(rng)):

        def change(around: Tree, key: Any) -> Tree:
            return _changed(rng, around, key, vocabulary, [whole, *others])

        tree = _edited(rng, tree, change)
    return tree


def _edited(rng: Random, tree: Tree, change: Callable[[Tree, Any], Tree], depth: int = 0) -> Tree:
    """Return a tree with one entry changed; only what is around it is copied."""
    keys = _keys(tree)
    if not keys:
        return tree
    key = rng.choice(keys)
    if _keys(tree[key]) and rng.random() > 0.12:
        copy = dict(tree) if isinstance(tree, dict) else list(tree)
        copy[key] = _edited(rng, tree[key], change, depth + 1)
        return copy
    return change(tree, key)


def _keys(tree: Tree) -> list[Any]:
    if isinstance(tree, dict):
        return list(tree)
    return list(range(len(tree))) if isinstance(tree, list) else []


def _changed(
    rng: Random, around: Tree, key: Any, vocabulary: tuple[str, ...], trees: list[Tree]
) -> Tree:
    items = list(around.items()) if isinstance(around, dict) else list(enumerate(around))
    at = next(k for k, (name, _) in enumerate(items) if name == key)
    name, value = items[at]
    match rng.randrange(12):
        case 0 | 1 | 2 | 3:
            items[at] = name, odd_value(rng, value, vocabulary)
        case 4:
            del items[at]
        case 5:
            items[at] = rng.choice(vocabulary or TEXTS), value
        case 6:
            items.insert(at, (rng.choice((*vocabulary[:1], rng.choice(TEXTS), "x")), value))
        case 7:
            items[at] = name, rng.choice([[value], {"x": value}, [value, value]])
        case 8:
            other = rng.randrange(len(items))
            items[at], items[other] = (name, items[other][1]), (items[other][0], value)
        case 9 | 10:
            items[at] = name, _somewhere(rng, rng.choice(trees))
        case _:
            items.insert(at, (rng.choice(vocabulary or TEXTS), _somewhere(rng, rng.choice(trees))))
    if isinstance(around, dict):
        return dict(items)
    return [entry for _, entry in items]


def _somewhere(rng: Random, tree: Tree) -> Tree:
    while (keys := _keys(tree)) and rng.random() > 0.15:
        tree = tree[rng.choice(keys)]
    return tree


def odd_value(rng: Random, value: Any, vocabulary: tuple[str, ...]) -> Any:
    """Return something else than a value."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number and abs(value) < 1e300 and rng.random() < 0.5:
        return rng.choice((-value, value * 1e3, value * 1e-9, value + 1, 0, str(value), value / 3))
    kinds: tuple[tuple[Any, ...], ...] = (VALUES, VALUES, NUMBERS, TEXTS, vocabulary or TEXTS)
    if rng.random() < 0.01:
        nested: Any = 1
        for _ in range(rng.choice((20, 110, 400))):
            nested = [nested]
        return nested
    return rng.choice(rng.choice(kinds))


def mutated_columns(rng: Random, columns: Columns) -> Columns:
    """Return columns of numbers with samples, types, names or lengths changed."""
    found = dict(columns)
    for _ in range(times(rng)):
        if not found:
            return found
        name = rng.choice(list(found))
        values = np.array(found[name])
        n = len(values) if values.ndim else 0
        match rng.randrange(12):
            case 0 | 1 | 2 if n and values.dtype.kind == "f":
                odd = (0.0, -1.0, 1e300, -1e300, 1e6, 1e16, np.nan, np.inf, -np.inf, 5e-324)
                start = rng.randrange(n)
                values[start : start + rng.choice((1, 1, 2, 7, n))] = rng.choice(odd)
                found[name] = values
            case 3 if n:
                kinds = ("i8", "u1", "u8", "f4", "f2", "c16", "?", "S4", "U6", "M8[ns]", ">f8")
                with np.errstate(all="ignore"):
                    found[name] = (
                        np.nan_to_num(values).astype(rng.choice(kinds), casting="unsafe")
                        if values.dtype.kind == "f"
                        else values
                    )
            case 4:
                del found[name]
            case 5:
                found[rng.choice((*TEXTS[:12], "time", "q1", "q1.d", "M1", "q1.dd"))] = found.pop(
                    name
                )
            case 6:
                found[name] = values[: rng.choice((0, 1, 2, 3, n // 2))] if n else values
            case 7 if values.dtype.kind == "f":
                with np.errstate(all="ignore"):
                    found[name] = values * rng.choice((0.0, -1.0, 1e300, 1e-300, 1e3, 1e6))
            case 8 if n:
                order = list(range(n))
                rng.shuffle(order)
                found[name] = rng.choice((values[::-1], values[order], np.repeat(values, 2)))
            case 9 if n > 1:
                found[name] = rng.choice((values[:, None], np.stack([values] * 2), values[0]))
            case 10:
                keep = rng.choice((0, 1, 2, 3, 5))
                found = {key: x[:keep] if np.ndim(x) else x for key, x in found.items()}
            case _:
                text = [rng.choice(TEXTS[:20]) or "1" for _ in range(n)]
                found[name] = np.array([x.replace("\0", "").replace("\ud800", "") for x in text])
    return found
