"""What the page asks about a model; runs in the worker, whose current folder is the studio's.

A model is the text of the editor, a file, or `zoo:NAME`. A model that was compiled is kept, so that
sliders follow without delay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from mechid.dynamics.compile import dynamic_model
from mechid.errors import KinematicsError, MechidError, ModelError
from mechid.importing.load import load
from mechid.kinematics.branch import singularity_margin
from mechid.kinematics.mobility import check_independent, mobility
from mechid.kinematics.model import KinematicModel, kinematic_model
from mechid.kinematics.motion import Motion, independent_of, solve_motion
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import (
    IndependentCoordinate,
    JointCoordinate,
    Limit,
    Mechanism,
    force_unit,
)
from mechid.modelfile.build import build_document
from mechid.modelfile.document import validate
from mechid.modelfile.include import put_together
from mechid.modelfile.zoo import zoo_names
from mechid.outputs import real_path
from mechid.studio.commands import ZOO
from mechid.studio.refused import RefusedError, words_of
from mechid.tables.quality import limit_notes, model_warnings
from mechid.textfile.yamlio import read, read_file
from mechid.view.page import hosted_page, rounded
from mechid.view.scene import scene as scene_of

Stamps: TypeAlias = tuple[tuple[str, int], ...]
_YAML = (".yaml", ".yml")
_ADDED = re.compile(r"[@+=]")  # FILE@variant, FILE+FILE, LOG=FILE


def check_files(path: str) -> Stamps:
    """Reject a YAML file that names files outside the folder, before a command reads them.

    Returns the files that make up the model with the times of their last change. Files of other
    tools are checked where they are read.
    """
    if path.startswith(ZOO):
        return ()
    file = Path(path if Path(path).is_file() else path.partition("@")[0])
    if file.suffix.lower() not in _YAML or not file.is_file():
        return stamps([file])
    return stamps([file, *included(read_file(file, str(file))[0], file)])


def included(data: dict[str, Any], file: Path, seen: set[Path] | None = None) -> Iterator[Path]:
    """Yield the YAML files that a document names, and those that they name, each once.

    Whatever a text of a document may mean, it must not be the name of a file outside the folder.
    """
    seen = set() if seen is None else seen
    for name in _names(data):
        other = file.parent / name
        try:
            place = real_path(other)
            there = place.is_file() and place not in seen
        except (OSError, ValueError):  # too long, or no name at all
            continue
        if there and not place.is_relative_to(Path.cwd()):
            raise ModelError(
                f"{name} is outside the folder of the studio",
                where=str(file),
                remedy="copy it into the folder",
            )
        if there and place.suffix.lower() in _YAML:
            seen.add(place)
            yield other
            yield from included(read_file(place, str(other))[0], other, seen)


def _names(value: Any) -> Iterator[str]:
    """Yield what may be a name in a document: its texts, without what commands add to names."""
    if isinstance(value, str):
        yield from {value, *_ADDED.split(value)} - {""}
    elif isinstance(value, list | dict):
        for entry in value.values() if isinstance(value, dict) else value:
            yield from _names(entry)


def stamps(files: Iterable[Path]) -> Stamps:
    """Return files with the times of their last change, in ns."""
    return tuple((str(p), p.stat().st_mtime_ns) for p in files if p.is_file())


UNNAMED = "model.yaml"  # what messages call a text without a file
_SWEEP = 60  # poses on each side of the home pose
_HALVINGS = 12  # of the way to a pose that cannot be reached
_SPAN = 0.5  # of the size: how far a length without limits is swept


def check(text: str | None = None, path: str | None = None) -> dict[str, Any]:
    """Return what is wrong with a model, and what it has.

    Parameters
    ----------
    text : str, optional
        Of the editor; `path` then says where included files are sought.
    path : str, optional
        File relative to the folder, or `zoo:NAME`.
    """
    try:
        model = model_of(text, path)
        counted = mobility(model.mechanism)
        check_independent(model.mechanism, counted)
        dynamics = dynamic_model(model.mechanism)
    except RefusedError:
        raise
    except MechidError as error:
        return {"ok": False, "errors": [words_of(error, path or UNNAMED)], "warnings": [],
                "summary": None}  # fmt: skip
    mechanism = model.mechanism
    massless = {b.name for b in mechanism.bodies if b.massless}
    return {
        "ok": True,
        "errors": [],
        "warnings": model_warnings(model, counted),
        "summary": {
            "name": mechanism.name,
            "title": mechanism.title,
            "bodies": [
                {"name": b.name, "mass": None if b.inertia is None else b.inertia.mass}
                for b in mechanism.bodies
            ],
            "joints": [{"name": j.name, "type": j.type} for j in mechanism.joints],
            "mobility": counted.dof,
            "passive": list(counted.passive),
            "redundant": list(counted.redundant),
            "size": model.size,
            "margin": _margin(model, model.home_q),
            "coordinates": [_coordinate(model, i, c) for i, c in enumerate(mechanism.coordinates)],
            "parameters": sum(c.owner not in massless for c in dynamics.columns),
        },
    }


def scene(text: str | None = None, path: str | None = None) -> dict[str, Any]:
    """Return what the viewer draws: the mechanism in its home pose."""
    found: dict[str, Any] = rounded(scene_of(model_of(text, path).mechanism))
    return found


def viewer(base: str) -> str:
    """Return the page of the viewer, whose files are below the address `base`."""
    return hosted_page(base)


def pose(
    coordinates: dict[str, float],
    text: str | None = None,
    path: str | None = None,
    start: list[float] | None = None,
) -> dict[str, Any]:
    """Return the pose with these independent coordinates; if there is none, the nearest on the way.

    Parameters
    ----------
    coordinates : dict
        Values by name, m or rad; others are as in the home pose.
    text, path : str, optional
        The model.
    start : list of float, optional
        `q` of the pose before: the branch to stay on.
    """
    model = model_of(text, path)
    names = [c.name for c in model.mechanism.coordinates]
    if unknown := [name for name in coordinates if name not in names]:
        raise ModelError(
            f"there is no coordinate {unknown[0]}", remedy=f"choose one of: {', '.join(names)}"
        )
    home = dict(zip(names, model.home_y.tolist(), strict=True))
    wanted = np.array([float(coordinates.get(name, home[name])) for name in names])
    q = None if start is None else np.array(start, dtype=float)
    try:
        motion, trouble = solve_motion(model, wanted[None], start=q), None
    except KinematicsError as error:
        motion, trouble = _towards(model, wanted, q), error
    return {
        "reached": trouble is None,
        "trouble": None if trouble is None else words_of(trouble),
        "coordinates": dict(zip(names, motion.y[-1].tolist(), strict=True)),
        "poses": rounded(scene_of(model.mechanism, motion)["motion"]["poses"][-1]),
        "margin": _margin(model, motion.q[-1]),
        "limits": [note.partition(" (at")[0] for note in limit_notes(motion)],
        "q": motion.q[-1].tolist(),
    }


def sweep(text: str | None = None, path: str | None = None) -> dict[str, Any]:
    """Return how far each coordinate goes by itself from the home pose, and what is on the way.

    Values are m or rad; `margin` is the distance from singular poses; `stopped` says why the
    motion ends at a side, if it does not reach the end of the range.
    """
    model = model_of(text, path)
    found = []
    for i, c in enumerate(model.mechanism.coordinates):
        low, high = _range(model, i, c)
        down, below = _side(model, i, low)
        up, above = _side(model, i, high)
        motions = [down, up]
        found.append(
            {
                "name": c.name,
                "low": low,
                "high": high,
                "values": [*down.y[::-1, i].tolist(), *up.y[1:, i].tolist()],
                "margin": [
                    *singularity_margin(model, down.q)[::-1].tolist(),
                    *singularity_margin(model, up.q)[1:].tolist(),
                ],
                "stopped": {"low": below, "high": above},
                "limits": [n.partition(" (at")[0] for m in motions for n in limit_notes(m)],
            }
        )
    return {"coordinates": rounded(found)}


def model_of(text: str | None, path: str | None) -> KinematicModel:
    """Return the compiled model of a text, a file or the zoo."""
    if path is not None and path.startswith(ZOO):
        name = path.removeprefix(ZOO)
        if name.partition("@")[0] not in zoo_names():
            raise RefusedError(404, f"the zoo has no mechanism {name.partition('@')[0][:60]}")
        if text is None:
            return _loaded(name, ())
    if text is None and path is not None:
        return _loaded(path, check_files(path))
    if text is None:
        raise RefusedError(422, "text or path is missing")
    at = UNNAMED if path is None or path.startswith(ZOO) else path
    return _written(text, at, stamps(included(read(text, at)[0], Path(at))))


@lru_cache(maxsize=8)
def _loaded(spec: str, files: Stamps) -> KinematicModel:
    return kinematic_model(load(spec))


@lru_cache(maxsize=8)
def _written(text: str, path: str, files: Stamps) -> KinematicModel:
    data, source = read(text, path)
    whole = put_together(data, source, (), (Path(path),))
    with source.locating():
        return kinematic_model(build_document(validate(whole)))


def _coordinate(model: KinematicModel, i: int, c: IndependentCoordinate) -> dict[str, Any]:
    limit = _limit(model.mechanism, c)
    low, high = _range(model, i, c)
    return {
        "name": c.name,
        "unit": c.unit,
        "home": float(model.home_y[i]),
        "low": limit.lower,
        "high": limit.upper,
        "from": low,
        "to": high,
        "held": c.held,
        "force": c.force,
        "force_unit": force_unit(c),
    }


def _limit(mechanism: Mechanism, c: IndependentCoordinate) -> Limit:
    if isinstance(c, JointCoordinate):
        limits = mechanism.joint(c.joint).limits
        return limits[c.index] if c.index < len(limits) else Limit()
    return Limit()


def _range(model: KinematicModel, i: int, c: IndependentCoordinate) -> tuple[float, float]:
    """Return the range of a slider: the limits, else half a turn or a part of the size."""
    home, limit = float(model.home_y[i]), _limit(model.mechanism, c)
    span = _SPAN * model.size if c.unit == "m" else float(np.pi)
    low = home - span if limit.lower is None else min(limit.lower, home)
    high = home + span if limit.upper is None else max(limit.upper, home)
    return low, high


def _margin(model: KinematicModel, q: Floats) -> float:
    return float(singularity_margin(model, q[None])[0])


def _towards(model: KinematicModel, wanted: Floats, q: Floats | None) -> Motion:
    """Return the last pose on the straight way to a pose that cannot be reached."""
    at = model.home_y if q is None else independent_of(model, q)
    near, far = 0.0, 1.0
    best = solve_motion(model, at[None], start=q)
    for _ in range(_HALVINGS):
        part = (near + far) / 2
        try:
            best = solve_motion(model, (at + part * (wanted - at))[None], start=q)
        except KinematicsError:
            far = part
        else:
            near = part
    return best


def _side(model: KinematicModel, i: int, end: float) -> tuple[Motion, str | None]:
    """Return the motion of one coordinate from the home pose to an end, as far as it goes."""
    y = np.repeat(model.home_y[None], _SWEEP + 1, axis=0)
    y[:, i] = np.linspace(model.home_y[i], end, _SWEEP + 1)
    try:
        return solve_motion(model, y), None
    except KinematicsError as error:
        return solve_motion(model, y[: max(error.sample or 0, 1)]), error.what
