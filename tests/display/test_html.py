"""Records in notebooks: complete in themselves, without scripts, and harmless whatever a name."""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from lxml import html

import mechid
from mechid.shown import Shown


def parts(record: Shown) -> tuple[str, html.HtmlElement]:
    text = record._repr_html_()
    assert "<script" not in text
    assert not re.search(r'(src|href)="(?!data:)', text)
    return text, html.fromstring(text)


def drawing(page: html.HtmlElement) -> ET.Element:
    (image,) = page.xpath("//img")
    return ET.fromstring(base64.b64decode(image.get("src").partition("base64,")[2]))


def test_mechanism_has_a_picture_and_its_numbers() -> None:
    model = mechid.load("sla_suspension")
    _, page = parts(model)
    assert drawing(page).tag.endswith("svg")
    shown = dict(zip(page.xpath("//dt/text()"), page.xpath("//dd/text()"), strict=True))
    assert shown["bodies"].endswith(f"({len(model.bodies)})")
    assert shown["coordinates"].startswith("z_r (m), z_l (m)")


def test_names_are_not_html() -> None:
    model = replace(mechid.load("pendulum"), title="<b>bold</b> & co")
    text, _ = parts(model)
    assert "&lt;b&gt;bold&lt;/b&gt; &amp; co" in text
    assert "<b>" not in text


def test_a_mechanism_that_cannot_be_assembled_says_so() -> None:
    model = mechid.load("four_bar")
    bar = model.joint("q4")
    far = replace(bar, frame_a=replace(bar.frame_a, origin=(30.0, 0.0, 0.0)))
    broken = replace(model, joints=(*model.joints[:3], far))
    _, page = parts(broken)
    assert not page.xpath("//img")
    assert "No picture" in page.xpath('//p[@class="missing"]')[0].text


def test_base_parameters_show_formulas_and_the_proof() -> None:
    text, page = parts(mechid.base_parameters(mechid.load("four_bar"), certify=True))
    assert "Certified" in text
    assert len(page.xpath('//td[@class="formula"]')) == 8
    text, page = parts(mechid.base_parameters(mechid.load("four_bar")).chosen)
    assert "certify=True" in text


@pytest.mark.parametrize("name", [entry.name for entry in mechid.zoo()])
def test_every_mechanism_of_the_zoo_is_drawn(name: str) -> None:
    model = mechid.load(name)
    axes = model.plot().axes[0]
    assert len(axes.lines) >= len(model.bodies)


def test_motion_and_forces() -> None:
    motion = mechid.tour(mechid.load("pendulum"))
    for record in (motion, mechid.inverse_dynamics(motion, reactions=True)):
        _, page = parts(record)
        assert drawing(page).tag.endswith("svg")
    fall = mechid.simulate(mechid.load("pendulum"), np.linspace(0, 0.1, 5))
    parts(fall)
    parts(mechid.mobility(mechid.load("pendulum")))
