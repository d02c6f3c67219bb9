"""A path by generated code: what the lanes of it are, and the code for a model."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mechid.kinematics.engine.stages import Layout, Stages
from mechid.kinematics.kernels.lanes import Code, Slots, follow_lanes
from mechid.kinematics.tables import Floats, Ints
from mechid.kinematics.threads import spread
from mechid.tape.functions import Functions, aligned, compiled, new_state
from mechid.tape.rows import NAME as WRITER
from mechid.tape.rows import Constants, Rows

# Samples that are worth a thread.
_SHORTEST_PART = 1000


@dataclass(frozen=True)
class PathCode:
    """Generated code that follows paths of one mechanism, and where it leaves its results."""

    functions: Functions
    code: Code
    slots: Slots
    rows: tuple[Rows, ...]  # of q and of two arrays of results
    constants: Floats
    # states with their memory that no thread uses now
    idle: list[tuple[Floats, Floats]] = field(default_factory=list, repr=False)

    @property
    def lanes(self) -> int:
        """How many chunks are followed side by side."""
        return self.code.lanes

    @staticmethod
    def compile(stages: Stages, lanes: int | None = None) -> PathCode:
        """Generate code for recorded stages, or take it from disk."""
        programs = {"predict": stages.predict, "finish": stages.finish}
        if stages.correct is not None:
            programs["correct"] = stages.correct
        functions = compiled(programs, lanes)
        at = functions.addresses
        code = Code(at["predict"], at.get("correct", 0), at["finish"], at[WRITER], functions.lanes)
        layout = stages.layout
        q, constants = layout.trail.q, Constants(layout.count)
        rows = [constants.rows(q, np.zeros(q.shape), code.lanes)]
        rows += [constants.rows(x.slots, x.constants, code.lanes) for x in layout.results]
        return PathCode(functions, code, _slots(layout), tuple(rows), constants.values)

    def follow(
        self,
        starts: Ints,
        inputs: tuple[Floats, Floats, Floats, Floats],
        y_starts: Floats,
        q_starts: Floats,
        outputs: tuple[Floats, Floats, Floats],
        ends: Floats | None = None,
        steps: int = 0,
    ) -> Ints:
        """Follow chunks starts[i] … starts[i + 1] - 1 of a path, each from a closed pose.

        If that is far away, the first sample is reached in some equal steps.

        Inputs are y, ẏ, ÿ and the time to the next sample; outputs q and two arrays of results
        with a row per sample, written whole. Returns how many samples of each chunk were done.
        `ends` (chunks, n_q) is filled with the poses to which chunks lead at the first sample of
        the next one; the others stay as they are.
        """
        lanes, n = self.code.lanes, starts.size - 1
        ends = np.empty((0, 0)) if ends is None else ends
        done = np.zeros(n, dtype=np.int64)

        def run(first: int, last: int) -> None:
            state, memory = self._state()
            follow_lanes(
                self.code,
                self.slots,
                *self.rows,
                first,
                last,
                starts,
                *inputs,
                steps,
                y_starts,
                q_starts,
                *outputs,
                ends,
                done,
                state,
                memory,
            )
            self.idle.append((state, memory))

        bundles = -(-n // lanes)
        samples = int(starts[-1] - starts[0])
        spread(run, bundles, max(1, _SHORTEST_PART * bundles // max(1, samples)))
        return done

    def _state(self) -> tuple[Floats, Floats]:
        """Return a state and its memory, used before or new; `begin` clears all but constants."""
        try:
            return self.idle.pop()
        except IndexError:
            state = new_state(self.slots.constants, self.lanes, self.constants)
            return state, aligned(self.functions.memory)


def _slots(layout: Layout) -> Slots:
    def first(slots: np.ndarray) -> int:
        return int(slots.ravel()[0]) if slots.size else 0

    trail = layout.trail
    return Slots(
        y=first(layout.y),
        yd=first(layout.yd),
        ydd=first(layout.ydd),
        y_before=first(layout.y_before),
        half=first(layout.half),
        q=first(trail.q),
        n_known=first(trail.n_known),
        step=first(layout.step),
        fine=first(layout.fine),
        determinants=first(layout.determinants),
        at_start=first(layout.determinants_at_start),
        n_determinants=layout.determinants.size,
        constants=layout.count,
    )
