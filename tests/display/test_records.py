"""Every public record: short as text, whole in a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import is_dataclass

import pytest

import mechid
from mechid.shown import Plotted, Shown, Tabular

RECORDS = [name for name in mechid.__all__ if is_dataclass(getattr(mechid, name))]


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("records"))
        yield


@pytest.mark.slow
@pytest.mark.parametrize("name", RECORDS)
def test_repr_is_short(name: str, examples: dict[str, object]) -> None:
    text = repr(examples[name])
    assert len(text.splitlines()) <= 10
    assert len(text) <= 1000
    assert "\n\n" not in text


@pytest.mark.slow
@pytest.mark.parametrize("name", RECORDS)
def test_what_shows_itself_does(name: str, examples: dict[str, object]) -> None:
    record = examples[name]
    if isinstance(record, Shown):
        text = record._repr_html_()
        assert text.startswith('<div class="mechid">')
        assert ("<img" in text) == isinstance(record, Plotted)
    if isinstance(record, Tabular):
        assert record.to_frame().shape[0] > 0
