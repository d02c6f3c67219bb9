"""Commands that jobs may run, with arguments checked: paths stay inside the folder.

Arguments become a list, never a shell line; values are joined to their option (`--name=value`), so
that none can pass for another option.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

from mechid.studio.folder import Folder
from mechid.studio.refused import WRONG_INPUT, RefusedError

ZOO = "zoo:"
STUDY = "study"
MOST_WORDS = 200
MOST_LETTERS = 4000

Kind: TypeAlias = Callable[[Folder, str, Any], str]


@dataclass(frozen=True)
class Prepared:
    """A command that can be run.

    Attributes
    ----------
    argv : tuple of str
        Without `mechid`.
    title : str
        For people.
    outputs : tuple of str
        What it writes, relative to the folder.
    reads : tuple of str
        Models and YAML files that it reads, which may name other files.
    """

    argv: tuple[str, ...]
    title: str
    outputs: tuple[str, ...]
    reads: tuple[str, ...]


@dataclass(frozen=True)
class Command:
    """Positional arguments in their order, and options; `many` of both may be lists.

    `words` is the command itself, if that is more than its name.
    """

    positional: Mapping[str, Kind]
    options: Mapping[str, Kind | None]  # None: a flag
    many: frozenset[str] = frozenset()
    words: tuple[str, ...] = ()


def prepared(
    command: str, arguments: Mapping[str, Any], folder: Folder, scheduler: str | None = None
) -> Prepared:
    """Return the command line of a request.

    Parameters
    ----------
    command : str
        A name of `COMMANDS`.
    arguments : mapping
        Positional arguments and options by name, with _ for -.
    folder : Folder
    scheduler : str, optional
        Of studies: never that of a request, since it is sent what it runs.

    Raises
    ------
    RefusedError
        For commands and options that are not allowed, and paths that lead out of the folder.
    """
    if command not in COMMANDS:
        raise RefusedError(
            WRONG_INPUT, f"there is no job {command[:40]}", remedy=_choose(sorted(COMMANDS))
        )
    known = COMMANDS[command]
    options: list[str] = []
    outputs: list[str] = []
    reads: list[str] = []
    given = {k: v for k, v in arguments.items() if v is not None and v is not False and v != []}
    for name, value in given.items():
        if name in known.positional:
            continue
        if name not in known.options:
            names = sorted([*known.positional, *known.options])
            raise RefusedError(
                WRONG_INPUT, f"{command} has no argument {name[:40]}", remedy=_choose(names)
            )
        kind, option = known.options[name], f"--{name.replace('_', '-')}"
        if kind is None:
            if value is not True:
                raise RefusedError(WRONG_INPUT, f"{name} must be true or false")
            options.append(option)
            continue
        for one in _several(name, value, name in known.many):
            text = kind(folder, name, one)
            options.append(f"{option}={text}")
            if kind is new:
                outputs.append(text)
            elif kind is file:
                reads.append(text)
    if command == STUDY and scheduler is not None:
        options.append(f"--scheduler={scheduler}")
    positional: list[str] = []
    for name, kind in known.positional.items():
        if name not in given:
            raise RefusedError(WRONG_INPUT, f"{name} is missing")
        values = _several(name, given[name], name in known.many)
        positional += [kind(folder, name, one) for one in values]
        reads += [one for one in values if kind in (model, source, file, study)]
    return Prepared(
        (*(known.words or (command,)), *options, "--", *positional),
        f"{command} {PurePosixPath(positional[0]).name}",
        tuple(outputs),
        tuple(reads),
    )


def _several(name: str, value: Any, many: bool) -> list[Any]:
    if not isinstance(value, list):
        return [value]
    if not many or len(value) > MOST_WORDS:
        raise RefusedError(WRONG_INPUT, f"{name} must be one value, or fewer")
    return value


def _choose(names: list[str]) -> str:
    return f"choose one of: {', '.join(names)}"


def _text(name: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise RefusedError(WRONG_INPUT, f"{name} must be text or a number")
    text = f"{value:.17g}" if isinstance(value, float) and math.isfinite(value) else str(value)
    if not text.strip() or len(text) > MOST_LETTERS or any(c in text for c in "\0\n\r"):
        raise RefusedError(WRONG_INPUT, f"{name} must be a line of text")
    return text


def _path(name: str, value: Any) -> str:
    """Return a path that has still to be checked."""
    if not isinstance(value, str) or not value or len(value) > MOST_LETTERS:
        raise RefusedError(WRONG_INPUT, f"{name} must be a path of 1 to {MOST_LETTERS} letters")
    return value


def word(folder: Folder, name: str, value: Any) -> str:
    """A text or a number that names no file."""
    return _text(name, value)


def file(folder: Folder, name: str, value: Any) -> str:
    """A file or folder that is there."""
    path = _path(name, value)
    folder.existing(path)
    return _plain(path)


def new(folder: Folder, name: str, value: Any) -> str:
    """A file or folder to be written."""
    path = _path(name, value)
    folder.new(path)
    return path


def model(folder: Folder, name: str, value: Any) -> str:
    """A model of the zoo (`zoo:NAME`) or a file, either with @variant."""
    path = _path(name, value)
    if path.startswith(ZOO):
        found = path.removeprefix(ZOO)
        if found.partition("@")[0] not in zoo_names():
            raise RefusedError(404, f"the zoo has no mechanism {found[:60]}")
        return found
    folder.existing(path if folder.inside(path).exists() else path.partition("@")[0])
    return _plain(path)


def source(folder: Folder, name: str, value: Any) -> str:
    """A run or a model."""
    return model(folder, name, value)


def run(folder: Folder, name: str, value: Any) -> str:
    """The folder of a run."""
    path = _path(name, value)
    if not (folder.existing(path) / "run.json").is_file():
        raise RefusedError(WRONG_INPUT, "this is not a run", where=path)
    return _plain(path)


def study(folder: Folder, name: str, value: Any) -> str:
    """A study file, or a name of the library."""
    text = _path(name, value)
    return text if text in studies() else file(folder, name, text)


def log(folder: Folder, name: str, value: Any) -> str:
    """A log: FILE, FILE+FILE, or either with @FROM:TO."""
    text = _path(name, value)
    if folder.inside(text).exists():
        return _plain(text)
    files = text.rpartition("@")[0] or text
    for part in [files] if folder.inside(files).exists() else files.split("+"):
        folder.existing(part.strip())
    return _plain(text)


def mapping(folder: Folder, name: str, value: Any) -> str:
    """A mapping file, or LOG=FILE for one of several logs."""
    text = _path(name, value)
    left, sign, right = text.partition("=")
    if not sign or folder.inside(text).exists():
        return file(folder, name, text)
    log(folder, name, left)
    folder.existing(right)
    return text


def base(folder: Folder, name: str, value: Any) -> str:
    """A base set: a file, a name, or names with commas."""
    text = _path(name, value)
    return file(folder, name, text) if "/" in text or text.endswith((".yaml", ".yml")) else text


def _plain(path: str) -> str:
    """Return a path that no command takes for an option or a name of the zoo."""
    return f"./{path}" if path.startswith("-") or path.partition("@")[0] in zoo_names() else path


def zoo_names() -> tuple[str, ...]:
    """Return the names of the zoo; loaded late, so that the server starts at once."""
    from mechid.modelfile.zoo import zoo_names as names

    return names()


def studies() -> dict[str, Path]:
    """Return the studies of the library; found without the library, which takes long to load."""
    library = Path(__file__).parent.parent / "studies" / "library"
    return {path.stem: path for path in sorted(library.glob("*.yaml"))}


def _words(names: str) -> dict[str, Kind | None]:
    return dict.fromkeys(names.split(), word)


def _flags(names: str) -> dict[str, Kind | None]:
    return dict.fromkeys(names.split())


_LOGS: dict[str, Kind | None] = {"map": mapping, **_words("period cutoff decimation")}
_MANY = frozenset({"log", "map", "validate", "instruments", "set", "noise", "hardpoints", "weigh"})
_ERRORS = (
    "hardpoints friction viscous_friction stribeck hysteresis load_friction elasticity backlash "
    "delay lowpass crosstalk gain offset drift random_walk hum outliers clipping quantisation "
    "eccentricity position_quantisation jitter units"
)

COMMANDS: Mapping[str, Command] = {
    "excite": Command(
        {"model": model},
        {
            "limits": file, "start": file, "output": new, "table": new, "base": base,
            **_words("rate family harmonics frequency samples fix criterion goal parameters noise "
                     "noise_of cad_error converge_on random starts iterations max_seconds seed "
                     "device"),
            **_flags("rest prior no_prior force"),
        },
        frozenset({"fix", "goal"}),
    ),
    "synthesise": Command(
        {"model": model, "trajectory": file},
        {
            "output": new,
            **_words("noise noise_kind correlation time_constant position_noise cad_error seed "
                     "rate periods stribeck_speed friction_fade hysteresis_width hum_frequency "
                     "outlier_size"),
            **_words(_ERRORS),
            **_flags("positions_only force"),
        },
        frozenset({"noise", "position_noise", *_ERRORS.split()}),
    ),
    "measurement": Command(
        {"model": model, "log": log},
        {
            "map": file, "output": new, **_words("method period cutoff decimation"),
            **_flags("force"),
        },
    ),
    "identify": Command(
        {"model": model, "log": log},
        {
            "output": new, "validate": log, "instruments": log, "truth": file, "base": base,
            **_LOGS,
            **_words("converge_on estimator set prior cad_error noise weigh symmetric reduce size "
                     "rest hardpoints friction standstill seed max_seconds without"),
            **_flags("force details"),
        },
        _MANY,
    ),
    "reduce": Command(
        {"run": run}, {"output": new, **_words("by size rest max_seconds"), **_flags("force")}
    ),
    "validate": Command({"run": run, "log": log}, {**_LOGS, **_flags("add")}, _MANY),
    "payload": Command(
        {"run": run, "log": log},
        {"output": new, **_LOGS, **_words("body known_mass"), **_flags("force")},
        _MANY,
    ),
    "report": Command(
        {"run": run}, {"output": new, **_flags("certify force")}, frozenset({"run"})
    ),
    STUDY: Command(
        {"study": study},
        {"output": new, **_words("workers max_seconds"), **_flags("quick force")},
        words=(STUDY, "run"),
    ),
    "export": Command(
        {"source": source},
        {"output": new, **_words("to measured fmi kind"), **_flags("allow_loss force")},
    ),
    "fill": Command(
        {"model": model, "table": file},
        {"output": new, **_words("largest_move"), **_flags("force")},
    ),
    "import": Command(
        {"file": file},
        {
            "output": new, "loops": file, "root": file,
            **_words("base keyframe density"),
            **_flags("keep_fixed right_angles identify_elements ignore_meshes force"),
        },
    ),
}  # fmt: skip
