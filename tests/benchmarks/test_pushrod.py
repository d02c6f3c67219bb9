"""The study of the push-rod suspension: it runs, and what its page says holds."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "pushrod-study.md"


@pytest.fixture(scope="module")
def pushrod() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        yield importlib.import_module("pushrod")


@pytest.fixture(scope="module")
def study(pushrod: ModuleType) -> Any:
    return pushrod.study(pushrod.Size(samples=80, seeds=3, cad_seeds=0))


def test_contributions_are_of_the_published_order(study: Any) -> None:
    assert 20 <= len(study.contributions["mean"].above(1.0)) <= 32  # published: 26
    small, large = (study.eliminated["T2", x][1] for x in (0.3, 0.5))
    assert 0.1 < small < large < 10  # published: 0.93 and 1.98


def test_elimination_is_that_of_the_columns(study: Any) -> None:
    # Equation (25), written out, for parameters whose contribution is computed from (23) here.
    r = study.case.motions["T2"]
    forces = r.W * study.case.values
    index = 100 * np.linalg.norm(forces, axis=(0, 1)) / np.linalg.norm(r.tau)
    gone = forces[..., index < 0.3].sum(axis=-1)
    error = 100 * np.abs(gone).sum() / np.abs(r.tau - r.tau.mean()).sum()
    assert study.eliminated["T2", 0.3][1] == pytest.approx(error, rel=1e-9)


@pytest.mark.parametrize("law", ["0", "τ"])
def test_model_1_fails_at_low_frequencies_and_model_2_does_not(
    pushrod: ModuleType, study: Any, law: str
) -> None:
    one, two = (study.cross[law, "T2", m] for m in (pushrod.ONE_RULE, pushrod.TWO))
    assert np.median(one[:, 0]) > 8.0
    assert np.median(two[:, 0]) < np.median(one[:, 0]) / 2
    assert max(np.median(one[:, 2]), np.median(two[:, 2])) < 2.0  # both are good at high ones


def test_no_imposed_rank_is_of_no_use_with_errors(pushrod: ModuleType, study: Any) -> None:
    assert study.cross["0", "T2", pushrod.ALL][0].max() < 0.1
    assert study.cross["τ", "T2", pushrod.ALL][:, 0].min() > 100.0


def test_weight_over_a_long_stroke_is_the_reason(pushrod: ModuleType, study: Any) -> None:
    long, short = pushrod.STROKES
    error = {key: models[pushrod.ONE_RULE] for key, models in study.reasons.items()}
    assert error[True, long] > 5 * max(error[True, short], error[False, long])


def test_page_and_figure(pushrod: ModuleType, study: Any) -> None:
    text = pushrod.page(study)
    assert "nan" not in text
    assert len(pushrod.figure(study).axes) == 3
    headings = re.findall(r"^#.*$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert re.findall(r"^#.*$", text, re.MULTILINE) == headings[:-1]  # no wrong CAD values here


def test_the_page_says_what_its_tables_say() -> None:
    rows = [line.split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines()]
    at = {(row[0], row[1]): row[2:] for row in rows if len(row) == 8 and row[0].startswith("| T")}
    one, two = (float(at["| T2", model][0]) for model in ("model 1, then σ", "model 2"))
    assert one > 5 * two
    noisy = [float(at["| T2", m][3].split()[0]) for m in ("model 1, then σ", "model 1", "model 2")]
    assert min(noisy[:2]) > 3 * noisy[2]
