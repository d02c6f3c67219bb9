"""The kinds of files: seeds of each, and what mechid does with a file of the kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import mechid
from mechid.modelfile.zoo import zoo_path
from mechid.studies.study import library_folder
from mechid.tables.files import read_columns

from . import fixtures, forms, page
from .fixtures import SEEDS
from .forms import Seed, seed_of

_STUDIES = ("base-sets", "designed-motions", "excitation", "friction", "mobility")
_ZOO = ("pendulum", "four_bar", "five_bar", "slider_crank", "rssr_linkage", "screw_press")


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of file.

    Attributes
    ----------
    seeds : callable
        Valid files, made in a folder that only they use.
    read : callable
        Reads a file as the commands do; refusals are `MechidError`.
    command : callable, optional
        Words of a command that reads the file, if there is one.
    """

    seeds: Callable[[Path], list[Seed]]
    read: Callable[[Path, Random], None]
    command: Callable[[Path], list[str]] | None
    inside: bool = False  # the file is one of a folder, which is read whole


class Shares:
    """Which shares of the cases go further than reading."""

    deep: float  # of accepted files: on to results
    commands: float  # of all files: through the command line

    @classmethod
    def choose(cls, thorough: bool) -> None:
        """Set the usual shares, or larger ones."""
        cls.deep, cls.commands = (1.0, 0.1) if thorough else (0.05, 0.01)


def _deep(rng: Random, times: float = 1.0) -> bool:
    return rng.random() < times * Shares.deep


@cache
def _mechanism() -> Any:
    return mechid.load(fixtures.MODEL)


def _files(form: str, *names: str) -> Callable[[Path], list[Seed]]:
    return lambda _: [seed_of(SEEDS / name, form) for name in names]


# -------------------------------------------------------------------------------- models


def _model_seeds(_: Path) -> list[Seed]:
    own = [seed_of(SEEDS / f"{name}.yaml", "yaml") for name in ("everything", "table")]
    zoo = [seed_of(zoo_path(name), "yaml") for name in _ZOO]
    return [*own * 4, *zoo]


def _read_model(path: Path, rng: Random) -> None:
    _assembled(mechid.load(path), rng)


def _assembled(mechanism: Any, rng: Random) -> None:
    share = rng.random()
    if share >= 4 * Shares.deep:  # assembling takes longer than all that comes before
        return
    model = mechid.kinematic_model(mechanism)
    if share >= Shares.deep:
        return
    y = model.home_y[None]
    mechid.dumps(mechanism)
    mechid.mobility(mechanism)
    motion = mechid.solve_motion(model, y, 0 * y, 0 * y)
    mechid.inverse_dynamics(motion, reactions=rng.random() < 0.5)


def _check(path: Path) -> list[str]:
    return ["check", str(path), "--json"]


def _mesh_seeds(folder: Path) -> list[Seed]:
    import trimesh

    solid: Any = trimesh.load_mesh(SEEDS / "part.stl")
    texts = _files("text", "part.stl", "part.obj")(folder)
    return [*texts, Seed("part.stl", solid.export(file_type="stl"), "binary")]


def _read_mesh(path: Path, rng: Random) -> None:
    robot = path.with_name("robot.xml")
    text = (SEEDS / "mesh.xml").read_text("utf-8")
    robot.write_text(text.replace("part.stl", path.name), "utf-8")
    mechid.load(robot)


def _mesh_command(path: Path) -> list[str]:
    return ["check", str(path.with_name("robot.xml"))]


def _read_loops(path: Path, rng: Random) -> None:
    _assembled(mechid.import_model(SEEDS / "open.urdf", loops=path).mechanism, rng)


def _loops_command(path: Path) -> list[str]:
    return ["import", str(SEEDS / "open.urdf"), "--loops", str(path)]


def _csv_table(folder: Path) -> list[Seed]:
    return [seed_of(_template(folder, "four-bar").with_name("hardpoints.csv"), "text")]


def _xlsx_table(folder: Path) -> list[Seed]:
    path = _template(folder, "four-bar").with_name("hardpoints.xlsx")
    return [Seed(path.name, forms.zipped(seed_of(path, "zip").tree), "zip")]


@cache
def _template(folder: Path, name: str) -> Path:
    return mechid.template(name, folder / name)[0]


def _read_table(path: Path, rng: Random) -> None:
    from mechid.importing.hardpoint_table import read_hardpoints

    read_hardpoints(path)
    if _deep(rng):
        mechid.fill(_template(path.parent.parent, "four-bar"), path)


def _fill(path: Path) -> list[str]:
    return ["fill", str(_template(path.parent.parent, "four-bar")), str(path)]


# -------------------------------------------------------------------------------- motions


def _read_trajectory(path: Path, rng: Random) -> None:
    from mechid.excitation.trajectory import sample

    sample(mechid.load_trajectory(path))
    if _deep(rng):
        _read_motion(path, rng)


def _read_motion(path: Path, rng: Random) -> None:
    model = mechid.kinematic_model(_mechanism())
    table = mechid.read_motion_file(path, model.mechanism)
    if _deep(rng):
        motion = mechid.solve_motion(model, table.y, table.yd, table.ydd, time=table.time)
        mechid.inverse_dynamics(motion)


def _kinematics(path: Path) -> list[str]:
    return ["inverse", fixtures.MODEL, str(path), "--json"]


def _read_given_table(path: Path, rng: Random) -> None:
    from mechid.excitation.trajectory import sample

    sample(mechid.load_trajectory(path))


def _read_forces(path: Path, rng: Random) -> None:
    from mechid.cli.simulation import applied_forces
    from mechid.dynamics.loads import INTERPOLATIONS

    found = applied_forces(_mechanism(), path, rng.choice(INTERPOLATIONS), [])
    if _deep(rng):
        mechid.simulate(_mechanism(), np.array([0.0, 0.02]), forces=found.until(0.02))


def _simulate(path: Path) -> list[str]:
    return ["simulate", fixtures.MODEL, "--forces", str(path), "--t-end", "0.02"]


def _read_limits(path: Path, rng: Random) -> None:
    from mechid.cli.excite_options import limits_of

    limits_of(path, _mechanism())


def _excite(path: Path) -> list[str]:
    motion = str(SEEDS / "motion.yaml")
    return ["excite", fixtures.MODEL, "--evaluate", motion, "--limits", str(path)]


# -------------------------------------------------------------------------------- logs


def _log(ending: str, form: str, *writes: Callable[[dict[str, Any]], bytes]) -> Kind:
    def seeds(_: Path) -> list[Seed]:
        columns = fixtures.log_columns()
        return [Seed(f"log.{ending}", write(columns), form, columns, write) for write in writes]

    return Kind(seeds, _read_log, _measurement)


def _csv_seeds(_: Path) -> list[Seed]:
    columns = fixtures.log_columns()
    data = forms.csv_text(columns)
    german = data.decode().replace(",", ";").replace(".", ",").encode()
    units = data.replace(b"\n", b"\ns,rad,rad,N m,N m\n", 1)
    return [
        Seed("log.csv", data, "text", columns, forms.csv_text),
        Seed("log.txt", german, "text"),
        Seed("log.csv", b"# a comment\n" + units, "text"),
        Seed("log.tsv", data.replace(b",", b"\t"), "text"),
        Seed("log.dat", data.decode().encode("utf-16"), "binary"),
    ]


def _motion_seeds(folder: Path) -> list[Seed]:
    columns = fixtures.log_columns()
    columns["q1.d"] = 0 * columns["q1"]
    return [
        Seed("motion.csv", forms.csv_text(columns), "text", columns, forms.csv_text),
        Seed("motion.parquet", forms.parquet(columns), "binary", columns, forms.parquet),
    ]


def _library_log(name: str) -> Kind:
    def seeds(folder: Path) -> list[Seed]:
        if name == "log.mf4":
            fixtures.write_mf4(folder / name)
        else:
            fixtures.write_bags(folder)
        path = next(iter(sorted(folder.rglob(f"*{Path(name).suffix}"))))
        return [Seed(name, path.read_bytes(), "binary")]

    return Kind(seeds, _read_log, _measurement)


def _read_log(path: Path, rng: Random) -> None:
    found = mechid.read_measurement(path, _mechanism())
    if _deep(rng):
        mechid.prepare(found, _mechanism())


def _streamed_seeds(folder: Path) -> list[Seed]:
    motion = mechid.excite(fixtures.MODEL, random=2, starts=0, harmonics=2)
    log = mechid.synthesise(fixtures.MODEL, motion, rate=20.0, noise="2%", cad_error="10%")
    mechid.save_measurement(log, folder / "log.parquet")
    columns = {n: c.to_numpy() for n, c in read_columns(folder / "log.parquet").items()}
    for name in ("q1", "q2"):
        columns[f"{name}.d"] = np.gradient(columns[name], 0.05)
        columns[f"{name}.dd"] = np.gradient(columns[f"{name}.d"], 0.05)
    return [
        Seed("log.csv", forms.csv_text(columns), "text", columns, forms.csv_text),
        Seed("log.parquet", forms.parquet(columns), "binary", columns, forms.parquet),
    ]


def _read_streamed(path: Path, rng: Random) -> None:
    from mechid.tables.blocks import table_blocks, table_names

    names = table_names(path)
    if _deep(rng) or "M1" not in names:
        mechid.identify_streamed(_mechanism(), path)
    for _ in table_blocks(path, names, 50):
        pass


def _identify_streamed(path: Path) -> list[str]:
    return ["identify-streamed", fixtures.MODEL, str(path)]


def _measurement(path: Path) -> list[str]:
    return ["measurement", fixtures.MODEL, str(path), "--json"]


def _bench(path: Path) -> Path:
    log = path.with_name("bench.csv")
    if not log.exists():
        log.write_bytes(forms.csv_text(fixtures.bench_columns()))
    return log


def _read_mapping(path: Path, rng: Random) -> None:
    found = mechid.read_measurement(_bench(path), _mechanism(), path)
    if _deep(rng):
        mechid.prepare(found, _mechanism())


def _mapping_command(path: Path) -> list[str]:
    return ["measurement", fixtures.MODEL, str(_bench(path)), "--map", str(path)]


# -------------------------------------------------------------------------------- results


def _folder_seeds(write: Callable[[Path], None], name: str) -> Callable[[Path], list[Seed]]:
    def seeds(folder: Path) -> list[Seed]:
        write(folder / name)
        found = [x for x in sorted((folder / name).rglob("*")) if x.is_file()]
        ends = {".json": "json", ".yaml": "yaml"}
        return [
            Seed(str(x.relative_to(folder)), x.read_bytes(), ends.get(x.suffix, "binary"))
            for x in found
        ]

    return seeds


def _read_run(path: Path, rng: Random) -> None:
    run = mechid.load_run(path)
    repr(run)
    if _deep(rng):
        mechid.verdict(run)
        if rng.random() < 0.2:
            mechid.write_report(run, path / "page.html")


def _report(path: Path) -> list[str]:
    return ["report", str(path), "--output", str(path / "page.html"), "--force"]


def _read_result(path: Path, rng: Random) -> None:
    found = mechid.load_study_result(path)
    found.status()
    for part in found.parts:
        found.table(part)


def _status(path: Path) -> list[str]:
    return ["study", "status", str(path)]


def _certificate_seeds(folder: Path) -> list[Seed]:
    fixtures.write_certificates(folder)
    return [seed_of(x, "json") for x in sorted(folder.glob("*.json"))]


def _read_certificate(path: Path, rng: Random) -> None:
    from mechid.base.certificate import read_certificate
    from mechid.base.verify import verify

    found = read_certificate(path)
    if _deep(rng, 4.0):
        verify(found)


def _verify(path: Path) -> list[str]:
    return ["verify-certificate", str(path)]


def _read_base_set(path: Path, rng: Random) -> None:
    from mechid.base.rules import rule_of

    rule_of(_mechanism(), str(path))(_null_space())


@cache
def _null_space() -> Any:
    return mechid.null_space(_mechanism())


def _base_set(path: Path) -> list[str]:
    return [
        "identify",
        fixtures.MODEL,
        str(path.with_name("none.csv")),
        "--base",
        str(path),
        "-o",
        "run",
    ]


def _read_jobqueue(path: Path, rng: Random) -> None:
    from mechid.studies.cluster import jobqueue

    jobqueue(path)


def _study_seeds(folder: Path) -> list[Seed]:
    own = _files("yaml", "study.yaml")(folder)
    library = [seed_of(library_folder() / f"{name}.yaml", "yaml") for name in _STUDIES]
    return [*own * len(library), *library]


def _read_study(path: Path, rng: Random) -> None:
    mechid.load_study(path, quick=rng.random() < 0.3)


def _plan(path: Path) -> list[str]:
    return ["study", "plan", str(path), "--seconds", "0"]


def _truth_seeds(folder: Path) -> list[Seed]:
    motion = mechid.excite("pendulum", random=2, starts=0, harmonics=2)
    log = mechid.synthesise("pendulum", motion, rate=20.0, noise="2%", cad_error="10%")
    mechid.save_measurement(log, folder / "log.csv")
    return [seed_of(folder / "log.csv.truth.json", "json")]


def _read_truth(path: Path, rng: Random) -> None:
    from mechid.runs.truth import read_truth

    repr(read_truth(path))


KINDS: dict[str, Kind] = {
    "model": Kind(_model_seeds, _read_model, _check),
    "urdf": Kind(_files("xml", "robot.urdf", "open.urdf"), _read_model, _check),
    "mjcf": Kind(_files("xml", "robot.xml"), _read_model, _check),
    "mesh": Kind(_mesh_seeds, _read_mesh, _mesh_command),
    "loops": Kind(_files("yaml", "loops.yaml"), _read_loops, _loops_command),
    "hardpoints-csv": Kind(_csv_table, _read_table, _fill),
    "hardpoints-xlsx": Kind(_xlsx_table, _read_table, _fill),
    "trajectory": Kind(
        _files("yaml", "trajectory.yaml", "motion.yaml"),
        _read_trajectory,
        _kinematics,
    ),
    "given-table": Kind(_motion_seeds, _read_given_table, _kinematics),
    "forces": Kind(_motion_seeds, _read_forces, _simulate),
    "limits": Kind(_files("yaml", "limits.yaml"), _read_limits, _excite),
    "motion": Kind(_motion_seeds, _read_motion, _kinematics),
    "mapping": Kind(
        _files("yaml", "mapping.yaml", "periodic.yaml"), _read_mapping, _mapping_command
    ),
    "log-csv": Kind(_csv_seeds, _read_log, _measurement),
    "log-parquet": _log("parquet", "binary", forms.parquet),
    "log-mat": _log("mat", "binary", forms.mat, forms.mat73),
    "log-hdf5": _log("h5", "binary", forms.hdf5),
    "log-mf4": _library_log("log.mf4"),
    "log-bag": _library_log("log.bag"),
    "log-db3": _library_log("log.db3"),
    "log-mcap": _library_log("log.mcap"),
    "log-streamed": Kind(_streamed_seeds, _read_streamed, _identify_streamed),
    "base-set": Kind(_files("yaml", "base_set.yaml"), _read_base_set, _base_set),
    "jobqueue": Kind(_files("yaml", "jobqueue.yaml"), _read_jobqueue, None),
    "truth": Kind(_truth_seeds, _read_truth, None),
    "run": Kind(_folder_seeds(fixtures.write_run, "run"), _read_run, _report, inside=True),
    "certificate": Kind(_certificate_seeds, _read_certificate, _verify),
    "study": Kind(_study_seeds, _read_study, _plan),
    "study-result": Kind(
        _folder_seeds(fixtures.write_study, "result"), _read_result, _status, inside=True
    ),
    "request": Kind(page.seeds, lambda path, _: page.send(path), None),
}


def vocabulary(name: str, seeds: Iterable[Seed]) -> tuple[str, ...]:
    """Return words that files of a kind know: those of its seeds and of its schema."""
    from mechid.measurementfile import json_schema as mapping_schema
    from mechid.modelfile import json_schema as model_schema
    from mechid.studies.document import study_schema
    from mechid.trajectoryfile.document import trajectory_schema

    schemas = {
        "model": model_schema,
        "mapping": mapping_schema,
        "study": study_schema,
        "trajectory": trajectory_schema,
    }
    words = {word for seed in seeds for word in seed.words if len(word) < 40}
    if name in schemas:
        words |= set(_keys(schemas[name]()))
    return tuple(sorted(words))


def _keys(schema: Any) -> Iterable[str]:
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        yield from (x for x in schema.get("enum", []) if isinstance(x, str))
        for value in schema.values():
            yield from _keys(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _keys(value)
