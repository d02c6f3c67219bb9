"""The page holds every section, the numbers of the run, and no reference to anything outside."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from lxml import html

from mechid.errors import DataError
from mechid.estimation.estimate import Finding
from mechid.report import render_report, write_report
from mechid.runs.record import Run
from mechid.validation.diagnosis_record import Diagnosis

SECTIONS = ("diagnosis", "mechanism", "bodies", "parameters", "contribution", "correlation",
            "forces", "spectra", "validation", "reduction", "noise", "excitation", "mobility",
            "base", "repeat")  # fmt: skip
VOID = {"br", "col", "hr", "img", "input", "link", "meta"}


class Nesting(HTMLParser):
    """Fails where an element is closed that is not open, or left open."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.references: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)
        self.ids += [value for name, value in attrs if name == "id"]
        self.references += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def text(run: Run) -> str:
    return render_report(run)


@pytest.fixture(scope="module")
def page(text: str):
    return html.document_fromstring(text)


def table(page, name: str) -> dict[str, list[float]]:
    """Return the numbers behind the rows of a table."""
    return {
        row.find("th").text_content(): [
            float(cell.get("data-value") or "nan") for cell in row.findall("td[@class='number']")
        ]
        for row in page.xpath(f"//*[@id='{name}']//tbody/tr")
    }


def test_html_is_well_formed_and_complete(text):
    found = Nesting(text)
    assert len(set(found.ids)) == len(found.ids)
    assert [name for name in found.ids if name in SECTIONS] == list(SECTIONS)
    for reference in found.references:
        assert reference.startswith(("#", "data:"))
        assert not reference.startswith("#") or reference[1:] in SECTIONS


def test_nothing_is_fetched(page, text):
    policy = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy[0].startswith("default-src 'none'")
    assert not page.xpath("//script[@src] | //img | //link[@rel='stylesheet'] | //iframe[@src]")
    assert not re.search(r"url\(\s*['\"]?https?:|@import|fetch\(|XMLHttpRequest", text)
    assert "http" not in "".join(page.xpath("//math//text()"))


def test_parameters_are_those_of_the_run(page, run):
    rows = table(page, "parameter-table")
    assert tuple(rows) == run.parameters.names
    final, given = run.final, run.parameters
    for i, name in enumerate(given.names):
        cad, value, sigma, percent, truth, z = rows[name]
        assert cad == given.cad[i]
        assert truth == given.truth[i]
        if name in final.parameters:
            k = final.parameters.index(name)
            assert (value, sigma, percent) == (final.values[k], final.sigma[k], final.relative[k])
            assert z == pytest.approx((final.values[k] - given.truth[i]) / final.sigma[k])
        else:
            assert np.isnan([value, sigma, percent, z]).all()


def test_eliminated_and_resting_values_are_marked(page, run):
    marks = {
        row.find("th").text_content(): row.get("class")
        for row in page.xpath("//*[@id='parameter-table']//tbody/tr")
    }
    for name, mark in marks.items():
        if name not in run.reduction.chosen:
            assert mark == "out"
        else:
            assert mark == ("cad" if name in run.final.resting else "data")
    assert list(marks.values()).count("out") == len(run.parameters.names) - 5


def test_validation_is_that_of_the_run(page, run):
    for k, motion in enumerate(m.name for m in run.motions):
        bodies = page.xpath("//table[contains(@class, 'validation')]")[k].findall("tbody")
        rows = [row for row in run.validation if row.motion == motion]
        assert len(bodies) == len(rows) == 3
        for body, row in zip(bodies, rows, strict=True):
            shown = [float(x.get("data-value")) for x in body.xpath("tr/td[2]")]
            expected = [e.E_p for e in row.forces.values()]
            assert shown[0] == row.overall["N m"]
            assert shown[1:] == [*expected, row.total]
            (sum_row,) = body.xpath("tr[@class='sum']")
            assert "sources’ definition" in sum_row.text_content()


def test_contributions_are_those_of_the_run(page, run):
    shown = {
        item.find("span").text: float(item.get("data-value"))
        for item in page.xpath("//ol[@class='bars']/li")
    }
    index = dict(zip(run.contribution.parameters, run.contribution.index, strict=True))
    assert shown == {name: x for name, x in index.items() if x >= 0.01}
    assert list(shown.values()) == sorted(shown.values(), reverse=True)


def test_charts_hold_the_forces(page, run):
    specs = [json.loads(s.text) for s in page.xpath("//section[@id='forces']//figure/script")]
    assert len(specs) == 2 * 2 * len(run.forces[0].forces)
    history = run.forces[0]
    by_name = {s["title"]: s for s in specs}
    spec = by_name[f"{history.forces[1]}, identification"]
    curves = {s["name"]: s["values"] for s in spec["series"]}
    assert curves["measured"][3] is None
    np.testing.assert_allclose(curves["predicted"], history.predicted[:, 1], rtol=1e-5)
    half = 0.5 * (np.array(curves["upper"]) - np.array(curves["lower"]))
    np.testing.assert_allclose(half, 1.96 * history.total[:, 1], rtol=1e-3)


def test_reduction_shows_the_chosen_size(page, run):
    specs = [json.loads(s.text) for s in page.xpath("//section[@id='reduction']//figure/script")]
    assert [s["marks"][0]["x"] for s in specs] == [5, 5]
    own = specs[0]["series"][0]["values"]
    mean = np.mean(run.reduction.curves.identification, axis=1)
    np.testing.assert_allclose(own, 100 * mean, rtol=1e-5)


def test_head_says_the_result_and_all_warnings(page, run):
    head = page.xpath("//header")[0].text_content()
    row = next(r for r in run.validation if (r.motion, r.model) == ("validation-1", "reduced"))
    assert row.words in head
    assert "sum" not in head
    for warning in run.warnings:
        assert warning[1:] in head


def test_text_of_the_user_stays_text(page, text):
    repeat = page.xpath("//section[@id='repeat']")[0]
    assert "mechid identify five_bar 'a <b>.csv' -o run" in repeat.text_content()
    assert "ab" * 32 in repeat.text_content()
    assert "<b>" not in text


@pytest.mark.parametrize("stages", [("data",), ("data", "estimate")])
def test_a_run_that_was_stopped_says_what_is_missing(run, stages):
    part = replace(
        run,
        estimate=run.estimate if "estimate" in stages else None,
        contribution=None,
        reduction=None,
        forces=(),
        validation=(),
        stages=stages,
    )
    page = html.document_fromstring(render_report(part))
    for name in ("forces", "reduction", "validation"):
        (words,) = page.xpath(f"//section[@id='{name}']/p[@class='missing']")
        assert "stopped" in words.text
        assert f"“{stages[-1]}”" in words.text
    assert bool(table(page, "parameter-table")) == ("estimate" in stages)


def test_a_model_that_was_not_reduced(run):
    page = html.document_fromstring(render_report(replace(run, reduction=None)))
    assert "not reduced" in page.xpath("//section[@id='reduction']")[0].text_content()
    assert not page.xpath("//tr[@class='out']")


def test_certificate(run):
    page = html.document_fromstring(render_report(run, certify=True))
    (words,) = page.xpath("//p[contains(@class, 'certificate')]")
    assert "Certified" in words.text_content()
    assert f"exactly {len(run.parameters.names)} combinations" in words.text_content()


def test_a_file_that_cannot_be_written(run, tmp_path: Path):
    with pytest.raises(DataError, match="cannot write"):
        write_report(run, tmp_path / "no" / "report.html")


def test_findings_stand_near_the_head(run):
    none = html.fromstring(render_report(replace(run, diagnosis=())))
    assert "Nothing conspicuous" in none.xpath("//section[@id='diagnosis']")[0].text_content()
    finding = Diagnosis("offset", "M1", 0.5, "N m", 9.0, "force M1 < 0 is offset", "use --offsets")
    added = Finding("Stribeck's drop of <q1>", "friction", "machine", "q1", 0.97, (0.3,), (0.1,),
                    "", 0.05, "describe it")  # fmt: skip
    page = html.fromstring(render_report(replace(run, diagnosis=(finding,), added=(added,))))
    section = page.xpath("//section")[0]
    assert section.get("id") == "diagnosis"
    cells = [cell.text_content() for cell in section.xpath(".//tbody//th | .//tbody//td")]
    assert cells == ["M1", "offset", "Force M1 < 0 is offset.", "Use --offsets."]
    assert f"Added to the model: {added.words}." in section.text_content()
