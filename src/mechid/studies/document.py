"""The study file as Pydantic models."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from mechid.errors import ModelError
from mechid.textfile.parse import parsed, schema_of
from mechid.textfile.words import Name, Words

_AXIS = (
    "a list of values of the setting of this name; or label: {setting: value, …}, which sets "
    "several; or {from: 0, count: n} for whole numbers"
)


class QuickSpec(Words):
    """What is different in the quick size of a study."""

    settings: dict[str, Any] = Field(default={}, description="merged over the settings")
    axes: dict[str, Any] = Field(
        default={}, description="replace axes; a list selects labels of a labelled axis"
    )


class PartSpec(Words):
    """A grid of cells of one experiment, which gives one table."""

    experiment: str = Field(description="what a cell computes")
    settings: dict[str, Any] = Field(default={}, description="the same for all cells")
    axes: dict[Name, Any] = Field(default={}, description=_AXIS)
    zip: list[list[str]] = Field(default=[], description="axes that go together")
    exclude: list[dict[str, Any]] = Field(
        default=[], description="cells left out: axis → value, or list of values"
    )
    quick: QuickSpec = Field(default=QuickSpec(), description="a small size, for a first look")


class StudyDocument(Words):
    """A study: grids of experiments. With one part, its keys may stand at the top level."""

    title: str = ""
    about: str = Field(default="", description="what is asked")
    published: dict[str, Any] = Field(
        default={}, description="published figures to compare with, for the page"
    )
    parts: dict[Name, PartSpec] = Field(default={}, description="name → grid")
    experiment: str | None = None
    settings: dict[str, Any] = Field(default={})
    axes: dict[Name, Any] = Field(default={}, description=_AXIS)
    zip: list[list[str]] = Field(default=[])
    exclude: list[dict[str, Any]] = Field(default=[])
    quick: QuickSpec = QuickSpec()

    @model_validator(mode="after")
    def _one_or_several(self) -> StudyDocument:
        own = sorted(self.model_fields_set & set(PartSpec.model_fields))
        if self.parts and own:
            raise ValueError(f"{own[0]} beside parts; put it into one of the parts")
        if not self.parts and self.experiment is None:
            raise ValueError("experiment is missing; add it, or parts")
        return self


def validate_study(data: dict[str, Any]) -> StudyDocument:
    """Return the document of plain data; the first mistake becomes a `ModelError`."""
    for key, what in (("mechid", "model"), ("trajectory", "trajectory")):
        if key in data:
            raise ModelError(f"this is a {what} file", path=(key,), remedy="give a study file")
    return parsed(StudyDocument, data)


def study_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the study file."""
    from mechid.studies.registry import EXPERIMENTS

    schema = schema_of(StudyDocument, "mechid study file")
    schema["$defs"]["PartSpec"]["properties"]["experiment"]["enum"] = list(EXPERIMENTS)
    return schema
