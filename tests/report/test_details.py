"""Bodies, meanings, correlations, spectra, motions and pictures for paper."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from lxml import etree, html

import mechid
from mechid.errors import DataError
from mechid.report import render_comparison, render_report, write_comparison
from mechid.report.plot import plot
from mechid.report.sections.bodies import central_jacobian, central_sigma, central_values
from mechid.report.sections.correlation import correlations
from mechid.report.sections.excitation import joint_ranges
from mechid.report.sections.forces import residual_range
from mechid.report.sections.spectra import amplitude_density
from mechid.runs.parameter_meanings import base_meaning, meanings, symbols
from mechid.spatial.inertia import parameters
from mechid.validation.diagnosis_record import Diagnosis

PHI = parameters(2.0, np.array([0.1, -0.2, 0.3]), np.array([0.5, 0.01, -0.02, 0.6, 0.03, 0.7]))


@pytest.fixture(scope="module")
def page(run):
    return html.document_fromstring(render_report(run))


def test_central_derivatives_are_those_of_differences():
    step = 1e-6
    differences = [
        (central_values(PHI + step * e) - central_values(PHI - step * e)) / (2 * step)
        for e in np.eye(10)
    ]
    np.testing.assert_allclose(central_jacobian(PHI), np.transpose(differences), atol=1e-8)


def test_central_deviations_are_those_of_samples():
    rng = np.random.default_rng(0)
    root = 1e-4 * rng.normal(size=(10, 10))
    drawn = PHI + rng.normal(size=(20000, 10)) @ root.T
    spread = np.std([central_values(phi) for phi in drawn], axis=0)
    np.testing.assert_allclose(central_sigma(PHI, root @ root.T), spread, rtol=0.03)


@pytest.mark.slow
def test_bodies_are_those_of_the_full_set(page, run):
    articles = page.xpath("//article[@class='body']")
    assert len(articles) == len(run.mechanism.bodies)
    for k, (article, body) in enumerate(zip(articles, run.mechanism.bodies, strict=True)):
        assert body.name in article.find("h4").text_content()
        first = article.xpath(".//tbody/tr")[0]
        cad, identified = (cell.text_content() for cell in first.xpath("td")[:2])
        mass = run.full.values[10 * k]
        shown = float(identified.split("±")[0].replace("−", "-"))
        assert shown == pytest.approx(mass, rel=1e-3)
        assert float(cad.split("±")[0]) == pytest.approx(body.inertia.mass, rel=1e-3)


def test_data_never_make_a_body_less_certain(run):
    """Covariance of all parameters: not more than the CAD errors, times the factor of the data,
    where nothing else may be wrong."""
    from mechid.modelfile.api import load
    from mechid.options import IdentifyOptions
    from mechid.tasks.cad_prior import cad_covariance, prior_from_cad
    from mechid.tasks.identify import identify_motions
    from mechid.tasks.stages import base_of, full_set

    given = load("five_bar")
    run = identify_motions(given, run.motions, IdentifyOptions("map", {"prior": "full"}))
    prior = prior_from_cad(given, base_of(given))
    full = full_set(run, prior)
    declared = cad_covariance(given)
    scale = max(1.0, run.estimate.agreement.scale)
    for k, body in enumerate(run.mechanism.bodies):
        ten = slice(10 * k, 10 * k + 10)
        left = scale**2 * declared[ten, ten] - full.covariance[body.name]
        size = np.sqrt(np.diag(declared[ten, ten]))
        size = np.where(size > 0, size, 1.0)
        assert np.linalg.eigvalsh(left / np.outer(size, size)).min() > -1e-6


def test_base_values_of_the_covariances_are_those_of_the_estimate(run, tmp_path):
    """A parameter that is a base parameter by itself has the standard deviation of the estimate."""
    alone = [n for n, t in zip(run.parameters.names, run.parameters.text, strict=True) if n == t]
    assert alone
    for name in alone:
        number = int(name.split("_")[1]) - 1
        k = run.full.parameters.index(name) - 10 * number
        variance = run.full.covariance[run.mechanism.bodies[number].name][k, k]
        sigma = run.estimate.sigma[run.estimate.parameters.index(name)]
        assert np.sqrt(variance) == pytest.approx(sigma, rel=1e-6)
    mechid.save_run(run, tmp_path / "run")
    again = mechid.load_run(tmp_path / "run").full.covariance
    assert again.keys() == run.full.covariance.keys()
    np.testing.assert_array_equal(again["crank_1"], run.full.covariance["crank_1"])


def test_meanings_name_the_bodies():
    mechanism = mechid.load("sla_suspension")
    known = meanings(mechanism)
    assert known["mx_11"].text == "first moment m·x of upright_l (body 11)"
    assert known["Ixx_3"].text == "moment of inertia xx of upright_r (body 3)"
    assert known["Ixy_3"].what == "product of inertia xy"
    assert len(known) >= 10 * len(mechanism.bodies)
    words = base_meaning("Ixx_3", "Ixx_3 - l7**2*m_3/4 + DKz*m_5", known)
    assert words.endswith("with parts of upright_r (m); wheel_r (m)")


def test_coefficients_have_a_meaning():
    known = meanings(mechid.load("tx40"))
    assert known["viscous_friction_1"].what == "viscous friction (friction)"
    assert known["viscous_friction_1"].owner == "friction_1"


def test_symbols_are_explained_with_their_points():
    mechanism = mechid.load("sla_suspension")
    (found,) = symbols(mechanism, ["mx_2 + Iyy_2/Ds4"])
    assert (found["name"], found["value"], found["unit"]) == ("Ds4", 0.25, "m")
    assert "A_arm_r (x in upper_arm_r)" in found["points"]


def test_every_parameter_has_its_body(page, run):
    known = meanings(run.mechanism)
    for row in page.xpath("//*[@id='parameter-table']//tbody/tr"):
        name = row.find("th").text_content()
        assert row.xpath("td[1]")[0].text_content() == known[name].owner
        assert known[name].text in row.find("th").get("title")


def test_correlations_have_unit_diagonal(run):
    names, r = correlations(run.final)
    np.testing.assert_allclose(np.diag(r), 1.0)
    i, j = (run.final.parameters.index(n) for n in names[:2])
    C = run.final.covariance
    assert r[0, 1] == pytest.approx(C[i, j] / np.sqrt(C[i, i] * C[j, j]))


def test_white_noise_is_flat_at_its_level():
    step, sigma = 0.01, 3.0
    noise = sigma * np.random.default_rng(1).normal(size=100_000)
    frequency, density = amplitude_density(noise, step)
    assert frequency[-1] == pytest.approx(50.0)
    # The ends of the spectrum count half.
    np.testing.assert_allclose(density[1:-1], sigma * np.sqrt(2 * step), rtol=0.2)
    assert np.mean(density[1:-1] ** 2) == pytest.approx(2 * step * sigma**2, rel=0.02)


def test_a_sine_is_a_peak_at_its_frequency():
    t = np.arange(2048) * 0.005
    frequency, density = amplitude_density(np.sin(2 * np.pi * 12.5 * t), 0.005)
    assert frequency[np.argmax(density)] == pytest.approx(12.5, abs=0.8)


def test_joints_near_their_limits():
    mechanism = mechid.load("pendulum")
    (joint,) = mechanism.joints
    limited = replace(mechanism, joints=(replace(joint, limits=(type_limit(-1.0, 0.5),)),))
    y = np.linspace(-0.3, 0.7, 11)[:, None]
    (row,) = joint_ranges(mechid.solve_motion(limited, y, 0 * y, 0 * y))
    assert row["range"] == pytest.approx((-0.3, 0.7))
    assert row["room"] == pytest.approx(-0.2)


def type_limit(lower: float, upper: float):
    from mechid.mechanism.records import Limit

    return Limit(lower, upper)


def test_scale_of_residuals_shows_all_of_them():
    rest = np.array([0.1, -2.0, np.nan])
    assert residual_range(rest, np.full(3, 1.0)) == pytest.approx([-2.16, 2.16])
    # A band far wider than the residuals would make a line of them.
    assert residual_range(rest, np.full(3, 1e3))[1] == pytest.approx(1.08 * 5.0)


def spec(values, **y):
    return {
        "title": "a <b> & c",
        "x": {"values": [0.0, 1.0, 2.0], "label": "t < 1"},
        "y": y,
        "series": [{"name": "s", "look": "measured", "values": values}],
    }


def test_picture_is_xml_with_the_curve_interrupted():
    made = etree.fromstring(str(plot(spec([1.0, None, 3.0]))))
    (path,) = made.xpath("//*[@class='measured']/@d")
    assert path.count("M") == 2
    assert made.get("aria-label") == "a <b> & c"
    assert "t < 1" in made.xpath("//text()")


def test_picture_places_values_between_its_ticks():
    made = etree.fromstring(str(plot(spec([0.0, 5.0, 10.0]), 220)))
    ticks = {t.text: float(t.get("y")) - 4 for t in made.xpath("//*[@class='end']")}
    points = [p.split(" ") for p in made.xpath("//*[@class='measured']/@d")[0][1:].split("L")]
    assert float(points[0][1]) == pytest.approx(ticks["0"], abs=0.2)
    assert float(points[2][1]) == pytest.approx(ticks["10"], abs=0.2)
    assert float(points[1][1]) == pytest.approx((ticks["0"] + ticks["10"]) / 2, abs=0.2)


@pytest.mark.parametrize("values", [[None] * 3, [1.0] * 3, [0.0] * 3, [1e-9, 2e5, -3.0]])
@pytest.mark.parametrize("log", [False, True])
def test_picture_of_anything(values, log):
    text = str(plot(spec(values, log=log)))
    etree.fromstring(text)
    assert "nan" not in text
    assert "inf" not in text


def test_comparison(run, tmp_path):
    other = replace(run, reduction=None)
    page = html.document_fromstring(render_comparison({"<i>one": run, "two": other}))
    assert not page.xpath("//i")
    rows = page.xpath("//*[@id='comparison-table']//tbody/tr")
    assert [r.find("th").text_content() for r in rows] == list(run.parameters.names)
    for row, name in zip(rows, run.parameters.names, strict=True):
        shown = [c.get("data-value") for c in row.xpath("td[@class='number']")[:2]]
        for estimate, value in zip((run.final, run.estimate), shown, strict=True):
            if name in estimate.parameters:
                expected = estimate.values[estimate.parameters.index(name)]
                assert float(value) == pytest.approx(expected)
    verdicts = page.xpath("//header//h2/strong")
    assert [v.text for v in verdicts] == [mechid.verdict(r).trust.answer for r in (run, other)]
    with pytest.raises(DataError, match="two runs"):
        write_comparison({"one": run}, tmp_path / "compare.html")


@pytest.mark.slow
def test_a_robot_without_loops_closes_none(run):
    assert "loops closed" in html.document_fromstring(render_report(run)).text_content()
    motion = mechid.excite("pendulum", random=2, starts=0, harmonics=2)
    log = mechid.synthesise("pendulum", motion, noise="2%", cad_error="10%")
    text = html.document_fromstring(render_report(mechid.identify("pendulum", log))).text_content()
    assert "loops closed" not in text


def test_first_line_says_synthetic(page, run):
    assert page.xpath("//header/p")[0].text_content().startswith("Synthetic data")
    bare = replace(run, parameters=replace(run.parameters, truth=None))
    words = html.document_fromstring(render_report(bare)).xpath("//header")[0].text_content()
    assert "ynthetic" not in words


def test_text_of_model_and_log_stays_text(run):
    """Every text that a file can bring along, with markup in it."""
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>--><!--"
    mechanism = replace(
        run.mechanism,
        title=evil,
        source=evil,
        parameters=tuple(replace(p, source=evil, unit=evil) for p in run.mechanism.parameters),
        points=tuple(replace(p, source=evil) for p in run.mechanism.points),
    )
    finding = Diagnosis("offset", evil, 1.0, evil, 9.0, evil, evil)
    hostile = replace(
        run,
        mechanism=mechanism,
        motions=tuple(
            replace(m, source=evil, notes=(evil,), warnings=(evil,)) for m in run.motions
        ),
        about=replace(run.about, command=evil, model=evil, versions={evil: evil}),
        warnings=(evil,),
        diagnosis=(finding,),
    )
    for text in (render_report(hostile), render_comparison({evil: hostile, "other": run})):
        assert evil not in text
        assert "<script>alert" not in text
        assert "<img src=x" not in text


def test_bodies_and_points_stay_text(run):
    evil = "a<b onclick=x>&'\""
    bodies = tuple(replace(b, name=f"{evil}{k}") for k, b in enumerate(run.mechanism.bodies))
    name = dict(zip((b.name for b in run.mechanism.bodies), bodies, strict=True))

    def renamed(body: str) -> str:
        return name[body].name if body in name else body

    joints = tuple(
        replace(j, body_a=renamed(j.body_a), body_b=renamed(j.body_b)) for j in run.mechanism.joints
    )
    points = tuple(
        replace(p, name=f"{evil}{p.name}", body=renamed(p.body)) for p in run.mechanism.points
    )
    mechanism = replace(run.mechanism, bodies=bodies, joints=joints, points=points)
    text = render_report(replace(run, mechanism=mechanism))
    assert "a<b onclick" not in text
