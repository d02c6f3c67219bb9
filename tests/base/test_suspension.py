"""The suspension against its source: tables, annex, slips, and the page that lists them."""

from __future__ import annotations

from functools import cache

import pytest

from mechid.base.baseset import BaseSet, base_set
from mechid.base.choose import as_listed

from .cases import SUSPENSION, null_of
from .comparison import differences, printed_matrix, published_factors
from .page import PAGE, REMARKS, error, observed, page
from .published import T1, T2


@cache
def chosen(name: str) -> BaseSet:
    null = null_of(SUSPENSION)
    listed = {s.name: s.dependent for s in null.geometry.mechanism.base_sets}
    return base_set(null, as_listed(null, listed[name]))


def test_counts_of_the_source() -> None:
    t1 = chosen("T1")
    assert len(t1.without_effect) == 35
    assert len(t1.dependent) == 32
    assert t1.rank == 83
    null = null_of("sla_suspension@struts")
    assert base_set(null, as_listed(null, t1.dependent)).rank == 87


@pytest.mark.parametrize(("name", "printed"), [("T1", T1), ("T2", T2)])
def test_entries_have_the_heads_of_the_base_set(name: str, printed: dict[int, str]) -> None:
    t = chosen(name)
    assert set(published_factors(t, printed)) == set(t.base)


def test_annex_a_agrees_symbol_by_symbol() -> None:
    assert differences(chosen("T2"), T2) == []


def test_differences_from_table_5_3_are_the_known_slips() -> None:
    found = {(d.entry, d.parameter) for d in differences(chosen("T1"), T1)}
    assert found == {
        (1, "m_7"),
        (5, "m_7"),
        (8, "m_7"),
        (9, "Izz_5"),
        (9, "m_7"),
        (10, "m_5"),
        (12, "Izz_5"),
        (12, "m_7"),
        (47, "Iyy_9"),
        (47, "Iyy_10"),
        (51, "Izz_13"),
        (54, "Izz_13"),
    }
    assert {entry for entry, _ in found} == set(REMARKS)


def test_printed_entries_predict_other_forces_ours_the_same() -> None:
    t1, t2 = chosen("T1"), chosen("T2")
    W, phi = observed(t1.null_space)
    assert error(t1, t1.matrix, W, phi) < 1e-12
    annex = published_factors(t2, T2)
    assert error(t2, printed_matrix(t2, annex), W, phi) < 1e-12
    table = published_factors(t1, T1)
    for entry in T1:
        off = error(t1, printed_matrix(t1, table, only=entry), W, phi)
        assert off > 1e-5 if entry in REMARKS else off < 1e-12


def test_page_is_what_the_program_finds() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()
