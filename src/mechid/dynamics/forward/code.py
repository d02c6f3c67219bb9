"""Generated code for the reduced equations of motion of one mechanism (see `mechid.tape`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechid.dynamics.compile import DynamicModel
from mechid.dynamics.kernels import equations
from mechid.dynamics.kernels.stages import Code
from mechid.dynamics.observation_code import BRANCHING
from mechid.kinematics.engine.record import RecordedKernels, RecordedPose, largest, numbers
from mechid.tape.functions import Functions, aligned, compiled
from mechid.tape.number import NOT_RECORDED
from mechid.tape.plain import plain_tables
from mechid.tape.program import Program, Slots, Tape


@dataclass(frozen=True)
class ForwardCode:
    """Compiled programs, and where their inputs and outputs stand (fields of `Code`)."""

    functions: Functions
    slots: dict[str, int]
    n_slots: int

    def code(self) -> Code:
        """Return the code with a memory of its own."""
        at = self.functions.addresses
        return Code(
            correct=at.get("correct", 0),
            finish=at["finish"],
            state=aligned(self.n_slots),
            memory=aligned(max(1, self.functions.memory)),
            **self.slots,
        )


def forward_code(model: DynamicModel) -> ForwardCode | None:
    """Return code for the equations of motion, or None where the kernels cannot be recorded."""
    try:
        return _recorded(model)
    except NOT_RECORDED:
        return None


def _recorded(model: DynamicModel) -> ForwardCode:
    k, slots = model.kinematics, Slots()
    n, n_v, n_q, p = k.n_independent, k.compiled.n_v, k.compiled.n_q, len(model.columns)
    sizes = {
        "q": n_q,
        "y": n,
        "yd": n,
        "phi": p,
        "q_next": n_q,
        "step": 1,
        "R": n * n_v,
        "v": n_v,
        "bias": n_v,
        "M": n * n,
        "h": n,
        "numbers": 6,
        "guards": 2,
    }
    where = {name: slots.take(size) for name, size in sizes.items()}
    programs = {"finish": _finish(model, where, slots)}
    correct = _correct(model, where)
    if correct is not None:
        programs["correct"] = correct
    first = {name: int(s[0]) if s.size else 0 for name, s in where.items()}
    first["n_determinants"] = where["determinants"].size
    return ForwardCode(compiled(programs, 1), first, slots.count)


def _begin(model: DynamicModel, where: dict[str, np.ndarray]) -> tuple[Tape, RecordedPose]:
    k, tape = model.kinematics, Tape()
    run = RecordedKernels(tape.recorder, (*BRANCHING, equations.law_potential))
    q, y = tape.input(where["q"], k.home_q), tape.input(where["y"], k.home_y)
    return tape, RecordedPose.record(k, run, q, y)


def _correct(model: DynamicModel, where: dict[str, np.ndarray]) -> Program | None:
    """One step of Newton's method; None where there is nothing to close."""
    tape, pose = _begin(model, where)
    if not pose.rows:
        return None
    step = pose.closing_step()
    tape.output(where["q_next"], pose.advanced(step))
    tape.output(where["step"], [pose.size(step)])
    return tape.program()


def _finish(model: DynamicModel, where: dict[str, np.ndarray], slots: Slots) -> Program:
    """The equations at a closed pose; the slots of its determinants are entered."""
    tape, pose = _begin(model, where)
    t, d, run, work = pose.t, plain_tables(model.tables), pose.run, pose.work
    n = model.kinematics.n_independent
    yd = tape.input(where["yd"], np.random.default_rng(0).uniform(0.5, 1.5, n))
    phi = tape.input(where["phi"], np.ones(where["phi"].size))
    R = pose.admissible()
    v, _, bias = pose.rates(R, yd, numbers(n))
    room = run(equations.make_room, t, d, n)
    room = type(room)(*(x.astype(object) for x in room))._replace(R=R)
    M, h = numbers(n, n), numbers(n)
    run(
        equations._assemble,
        t, d, d.reach_start, d.reach, phi, pose.q, v, bias, work, room, M, h,
    )  # fmt: skip
    kinetic, potential, dissipated, supplied = run(
        equations.energies, d, phi, work.rotation, work.vectors, room.values
    )
    closure = [r for r in pose.rows if t.rows[r].driver < 0]
    gap = largest(pose.gaps[closure], [t.rows[r].scale for r in closure])
    found = numbers(6)
    found[equations.KINETIC], found[equations.POTENTIAL] = kinetic, potential
    found[equations.DISSIPATED], found[equations.POWER] = dissipated, supplied
    found[equations.GAP] = gap
    for name, values in {
        "q_next": pose.q,
        "R": R,
        "v": v,
        "bias": bias,
        "M": M,
        "h": h,
        "numbers": found,
        "guards": np.array([pose.ratio, pose.size(pose.closing_step())], dtype=object),
    }.items():
        tape.output(where[name], values)
    where["determinants"], where["before"] = slots.take(2, len(pose.determinants))
    tape.output(where["determinants"], pose.determinants)
    return tape.program()
