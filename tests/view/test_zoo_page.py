"""Pages of real mechanisms in a browser: they draw, they move, nothing goes wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mechid.kinematics.frames import FrameMotion
from mechid.modelfile import load
from mechid.tables import point_motion
from mechid.view import tour, write_page

if TYPE_CHECKING:
    from ..conftest import OpenPage


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "body", "traces"),
    [
        ("sla_suspension", "wheel_r", ["wheel_r.K_r"]),
        ("screw_press", "ram", []),
        ("double_wishbone@free", "chassis", []),
        ("pendulum@spring", "bob", ["bob.tip"]),
        ("rssr_linkage", "rocker", ["rocker.Q"]),
    ],
)
def test_page_shows_the_moving_mechanism(
    name: str, body: str, traces: list[str], tmp_path: Path, open_page: OpenPage
) -> None:
    mechanism = load(name)
    motion = tour(mechanism)
    path = write_page(mechanism, tmp_path / "page.html", motion, traces)
    opened = open_page(path, strict=True)
    page = opened.page
    assert page.evaluate("mechid.ready")
    assert page.title() == mechanism.title
    assert motion.time is not None
    seen = []
    origin: FrameMotion = point_motion(motion, body)
    quickest = int(np.argmax(np.abs(motion.yd).sum(axis=1)))
    for sample in (0, quickest, -1):
        t = float(motion.time[sample])
        page.evaluate("(t) => mechid.seek(t)", t)
        place = page.evaluate("(name) => mechid.bodyPosition(name)", body)
        # Between samples of the thinned motion the page interpolates.
        assert place == pytest.approx(origin.position[sample], abs=2e-3 * motion.model.size)
        seen.append(page.locator("#canvas").screenshot())
    assert seen[0] != seen[1]
    assert page.locator(".strip").count() == len(mechanism.coordinates)
    labels = page.locator(".row .label").all_inner_texts()
    assert {b.name for b in mechanism.bodies} | set(traces) <= set(labels)
    assert opened.errors == []
    assert opened.requests == [path.as_uri()]


@pytest.mark.slow
def test_a_force_keeps_its_direction_while_its_point_moves(
    tmp_path: Path, open_page: OpenPage
) -> None:
    mechanism = load("screw_press")
    page = open_page(write_page(mechanism, tmp_path / "page.html")).page
    place = page.evaluate(
        """async () => {
            const { buildElement } = await import("mechid/elements");
            const { Group, Vector3, Quaternion } = await import("three");
            const body = new Group();
            body.position.set(1, 2, 3);
            body.quaternion.setFromAxisAngle(new Vector3(0, 1, 0), 1.0);
            body.updateMatrixWorld(true);
            const element = { kind: "force", body_a: 1, point_a: [0, 0, 0], body_b: 1,
                              point_b: [0, 0, 0], vector: [0, 0, 7], axes: 0 };
            const motion = { samples: () => [0], place: () => new Vector3() };
            const built = buildElement(element, { frames: [new Group(), body], motion, unit: 0.01,
                                                  up: new Vector3(0, 0, 1), joints: [] });
            built.update();
            const arrow = built.objects[0];
            const along = new Vector3(0, 1, 0).applyQuaternion(arrow.quaternion);
            return [arrow.position.toArray(), along.toArray()];
        }"""
    )
    # The tip is at the point of the body, the arrow twelve units long.
    assert place[0] == pytest.approx([1.0, 2.0, 3.0 - 0.12])
    assert place[1] == pytest.approx([0.0, 0.0, 1.0])
    assert np.linalg.norm(place[1]) == pytest.approx(1.0)
