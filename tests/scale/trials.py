"""What is tried: long logs, long motions, large mechanisms. Each trial returns plain numbers."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.cases import ladder, path

import mechid
from mechid.mechanism.records import CadInertia, Mechanism
from mechid.tables.quality import closure_residual

RATE = 1000.0  # Hz
NOISE, POSITION_NOISE = 0.02, 2e-5  # of the forces, relative; rad
MODEL = "five_bar"
MOVED = "sla_suspension"


def made_log(file: Path, n: int) -> None:
    """Write a log of n samples at 1 kHz: positions and forces of a periodic motion, with noise."""
    motion = mechid.excite(MODEL, random=4, starts=0, harmonics=3, seed=1)
    clean = mechid.synthesise(MODEL, motion, rate=RATE, cad_error="20%", seed=3).measurement
    size = NOISE * np.sqrt(np.mean(clean.tau**2, axis=0))
    names = ["time", *clean.names, *clean.forces]
    schema = pa.schema([(name, pa.float64()) for name in names])
    rng = np.random.default_rng(0)
    with pq.ParquetWriter(file, schema) as writer:
        for first in range(0, n, 100_000):
            k = np.arange(first, min(first + 100_000, n))
            at = k % len(clean.time)
            y = clean.y[at] + POSITION_NOISE * rng.standard_normal((len(k), clean.y.shape[1]))
            tau = clean.tau[at] + size * rng.standard_normal((len(k), len(size)))
            writer.write_table(pa.table([k / RATE, *y.T, *tau.T], schema=schema))


def streamed(file: Path) -> dict[str, Any]:
    """Identify from blocks of a log."""
    found = mechid.identify_streamed(MODEL, file, cad_error="20%")
    return {
        "samples": found.samples,
        "used": found.used,
        "E_p": max(found.E_p.values()),
        "values": found.estimate.values.tolist(),
        "sigma": found.estimate.sigma.tolist(),
        **_spent(),
    }


def whole(file: Path) -> dict[str, Any]:
    """Identify from a log as usual: default estimator, diagnosis, a run folder."""
    with tempfile.TemporaryDirectory() as name:
        run = mechid.identify(MODEL, file, cad_error="20%", folder=Path(name) / "run")
    assert run.estimate is not None
    return {
        "samples": pq.ParquetFile(file).metadata.num_rows,
        "used": len(run.forces[0].time),
        "E_p": max(
            e.E_p for r in run.validation if r.model == "estimate" for e in r.forces.values()
        ),
        "values": run.estimate.values.tolist(),
        "sigma": run.estimate.sigma.tolist(),
        **_spent(),
    }


def motion(seconds: int) -> dict[str, Any]:
    """Solve a motion at 1 kHz, minute by minute, each from the last pose of the one before."""
    model = mechid.kinematic_model(mechid.load(MOVED))
    start = last = None
    closure, jump = [], []
    for first in range(0, seconds, 60):
        t = first + np.arange(int(RATE * min(60, seconds - first))) / RATE
        own = _swing(model, t)
        solved = mechid.solve_motion(model, *own, time=t, start=start)
        start = solved.q[-1]
        closure.append(float(closure_residual(model, solved.q[::1000]).max()) / model.size)
        q = solved.q if last is None else np.vstack([last, solved.q])
        jump.append(float(np.abs(np.diff(q, n=2, axis=0)).max()))
        last = solved.q[-2:]
    # The last minute again, from the reference pose: a pose must not depend on its history.
    again = mechid.solve_motion(model, *(x[-1000:] for x in own), time=t[-1000:])
    return {
        "seconds": seconds,
        "samples": int(RATE * seconds),
        "closure_first": closure[0],
        "closure_last": closure[-1],
        "closure": max(closure),
        "second_difference_first": jump[0],
        "second_difference": max(jump),
        "history": float(np.abs(again.q - solved.q[-1000:]).max()),
        **_spent(),
    }


def _swing(model: Any, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a swing of every coordinate about the home pose with its rates (`cases.path`)."""
    one = path(model, 2)
    k = np.arange(one.y.shape[1])
    w = 2 * np.pi * (0.7 + 0.3 * (k % 5))
    size = one.yd[0] / w
    s, c = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    return model.home_y + size * s, size * w * c, -size * w * w * s


def simulation(seconds: int) -> dict[str, Any]:
    """Simulate a four-bar that swings freely, with a result every second."""
    model = mechid.load("four_bar")
    found = mechid.simulate(model, np.arange(seconds + 1.0), yd0=np.array([3.0]))
    energy = found.kinetic + found.potential
    off = np.abs(energy - energy[0]) / np.ptp(found.kinetic)
    return {
        "seconds": seconds,
        "steps": found.steps,
        "energy_tenth": float(off[: max(2, len(off) // 10)].max()),
        "energy": float(off.max()),
        "closure": float(found.constraint_error.max()),
        **_spent(),
    }


def large(bodies: int, samples: int = 500) -> dict[str, Any]:
    """Run every step on four-bars in series: n bodies have (n - 1)/2 loops."""
    steps: dict[str, dict[str, float]] = {}

    @contextmanager
    def step(name: str) -> Iterator[None]:
        start = process_time()
        yield
        steps[name] = {"cpu": process_time() - start, "peak_mb": peak_mb()}

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "row.yaml"
        file.write_text(mechid.dumps(row_of_rockers(bodies)), encoding="utf-8")
        with step("load"):
            model = mechid.load(file)
        with step("mobility"):
            free = mechid.mobility(model)
        kinematic = mechid.kinematic_model(model)
        given = path(kinematic, samples, part=0.3)
        with step("kinematics"):
            moved = given.solve(kinematic)
        with step("inverse dynamics"):
            tau = mechid.inverse_dynamics(moved).tau
        with step("observation matrix"):
            seen = mechid.observation_matrix(moved)
        with step("base parameters"):
            base = mechid.base_parameters(model).chosen
        with step("simulate 1 s"):
            run = mechid.simulate(model, np.linspace(0.0, 1.0, 11), yd0=np.array([0.5]))
        columns = {"time": given.time}
        rng = np.random.default_rng(2)
        for k, c in enumerate(model.coordinates):
            columns |= {c.name: given.y[:, k], f"{c.name}.d": given.yd[:, k]}
            size = NOISE * np.sqrt(np.mean(tau[:, k] ** 2))
            columns |= {
                f"{c.name}.dd": given.ydd[:, k],
                c.force: tau[:, k] + size * rng.standard_normal(samples),
            }
        mechid.write_table(folder / "log.csv", columns)
        with step("identify"):
            found = mechid.identify(file, folder / "log.csv", cad_error="20%")
        with step("report"):
            mechid.write_report(found, folder / "report.html")
    # Base parameters alone must give the forces.
    names = [column.name for column in seen.columns]
    W_b = seen.W[..., [names.index(name) for name in base.base]]
    phi = np.array([c.value for c in seen.columns])
    gap = np.abs(W_b @ (base.matrix @ phi) + seen.known - tau).max() / np.abs(tau).max()
    energy = run.kinetic + run.potential
    return {
        "bodies": len(model.bodies),
        "loops": len(model.joints) - len(model.bodies),
        "dof": free.dof,
        "parameters": len(seen.columns),
        "base": len(base.base),
        "base_error": float(gap),
        "energy": float(np.abs(energy - energy[0]).max() / np.ptp(run.kinetic)),
        "closure": float(run.constraint_error.max()),
        "steps": steps,
    }


def row_of_rockers(bodies: int) -> Mechanism:
    """Return `cases.ladder` with slender bars of about 1 kg, hanging from the ground."""
    bare = ladder((bodies - 1) // 2)
    rng = np.random.default_rng(1)

    def inertia(rocker: bool) -> CadInertia:
        length, m = 0.5 if rocker else 1.0, float(rng.uniform(0.8, 1.2))
        long, thin = m * length**2 / 12, m * length**2 / 1200
        if rocker:
            return CadInertia(m, (0.0, length / 2, 0.0), (long, 0.0, 0.0, thin, 0.0, long))
        return CadInertia(m, (length / 2, 0.0, 0.0), (thin, 0.0, 0.0, long, 0.0, long))

    parts = tuple(replace(b, inertia=inertia(b.name.startswith("rocker"))) for b in bare.bodies)
    return replace(bare, bodies=parts, gravity=(0.0, 9.81, 0.0))


def _spent() -> dict[str, float]:
    return {"cpu": process_time(), "peak_mb": peak_mb()}


def peak_mb() -> float:
    """Return the largest resident memory of this process so far, MB (Linux; else NaN)."""
    status = Path("/proc/self/status")
    if not status.exists():
        return float("nan")
    (line,) = [x for x in status.read_text("utf-8").splitlines() if x.startswith("VmHWM")]
    return int(line.split()[1]) * 1024 / 1e6
