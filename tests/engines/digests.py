"""Checksums of all bits of the results of each step: `python -m tests.engines.digests MODEL`."""

from __future__ import annotations

import hashlib
import json
import sys
from typing import Any

import numpy as np

import mechid
from mechid.dynamics.compile import dynamic_model
from mechid.excitation.trajectory import sample

SAMPLES = 6000  # enough for several threads to share them


def digest(*values: Any) -> str:
    """Checksum of arrays, numbers and texts."""
    found = hashlib.sha256()
    for value in values:
        array = np.asarray(value)
        plain = array.dtype.kind in "biufc"
        found.update(np.ascontiguousarray(array).tobytes() if plain else repr(value).encode())
    return found.hexdigest()[:16]


def digests(spec: str) -> dict[str, str]:
    """Return a checksum per step of the method."""
    model = mechid.load(spec)
    found = {}
    best = mechid.excite(model, random=4, starts=1, iterations=3, seed=1)
    found["excite"] = digest(best.trajectory.coefficients, *best.criteria.values())
    plain = mechid.excite(model, random=1, starts=0, seed=1)  # no choice that hangs on rounding
    times = np.linspace(0, plain.trajectory.duration, SAMPLES)
    s = sample(plain.trajectory, times=times)
    motion = mechid.solve_motion(model, s.y, s.yd, s.ydd, time=times)
    found["kinematics"] = digest(motion.q, motion.v, motion.vd, motion.bodies().acceleration)
    found["W"] = digest(mechid.observation_matrix(motion, dynamic_model(model)).W)
    inverse = mechid.inverse_dynamics(motion, reactions=True)
    assert inverse.reactions is not None
    found["inverse dynamics"] = digest(inverse.tau, inverse.reactions.force)
    base = mechid.base_parameters(model)
    found["base"] = digest(base.chosen.dependent, base.chosen.beta)
    log = mechid.synthesise(model, plain, noise="2%", cad_error="20%", periods=3, seed=1)
    found["synthesise"] = digest(log.y, log.tau)
    run = mechid.identify(model, log, cad_error="20%")
    assert run.estimate is not None
    found["identify"] = digest(run.estimate.values, run.estimate.covariance)
    path = mechid.simulate(model, np.linspace(0, 0.1, 21))
    found["simulate"] = digest(path.y, path.yd, path.tau)
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(digests(sys.argv[1])))
