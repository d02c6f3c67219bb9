"""Tables of parameters: CSV, XLSX and LaTeX say the same, and what a run says."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

import numpy as np
import openpyxl
import pytest

import mechid
from mechid.exporting.latex import escaped, unit, with_sigma
from mechid.runs.record import Run


def rows(run: Run | str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(mechid.export(run, "tables").text)))


def test_base_parameters_are_those_of_the_run(run: Run) -> None:
    found = [row for row in rows(run) if row["table"] == "base parameters"]
    assert [row["name"] for row in found] == list(run.parameters.names)
    assert [float(row["value"]) for row in found] == pytest.approx(run.values())
    assert [float(row["sigma"]) for row in found] == pytest.approx(run.final.sigma)
    assert [float(row["cad"]) for row in found] == pytest.approx(run.parameters.cad)


def test_eliminated_parameters_are_named(reduced: Run) -> None:
    found = [row for row in rows(reduced) if row["table"] == "base parameters"]
    assert reduced.reduction is not None
    gone = {row["name"] for row in found if row["source"] == "eliminated"}
    assert gone == set(reduced.parameters.names) - set(reduced.reduction.chosen)
    assert [float(row["value"]) for row in found] == pytest.approx(reduced.values())


def test_bodies_follow_the_base_parameters(run: Run) -> None:
    """Standard deviations lie between those of exact data and those of CAD, or near the latter.

    What no force shows keeps its CAD value: Ixx of planar bars.
    """
    bodies = [row for row in rows(run) if row["table"] == "bodies"]
    assert len(bodies) == 10 * len(run.mechanism.bodies)
    for row in bodies:
        sigma, cad = float(row["sigma"]), float(row["cad_sigma"])
        assert (row["source"] == "cad") == (sigma >= 0.9 * cad)
        if row["name"] == "inertia xx":
            assert row["source"] == "cad"
    masses = [row for row in bodies if row["name"] == "mass"]
    assert all(row["source"] == "data" for row in masses)


def test_coefficients_of_force_elements(sprung: Run) -> None:
    found = {row["name"]: row for row in rows(sprung) if row["table"] == "force elements"}
    at = {name: i for i, name in enumerate(sprung.parameters.names)}
    for name in set(found) & set(at):
        assert float(found[name]["value"]) == pytest.approx(sprung.values()[at[name]], rel=1e-6)
    assert found["moment_drive"]["source"] == "model"


def test_model_without_a_run() -> None:
    """CAD values; of base parameters the sum that their expression says."""
    found = rows("pendulum")
    values = {row["name"]: float(row["value"]) for row in found if row["table"] == "bodies"}
    cad = mechid.load("pendulum").bodies[0].inertia
    assert cad is not None
    assert values["mass"] == cad.mass
    base = [row for row in found if row["table"] == "base parameters"]
    assert len(base) == mechid.base_parameters("pendulum").chosen.rank


def test_run_without_all_parameters(run: Run) -> None:
    """Tables have the base parameters; robot formats need all."""
    bare = replace(run, full=None)
    assert {row["table"] for row in rows(bare)} == {"base parameters"}
    with pytest.raises(mechid.ModelError, match="no values of all parameters"):
        mechid.export(bare, "urdf")


def test_workbook_has_the_same_numbers(run: Run) -> None:
    file = mechid.export(run, "xlsx")
    assert file.data == mechid.export(run, "xlsx").data
    book = openpyxl.load_workbook(io.BytesIO(file.data))
    assert book.sheetnames == ["about", "base parameters", "bodies"]
    for name in book.sheetnames[1:]:
        head, *cells = book[name].iter_rows(values_only=True)
        want = [row for row in rows(run) if row["table"] == name]
        column = head.index("value")
        values = [float(row["value"]) for row in want]
        assert [row[column] for row in cells] == pytest.approx(values, rel=1e-15)  # 16 digits


def test_missing_openpyxl(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(mechid.MechidError, match=r"pip install 'mechid\[xlsx\]'"):
        mechid.export(run, "xlsx")


def test_latex_is_well_formed(sprung: Run) -> None:
    text = mechid.export(sprung, "latex").text
    lines = [line for line in text.splitlines() if not line.startswith("%")]
    assert text.count(r"\begin{longtable}") == text.count(r"\end{longtable}") == 3
    body = "\n".join(lines)
    plain = re.sub(r"\\[{}]", "", body)
    assert plain.count("{") == plain.count("}")
    assert re.sub(r"\\\$", "", body).count("$") % 2 == 0
    cells = [line for line in lines if line.endswith(r"\\") and not line.startswith(r"\caption")]
    assert all(len(re.findall(r"(?<!\\)&", line)) == 4 for line in cells)
    assert body.isascii()


def test_latex_has_the_numbers(run: Run) -> None:
    """Value and standard deviation as written, to their last digit."""
    pattern = r"\$\(?(-?[\d.]+) \\pm ([\d.]+)\)?(?: \\cdot 10\^\{(-?\d+)\})?\$"
    found = re.findall(pattern, mechid.export(run, "latex").text)
    want = [row for row in rows(run) if row["sigma"]]
    assert len(found) == len(want)
    for (value, sigma, power), row in zip(found, want, strict=True):
        scale = 10.0 ** int(power or 0)
        digit = scale * 10.0 ** -len(value.partition(".")[2])
        assert abs(float(value) * scale - float(row["value"])) <= 0.501 * digit
        assert abs(float(sigma) * scale - float(row["sigma"])) <= 0.501 * digit
        assert digit <= 0.1 * float(row["sigma"])  # two digits of the deviation


@pytest.mark.parametrize(
    ("value", "sigma", "text"),
    [
        (1.23456, 0.0789, r"1.235 \pm 0.079"),
        (123456.0, 789.0, r"(1.2346 \pm 0.0079) \cdot 10^{5}"),
        (-0.00001234, 0.0000005, r"(-1.234 \pm 0.050) \cdot 10^{-5}"),
        (3.14159, None, "3.142"),
        (0.0, None, "0"),
        (0.0, 0.02, r"0.000 \pm 0.020"),
        (0.1, 30.0, r"0 \pm 30"),
        (None, None, r"\text{--}"),
        (np.nan, None, r"\text{--}"),
        (2.5e-9, None, r"2.500 \cdot 10^{-9}"),
    ],
)
def test_numbers_in_latex(value: float | None, sigma: float | None, text: str) -> None:
    assert with_sigma(value, sigma) == text


def test_words_in_latex() -> None:
    assert unit("kg m²") == r"kg\,m$^{2}$"
    assert escaped("arm_1 & 50 %") == r"arm\_1 \& 50 \%"
