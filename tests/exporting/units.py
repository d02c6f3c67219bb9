"""FMUs in FMPy: the same few calls for FMI 2.0 and 3.0."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import fmpy
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


class Unit:
    """An instance of an FMU, by the names of its variables."""

    def __init__(self, path: Path, folder: Path, fmi_type: str) -> None:
        self.description = fmpy.read_model_description(path)
        self.variables = {v.name: v for v in self.description.modelVariables}
        fmpy.extract(path, folder)
        self.unit = fmpy.instantiate_fmu(folder, self.description, fmi_type)
        self.two = self.description.fmiVersion == "2.0"

    def start(self, tolerance: float | None = None, **values: float) -> None:
        """Initialise, with the given values set before."""
        if self.two:
            self.unit.setupExperiment(tolerance=tolerance)
            self.unit.enterInitializationMode()
        else:
            self.unit.enterInitializationMode(tolerance=tolerance)
        self.set(values)
        self.unit.exitInitializationMode()

    def set(self, values: dict[str, float]) -> None:
        references = [self.variables[name].valueReference for name in values]
        put = self.unit.setReal if self.two else self.unit.setFloat64
        put(references, list(values.values()))

    def get(self, names: list[str]) -> Array:
        references = [self.variables[name].valueReference for name in names]
        ask = self.unit.getReal if self.two else self.unit.getFloat64
        return np.array(ask(references))

    def step(self, now: float, size: float) -> None:
        self.unit.doStep(now, size)

    def close(self) -> None:
        self.unit.terminate()
        self.unit.freeInstance()


@contextmanager
def unit(path: Path, fmi_type: str = "CoSimulation") -> Iterator[Unit]:
    opened = Unit(path, path.with_name(f"{path.stem}_{fmi_type}"), fmi_type)
    try:
        yield opened
    finally:
        opened.close()
