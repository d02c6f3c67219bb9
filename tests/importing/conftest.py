"""Robot files written in a test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Write = Callable[..., Path]
LINK = (
    '<link name="{0}"><inertial><origin xyz="{1}"/><mass value="{2}"/><inertia ixx="0.02" '
    'iyy="0.03" izz="0.04" ixy="0.001" ixz="-0.002" iyz="0.003"/></inertial></link>'
)


def link(name: str, center: str = "0.1 0.02 -0.03", mass: float = 1.0) -> str:
    """A link with some inertia."""
    return LINK.format(name, center, mass)


def joint(name: str, kind: str, parent: str, child: str, more: str = "") -> str:
    """A joint of a URDF."""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f"{more}</joint>"
    )


@pytest.fixture
def urdf(tmp_path: Path) -> Write:
    """Write a URDF of these parts: ``urdf(link("a"), joint(…))``."""

    def write(*parts: str, name: str = "robot.urdf") -> Path:
        path = tmp_path / name
        path.write_text(f'<robot name="robot">{"".join(parts)}</robot>', encoding="utf-8")
        return path

    return write


@pytest.fixture
def mjcf(tmp_path: Path) -> Write:
    """Write an MJCF of these sections."""

    def write(*parts: str, name: str = "robot.xml") -> Path:
        path = tmp_path / name
        path.write_text(f'<mujoco model="robot">{"".join(parts)}</mujoco>', encoding="utf-8")
        return path

    return write


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in an empty folder: MuJoCo writes its warnings into the current one."""
    monkeypatch.chdir(tmp_path)
