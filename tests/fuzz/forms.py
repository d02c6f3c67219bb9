"""Seeds of each form of file, and how they are changed: as bytes, as words, as what they mean."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree

import numpy as np

from .mutate import (
    Columns,
    Tree,
    mutated_bytes,
    mutated_columns,
    mutated_tree,
    mutated_words,
)

_NOT_JSON = re.compile(r"(?<=[\[:] |, )(NaN|-?Infinity)\b|(?<=\[)(NaN|-?Infinity)\b")
_YAML = {"NaN": ".nan", "Infinity": ".inf", "-Infinity": "-.inf"}
_WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9.]*")
Write = Callable[[Columns], bytes]


@dataclass(frozen=True, eq=False)
class Seed:
    """A valid file to start from.

    Attributes
    ----------
    name : str
        What it is called where it is read; with its ending.
    data : bytes
    form : str
        "yaml", "json", "xml", "text", "zip" or "binary".
    columns, write : optional
        The numbers of a log, and how a log of such numbers is written.
    """

    name: str
    data: bytes
    form: str
    columns: Columns | None = None
    write: Write | None = field(default=None, repr=False)

    @cached_property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace")

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words in the file, for other places of it."""
        if self.form in ("zip", "binary"):
            return ()
        return tuple(sorted(set(_WORD.findall(self.text))))

    @cached_property
    def tree(self) -> Tree:
        """What the file says, as mappings, lists and values."""
        match self.form:
            case "yaml":
                from mechid.textfile.yamlio import read

                return read(self.text, self.name)[0]
            case "json":
                return json.loads(self.text)
            case "xml":
                return _xml_tree(ElementTree.fromstring(self.data))
            case "text":
                return [line.split(",") for line in self.text.splitlines()]
            case "zip":
                with zipfile.ZipFile(io.BytesIO(self.data)) as archive:
                    return {name: archive.read(name) for name in archive.namelist()}
        return None


def mutated(rng: Random, seed: Seed, seeds: list[Seed], vocabulary: tuple[str, ...]) -> bytes:
    """Return a changed file."""
    way = rng.random()
    other = rng.choice(seeds)
    if way < 0.15 or (seed.form == "binary" and (seed.write is None or way < 0.5)):
        return mutated_bytes(rng, seed.data, other.data)
    if seed.write is not None and seed.columns is not None and way < 0.55:
        try:
            return seed.write(mutated_columns(rng, seed.columns))
        except Exception:  # what the format cannot hold
            return mutated_bytes(rng, seed.data, other.data)
    if seed.form == "zip":
        return _mutated_parts(rng, seed, vocabulary)
    if way < 0.6:
        return mutated_words(rng, seed.text, vocabulary or seed.words).encode(
            "utf-8", "surrogatepass"
        )
    trees = [s.tree for s in (rng.choice(seeds), other) if s.form == seed.form]
    tree = mutated_tree(rng, seed.tree, vocabulary or seed.words, trees)
    return _written(tree, seed.form).encode("utf-8", "surrogatepass")


def _written(tree: Tree, form: str) -> str:
    match form:
        case "xml":
            return _xml_text(tree)
        case "text":
            rows = [row if isinstance(row, list) else [row] for row in tree]
            return "\n".join(",".join(map(str, row)) for row in rows) + "\n"
    text = json.dumps(tree, ensure_ascii=False, default=str)
    # JSON is YAML but for some numbers.
    return _NOT_JSON.sub(lambda m: _YAML[m[0]], text) if form == "yaml" else text


def _xml_tree(node: ElementTree.Element) -> Tree:
    return [node.tag, dict(node.attrib), (node.text or "").strip(), [_xml_tree(x) for x in node]]


def _xml_text(tree: Tree) -> str:
    """Return markup; a tree that is not one any more gives what it can."""
    if not (isinstance(tree, list) and len(tree) == 4):
        return str(tree)
    tag, given, text, inner = tree
    attributes = given if isinstance(given, dict) else {"x": given}
    head = "".join(f' {k}="{_escaped(v)}"' for k, v in attributes.items())
    parts = inner if isinstance(inner, list) else [inner]
    return f"<{tag}{head}>{_escaped(text)}{''.join(map(_xml_text, parts))}</{tag}>"


def _escaped(value: Any) -> str:
    return str(value).replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def _mutated_parts(rng: Random, seed: Seed, vocabulary: tuple[str, ...]) -> bytes:
    parts = dict(seed.tree)
    name = rng.choice(list(parts))
    part = parts[name]
    if rng.random() < 0.2:
        parts[name] = mutated_bytes(rng, part, part)
    else:
        text = mutated_words(rng, part.decode("utf-8", "replace"), vocabulary)
        parts[name] = text.encode("utf-8", "surrogatepass")
    return zipped(parts)


def zipped(parts: dict[str, bytes]) -> bytes:
    """Return an archive, the same for the same parts."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in parts.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return out.getvalue()


def csv_text(columns: Columns) -> bytes:
    """Return columns as CSV, also those of unequal lengths."""
    values = {name: np.atleast_1d(x).ravel() for name, x in columns.items()}
    n = max((len(x) for x in values.values()), default=0)
    rows = [",".join(map(str, columns))]
    for k in range(n):
        rows.append(",".join(str(x[k]) if k < len(x) else "" for x in values.values()))
    return ("\n".join(rows) + "\n").encode("utf-8", "surrogatepass")


def parquet(columns: Columns) -> bytes:
    """Return columns as an uncompressed Parquet file, so that changed bytes reach the numbers."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    arrays = [pa.array(np.atleast_1d(x)) for x in columns.values()]
    pq.write_table(pa.Table.from_arrays(arrays, list(columns)), out, compression="none")
    return out.getvalue()


def mat(columns: Columns) -> bytes:
    """Return columns as a MAT file of version 5."""
    from scipy.io import savemat

    out = io.BytesIO()
    savemat(out, columns)
    return b"MATLAB 5.0 MAT-file".ljust(116) + out.getvalue()[116:]  # without the date


def hdf5(columns: Columns, head: bytes = b"") -> bytes:
    """Return columns as an HDF5 file; `head` stands before it."""
    import h5py

    out = io.BytesIO()
    with h5py.File(out, "w", userblock_size=512 if head else 0) as file:
        for name, values in columns.items():
            values = np.asarray(values)
            node = file.create_dataset(name, data=values[:, None] if head else values)
            node.attrs["MATLAB_class" if head else "unit"] = b"double" if head else ""
    data = out.getvalue()
    return head.ljust(512, b"\0") + data[512:] if head else data


def mat73(columns: Columns) -> bytes:
    """Return columns as a MAT file of version 7.3."""
    return hdf5(columns, b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM")


def seed_of(path: Path, form: str) -> Seed:
    """Return a file as a seed."""
    return Seed(path.name, path.read_bytes(), form)
