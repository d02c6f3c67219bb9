"""Loading, building and saving mechanisms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mechid.errors import DataError, ModelError
from mechid.mechanism.records import Mechanism
from mechid.modelfile.build import build_document
from mechid.modelfile.document import FORMAT_VERSION, plain, validate
from mechid.modelfile.dump import document_of
from mechid.modelfile.include import put_together, read_model
from mechid.outputs import write_text
from mechid.textfile.yamlio import Source, read, write


def load(spec: str | Path) -> Mechanism:
    """Return the mechanism of a model file or of the zoo.

    Parameters
    ----------
    spec : str or Path
        Name of a mechanism of the zoo, or path of a model file; either may end in `@variant`,
        also in several: `@a@b` is variant b merged into variant a.

    Raises
    ------
    ModelError
        With file, line, entry and remedy, if there is no such model or it is described wrongly.
    """
    data, source = read_model(spec)
    with source.locating():
        return build_document(validate(data))


def loads(text: str, *, name: str = "<text>", variant: str | None = None) -> Mechanism:
    """Return the mechanism of a model file given as text; `name` stands for it in messages.

    Files that it includes are sought from the current folder; `variant` may be several, `a@b`.

    Parameters
    ----------
    text : str
        Of a model file.
    name : str
        What messages call it.
    variant : str, optional
        Of the variants that the text describes.

    Examples
    --------
    >>> import mechid
    >>> text = mechid.dumps(mechid.load("pendulum"))
    >>> mechid.loads(text) == mechid.load("pendulum")
    True
    """
    data, source = read(text, name)
    data = put_together(data, source, tuple(variant.split("@")) if variant else ())
    with source.locating():
        return build_document(validate(data))


def build(**words: Any) -> Mechanism:
    """Return a mechanism from the words of the model file, given as Python keywords.

    Values are dicts, lists, tuples, numbers, arrays and strings as in the file, or the Pydantic
    objects of `mechid.modelfile`; `mechid` (the version of the format) may be left out.

    Parameters
    ----------
    **words
        Words of the model file (`name`, `bodies`, `joints`, `coordinates`, …), in SI units.

    Examples
    --------
    >>> import mechid
    >>> disc = mechid.build(
    ...     name="disc",
    ...     gravity=[0, 0, -9.81],
    ...     bodies={"disc": {"mass": 2.0, "inertia": {"xx": 0.01, "yy": 0.01, "zz": 0.02}}},
    ...     joints={"axle": {"type": "revolute", "between": ["ground", "disc"], "axis": "z",
    ...                      "at": [0, 0, 0]}},
    ...     coordinates={"angle": {"joint": "axle", "force": "M"}},
    ... )
    >>> disc.coordinates[0].unit
    'rad'
    """
    data = {"mechid": FORMAT_VERSION, **plain(words)}
    if "include" in data:
        data = put_together(data, Source("build"), ())
    return build_document(validate(data))


def on_base(mechanism: Mechanism, **words: Any) -> Mechanism:
    """Return a mechanism that stands on a moving base instead of the ground.

    Parameters
    ----------
    mechanism : Mechanism
    **words
        Of the key `base` of the model file: `type` of the joint that carries the base (default:
        free), `at`, `axis`, `frame`, `held`, `force`, `between`.

    Examples
    --------
    >>> import mechid
    >>> shaken = mechid.on_base(mechid.load("pendulum"), type="prismatic", axis="z")
    >>> [c.name for c in shaken.coordinates]
    ['angle', 'base']
    """
    if "base" in (body.name for body in mechanism.bodies) and "between" not in words:
        words["between"] = ("ground", "moving_base")
    return build(**document_of(mechanism) | {"base": words})


def dumps(mechanism: Mechanism) -> str:
    """Return a mechanism as the text of a model file; loading it gives an equal mechanism.

    The text is the resolved form: variants, subassemblies and tables are expanded and every frame
    is spelled out.

    Parameters
    ----------
    mechanism : Mechanism

    Examples
    --------
    >>> import mechid
    >>> print(mechid.dumps(mechid.load("pendulum")).splitlines()[1])
    name: pendulum
    """
    return write(document_of(mechanism))


def save(mechanism: Mechanism, path: str | Path) -> None:
    """Write a mechanism to a model file, in the form of `dumps`.

    Parameters
    ----------
    mechanism : Mechanism
    path : str or Path

    Examples
    --------
    >>> import mechid
    >>> mechid.save(mechid.load("pendulum"), "pendulum.yaml")
    >>> mechid.load("pendulum.yaml") == mechid.load("pendulum")
    True
    """
    try:
        write_text(path, dumps(mechanism))
    except DataError as error:
        raise ModelError(error.what, where=error.where) from None
