"""The toy experiment, known to this process and to those that it starts."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType

import pytest

from mechid.studies import cells, registry
from mechid.studies.study import Study, load_study


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    here = str(Path(__file__).parent)
    monkeypatch.syspath_prepend(here)
    monkeypatch.setenv("PYTHONPATH", ":".join([here, *filter(None, sys.path)]))
    known = MappingProxyType({"toy": "toy_experiment", **registry.EXPERIMENTS})
    monkeypatch.setattr(registry, "EXPERIMENTS", known)
    monkeypatch.setattr(cells, "EXPERIMENTS", known)
    monkeypatch.chdir(tmp_path)


Read = Callable[..., Study]


@pytest.fixture
def study() -> Read:
    """Write a study file and read it: ``study("experiment: toy")``."""

    def made(text: str, name: str = "made.yaml", quick: bool = False) -> Study:
        Path(name).write_text(text, encoding="utf-8")
        return load_study(name, quick=quick)

    return made
