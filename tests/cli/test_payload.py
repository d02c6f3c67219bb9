"""`mechid payload`, as a user runs it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import mechid

from .conftest import Run


def test_a_weight_in_the_hand_of_an_arm(run: Run) -> None:
    """A point mass at a known place of the last link: its weight by hand, from static forces."""
    arm = mechid.load("puma560@bare")
    motion = mechid.excite(arm, random=2, starts=0, harmonics=3)
    log = mechid.synthesise(arm, motion, noise="1%", cad_error="10%")
    mechid.save_measurement(log, "empty.csv")
    m, c = 1.5, np.array([0.05, 0.0, 0.1])
    held = mechid.synthesise(arm, motion, noise="1%", truth=log.truth, seed=5).measurement
    solved = mechid.solve_motion(arm, held.y, held.yd, held.ydd, time=held.time)
    point = m * np.array([1, *c, c[1] ** 2 + c[2] ** 2, -c[0] * c[1], -c[0] * c[2],
                          c[0] ** 2 + c[2] ** 2, -c[1] * c[2], c[0] ** 2 + c[1] ** 2])  # fmt: skip
    W = mechid.observation_matrix_reference(arm, solved).W[..., 50:60]
    ready = mechid.prepare(replace(held, tau=held.tau + W @ point), arm)
    mechid.save_measurement(ready, "held.csv", arm)
    done = run("identify", "puma560@bare", "empty.csv", "--cad-error", "10%", "-o", "run")
    assert done.status == 0
    found = run("payload", "run", "held.csv", "-o", "payload.json", "--json")
    assert found.status == 0
    central = found.json["central"]
    assert found.json["body"] == "link_6"
    assert found.json["rank"] == 10
    assert Path("payload.json").exists()
    for name, true in zip(("m", "cx", "cy", "cz"), (m, *c), strict=True):
        assert abs(central[name]["value"] - true) < 4 * central[name]["sigma"]
    shown = run("payload", "run", "held.csv", "--known-mass", "1.5+-0.001", "-o", "payload.csv")
    assert "attached to   link_6 of puma560" in shown.out
    assert "10 of 10 combinations" in shown.out
    assert "wrote payload.csv" in shown.out
    for arguments, said in (
        (("held.csv", "--body", "link_9"), "there is no body link_9 with a mass"),
        (("held.csv", "--known-mass", "much"), '"much" is not a number'),
        (("held.csv", "-o", "payload.pdf"), "payload.pdf: unknown file type .pdf; use a .json or"),
        (("nothing.csv",), "nothing.csv: there is no such file"),
    ):
        refused = run("payload", "run", *arguments)
        assert refused.status == 2
        assert said in refused.err
