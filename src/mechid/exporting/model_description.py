"""modelDescription.xml of an FMU, for FMI 2.0 and 3.0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement

from mechid.exporting.markup import document

# SI base units of what units are made of.
_BASE = {
    "m": {"m": 1},
    "s": {"s": 1},
    "kg": {"kg": 1},
    "rad": {"rad": 1},
    "N": {"kg": 1, "m": 1, "s": -2},
    "J": {"kg": 1, "m": 2, "s": -2},
}
_POWERS = {"²": 2, "³": 3, "⁴": 4, "⁵": 5, "⁶": 6, "⁷": 7, "⁸": 8, "⁹": 9}


@dataclass(frozen=True)
class Variable:
    """A variable of an FMU.

    Attributes
    ----------
    name, unit, description : str
    causality : "independent", "input", "output" or "parameter"
    start : float or None
        None of what is computed.
    derivative_of : str
        Name of the state whose derivative it is; empty if it is not one.
    nominal : float or None
    reference : int
        Value reference.
    """

    name: str
    unit: str
    description: str
    causality: str
    reference: int
    start: float | None = None
    derivative_of: str = ""
    nominal: float | None = None

    @property
    def variability(self) -> str:
        """How it may change."""
        return "tunable" if self.causality == "parameter" else "continuous"

    @property
    def initial(self) -> str:
        """How it gets its first value; empty for inputs, which must not say so."""
        if self.causality in ("input", "independent"):
            return ""
        return "calculated" if self.start is None else "exact"


@dataclass(frozen=True)
class Description:
    """What modelDescription.xml says.

    Attributes
    ----------
    name, identifier, token, about, generated_by : str
        Of the mechanism; as a C identifier; unique for these equations; in words.
    variables : sequence of Variable
        The independent one, time, first.
    tolerance : float
    """

    name: str
    identifier: str
    token: str
    about: str
    variables: Sequence[Variable]
    tolerance: float
    generated_by: str = "mechid"

    @property
    def outputs(self) -> list[Variable]:
        """Outputs."""
        return [v for v in self.variables if v.causality == "output"]

    @property
    def derivatives(self) -> list[Variable]:
        """Derivatives of the states, in the order of the states."""
        order = {v.name: i for i, v in enumerate(self.variables)}
        found = [v for v in self.variables if v.derivative_of]
        return sorted(found, key=lambda v: order[v.derivative_of])

    @property
    def unknowns(self) -> list[Variable]:
        """What is computed when the simulation begins."""
        return [v for v in self.variables if v.initial == "calculated"]


def description_fmi2(d: Description, sources: Sequence[str]) -> bytes:
    """Return the file for FMI 2.0."""
    root = Element(
        "fmiModelDescription",
        fmiVersion="2.0",
        modelName=d.name,
        guid=d.token,
        description=d.about,
        generationTool=d.generated_by,
        variableNamingConvention="flat",
        numberOfEventIndicators="0",
    )
    can = {
        "modelIdentifier": d.identifier,
        "canGetAndSetFMUstate": "true",
        "canSerializeFMUstate": "true",
    }
    more = {"canHandleVariableCommunicationStepSize": "true"}
    for kind, attributes in (("ModelExchange", can), ("CoSimulation", {**can, **more})):
        files = SubElement(SubElement(root, kind, attributes), "SourceFiles")
        for name in sources:
            SubElement(files, "File", name=name)
    _units(root, d)
    _categories(root)
    _experiment(root, d)
    listed = SubElement(root, "ModelVariables")
    number = {v.name: str(i) for i, v in enumerate(d.variables, start=1)}
    for v in d.variables:
        scalar = SubElement(listed, "ScalarVariable", _common(v))
        real = SubElement(scalar, "Real", _numbers(v))
        if v.derivative_of:
            real.set("derivative", number[v.derivative_of])
    structure = SubElement(root, "ModelStructure")
    for kind, found in (
        ("Outputs", d.outputs),
        ("Derivatives", d.derivatives),
        ("InitialUnknowns", d.unknowns),
    ):
        if found:
            parent = SubElement(structure, kind)
            for v in found:
                SubElement(parent, "Unknown", index=number[v.name])
    return document(root)


def description_fmi3(d: Description) -> bytes:
    """Return the file for FMI 3.0."""
    root = Element(
        "fmiModelDescription",
        fmiVersion="3.0",
        modelName=d.name,
        instantiationToken=d.token,
        description=d.about,
        generationTool=d.generated_by,
        variableNamingConvention="flat",
    )
    can = {
        "modelIdentifier": d.identifier,
        "canGetAndSetFMUState": "true",
        "canSerializeFMUState": "true",
    }
    more = {"canHandleVariableCommunicationStepSize": "true"}
    SubElement(root, "ModelExchange", can)
    SubElement(root, "CoSimulation", {**can, **more})
    _units(root, d)
    _categories(root)
    _experiment(root, d)
    listed = SubElement(root, "ModelVariables")
    number = {v.name: str(v.reference) for v in d.variables}
    for v in d.variables:
        real = SubElement(listed, "Float64", {**_common(v), **_numbers(v)})
        if v.derivative_of:
            real.set("derivative", number[v.derivative_of])
    structure = SubElement(root, "ModelStructure")
    for kind, found in (
        ("Output", d.outputs),
        ("ContinuousStateDerivative", d.derivatives),
        ("InitialUnknown", d.unknowns),
    ):
        for v in found:
            SubElement(structure, kind, valueReference=number[v.name])
    return document(root)


def build_description(identifier: str, sources: Sequence[str]) -> bytes:
    """Return sources/buildDescription.xml of FMI 3.0."""
    root = Element("fmiBuildDescription", fmiVersion="3.0")
    build = SubElement(root, "BuildConfiguration", modelIdentifier=identifier)
    files = SubElement(build, "SourceFileSet", language="C99")
    for name in sources:
        SubElement(files, "SourceFile", name=name)
    return document(root)


def _common(v: Variable) -> dict[str, str]:
    said = {
        "name": v.name,
        "valueReference": str(v.reference),
        "description": v.description,
        "causality": v.causality,
        "variability": v.variability,
    }
    return {**said, "initial": v.initial} if v.initial else said


def _numbers(v: Variable) -> dict[str, str]:
    said = {"unit": v.unit} if v.unit else {}
    if v.nominal is not None:
        said["nominal"] = repr(v.nominal)
    if v.start is not None:
        said["start"] = repr(v.start)
    return said


def _units(root: Element, d: Description) -> None:
    definitions = SubElement(root, "UnitDefinitions")
    for unit in sorted({v.unit for v in d.variables if v.unit}):
        powers = {k: str(n) for k, n in base_units(unit).items() if n}
        SubElement(SubElement(definitions, "Unit", name=unit), "BaseUnit", powers)


def base_units(unit: str) -> dict[str, int]:
    """Return the powers of the SI base units in a unit such as `N m s/rad`."""
    above, _, below = unit.partition("/")
    powers: dict[str, int] = {}
    for text, sign in ((above, 1), (below, -1)):
        for word in text.split():
            name = word.rstrip("".join(_POWERS))
            power = sign * _POWERS.get(word[len(name) :], 1)
            for base, n in _BASE.get(name, {}).items():
                powers[base] = powers.get(base, 0) + power * n
    return powers


def _categories(root: Element) -> None:
    categories = SubElement(root, "LogCategories")
    SubElement(categories, "Category", name="logStatusError")


def _experiment(root: Element, d: Description) -> None:
    SubElement(root, "DefaultExperiment", startTime="0", stopTime="1", tolerance=repr(d.tolerance))
