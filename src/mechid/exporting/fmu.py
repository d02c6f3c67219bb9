"""Functional mock-up units: the simulation or the inverse dynamics of a mechanism, as C."""

from __future__ import annotations

import hashlib
import io
import os
import platform
import shlex
import shutil
import subprocess
import tempfile
import uuid
import zipfile
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from mechid.dynamics.compile import DynamicModel, dynamic_model
from mechid.dynamics.forward.engine import Engine
from mechid.dynamics.forward.independent import Independent
from mechid.dynamics.parameters import parameter_values
from mechid.dynamics.simulate import initial_state
from mechid.dynamics.timed_loads import timed_loads
from mechid.errors import DataError
from mechid.exporting.code import identifier
from mechid.exporting.content import Content, Exported, check_whole, states_alone
from mechid.exporting.mechanism_c import mechanism_c
from mechid.exporting.model_description import (
    Description,
    Variable,
    build_description,
    description_fmi2,
    description_fmi3,
)
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import force_unit

VERSIONS = ("2", "3")
KINDS = ("simulation", "inverse")
TOLERANCE = 1e-6  # relative, of the integrator, unless the importing tool gives one
_ORDERS = (("", "", "coordinate"), (".d", "/s", "speed of"), (".dd", "/s²", "acceleration of"))
_NEVER = (1980, 1, 1, 0, 0, 0)
# What the C compiler is told: no optimisation that takes long on functions without loops.
_FLAGS = ("-std=c99", "-O1", "-fPIC", "-shared", "-fvisibility=hidden")
_HEADERS = {
    "2": ("fmi2Functions.h", "fmi2FunctionTypes.h", "fmi2TypesPlatform.h"),
    "3": ("fmi3Functions.h", "fmi3FunctionTypes.h", "fmi3PlatformTypes.h"),
}
# Names of this platform in FMI 2.0 and 3.0, and the suffix of its libraries.
_PLATFORMS = {
    ("Linux", "x86_64"): ("linux64", "x86_64-linux", ".so"),
    # FMI 2.0 names no processors; importers look for the number of bits of their own.
    ("Linux", "aarch64"): ("linux64", "aarch64-linux", ".so"),
    ("Darwin", "x86_64"): ("darwin64", "x86_64-darwin", ".dylib"),
    ("Darwin", "arm64"): ("darwin64", "aarch64-darwin", ".dylib"),
}


def fmu(
    content: Content, allow_loss: bool = False, *, fmi: str = "2", kind: str = "simulation"
) -> Exported:
    """Return an FMU with its sources and, where there is a C compiler, the binary for this machine.

    Parameters
    ----------
    content : Content
    allow_loss : bool
        Hysteresis becomes friction of the speed; loads over time become inputs.
    fmi : "2" or "3"
        FMI 2.0 or 3.0.
    kind : "simulation" or "inverse"
        From forces to motion (model exchange and co-simulation), or from motion to forces.

    Raises
    ------
    DataError, ModelError
    """
    for name, value, choices in (("fmi", str(fmi), VERSIONS), ("kind", kind, KINDS)):
        if value not in choices:
            raise DataError(
                f"{name} must be one of {', '.join(choices)}, got {value}",
                remedy=f"choose one of: {', '.join(choices)}",
            )
    lost = states_alone(content.mechanism)
    check_whole(content, "an FMU", lost, allow_loss)
    version, inverse = str(fmi), kind == "inverse"
    name = content.mechanism.name
    model, loads, phi, start = _model(content)
    word = identifier(name)
    sources = _sources(version)
    nominal = _nominal(model)
    sources["mechanism.h"] = mechanism_c(
        model, start, phi, nominal, inverse=inverse, tolerance=TOLERANCE, prefix=word
    )
    token = _token(sources)
    sources["mechanism.h"] = f'#define TOKEN "{token}"\n{sources["mechanism.h"]}'
    does = "forces of a motion" if inverse else "motion under forces"
    description = Description(
        name=name,
        identifier=word,
        token=token,
        about=f"{name}, {does}: {content.origin}",
        variables=_variables(model, start, phi, nominal, loads, inverse, _sigma(content)),
        tolerance=TOLERANCE,
    )
    found = _described(description, version)
    found |= {f"sources/{file}": text.encode() for file, text in sorted(sources.items())}
    binary, notes = _compiled(sources, word, version)
    if loads.size:
        names = ", ".join(model.columns[i].name for i in loads)
        notes = (*notes, f"loads over time are inputs: {names}")
    return Exported("fmu", _archive({**found, **binary}), notes, lost)


Start: TypeAlias = tuple[Floats, Floats, Floats]  # y, ẏ and the closed pose q


def _model(content: Content) -> tuple[DynamicModel, np.ndarray, Floats, Start]:
    """Return the model, which of its parameters are loads over time, all parameters, the start."""
    model = dynamic_model(content.mechanism)
    phi = parameter_values(model)
    q, v = initial_state(model, None, None)
    y, yd = np.split(Independent(Engine(model, phi)).start(q, v), 2)
    timed = timed_loads(content.mechanism)
    if timed is None:
        return model, np.zeros(0, dtype=int), phi, (y, yd, q)
    phi = timed.parameters(phi)
    phi[timed.places] = timed.at(np.zeros(1))[0]
    return timed.model, timed.places, phi, (y, yd, q)


def _sigma(content: Content) -> dict[str, float]:
    """Return the standard deviations of the parameters by name, as far as they are known."""
    names = (column.name for column in dynamic_model(content.mechanism).columns)
    return dict(zip(names, content.sigma, strict=False))


def _nominal(model: DynamicModel) -> Floats:
    """Return the sizes of the coordinates that are not held: a radian, or that of the mechanism."""
    free = [c for c in model.mechanism.coordinates if not c.held]
    return np.array([model.kinematics.size if c.unit == "m" else 1.0 for c in free])


def _variables(
    model: DynamicModel,
    start: Start,
    phi: Floats,
    nominal: Floats,
    loads: np.ndarray,
    inverse: bool,
    sigma: Mapping[str, float],
) -> list[Variable]:
    """Return all variables in the order of their value references (see fmi/instance.c)."""
    coordinates = model.mechanism.coordinates
    free = [i for i, c in enumerate(coordinates) if not c.held]
    held = [i for i, c in enumerate(coordinates) if c.held]
    rows: list[dict[str, Any]] = [
        {"name": "time", "unit": "s", "description": "time", "causality": "independent"}
    ]
    for order, (suffix, per, word) in enumerate(_ORDERS):
        for i, size in zip(free, nominal.tolist(), strict=True):
            c = coordinates[i]
            unit = c.unit or "rad"
            row: dict[str, Any] = {
                "name": f"{c.name}{suffix}",
                "unit": f"{unit}{per}",
                "description": f"{word} {c.name}",
                "causality": "input" if inverse else "output",
            }
            if inverse or order < 2:
                row["start"] = float((*start[:2], np.zeros(len(coordinates)))[order][i])
            if not inverse and order:
                row["derivative_of"] = f"{c.name}{_ORDERS[order - 1][0]}"
            if not inverse and order < 2:
                row["nominal"] = size
            rows.append(row)
    forces = [
        {
            "name": c.force,
            "unit": force_unit(c),
            "description": f"force on {c.name}",
            "causality": "output" if inverse or c.held else "input",
            **({} if inverse or c.held else {"start": 0.0}),
        }
        for c in (coordinates[i] for i in (*free, *held))
    ]
    rows += forces[: len(free)]
    for i, (column, value) in enumerate(zip(model.columns, phi.tolist(), strict=True)):
        spread = sigma.get(column.name)
        told = f", standard deviation {spread:.4g} {column.unit}" if spread else ""
        rows.append(
            {
                "name": column.name,
                "unit": column.unit,
                "description": f"{column.name.partition('_')[0]} of {column.owner}{told}",
                "causality": "input" if i in loads else "parameter",
                "start": value,
            }
        )
    rows += forces[len(free) :]
    if not inverse:
        for word in ("kinetic", "potential"):
            rows.append(
                {
                    "name": f"{word}_energy",
                    "unit": "J",
                    "description": f"{word} energy",
                    "causality": "output",
                }
            )
    return [Variable(**row, reference=i) for i, row in enumerate(_distinct(rows))]


def _distinct(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the variables with names that differ: a parameter may be called like a coordinate."""
    seen: dict[str, int] = {}
    for row in rows:
        name = row["name"]
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            row["name"] = f"{name}#{seen[name]}"
    return rows


def _described(d: Description, version: str) -> dict[str, bytes]:
    entry = [f"fmi{version}.c"]
    if version == "2":
        return {"modelDescription.xml": description_fmi2(d, entry)}
    return {
        "modelDescription.xml": description_fmi3(d),
        "sources/buildDescription.xml": build_description(d.identifier, entry),
    }


def _sources(version: str) -> dict[str, str]:
    folder = files("mechid.exporting") / "fmi"
    names = ("solver.c", "instance.c", f"fmi{version}.c", *_HEADERS[version])
    return {name: (folder / name).read_text(encoding="utf-8") for name in names}


def _token(sources: Mapping[str, str]) -> str:
    """Return an identifier of these sources."""
    text = "".join(f"{name}\n{text}" for name, text in sorted(sources.items()))
    return f"{{{uuid.UUID(bytes=hashlib.sha256(text.encode()).digest()[:16])}}}"


def _compiled(
    sources: Mapping[str, str], name: str, version: str
) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """Return the binary for this machine, or why there is none; CC and CFLAGS are respected."""
    compiler = shutil.which(os.environ.get("CC", "cc")) or shutil.which("gcc")
    here = _PLATFORMS.get((platform.system(), platform.machine()))
    if compiler is None or here is None:
        lacking = "no C compiler was found" if here else "no binary is built on this platform"
        return {}, (f"{lacking}: the FMU has sources only; `fmpy compile FILE` compiles them",)
    folder, suffix = here[int(version) - 2], here[2]
    with tempfile.TemporaryDirectory() as place:
        for file, text in sources.items():
            (Path(place) / file).write_text(text, encoding="utf-8")
        library = f"{name}{suffix}"
        command = [compiler, *_FLAGS, f"-DFMI{version}_OVERRIDE_FUNCTION_PREFIX"]
        command += [
            *shlex.split(os.environ.get("CFLAGS", "")),
            "-o",
            library,
            f"fmi{version}.c",
            "-lm",
        ]
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
        if done.returncode:
            said = next((x for x in done.stderr.splitlines() if "error" in x), "no reason given")
            return {}, (f"the C compiler failed ({said}): the FMU has sources only",)
        return {f"binaries/{folder}/{library}": (Path(place) / library).read_bytes()}, ()


def _archive(found: Mapping[str, bytes]) -> bytes:
    """Return a ZIP archive without times."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in found.items():
            entry = zipfile.ZipInfo(name, _NEVER)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return out.getvalue()
