"""A section of the page: a template and what fills it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Section:
    """A section of the page.

    Attributes
    ----------
    key : str
        Its place in the page, and the name of its template.
    title : str
    values : mapping
        What the template shows.
    missing : str
        Why there is nothing to show; then the template is not used.
    """

    key: str
    title: str
    values: Mapping[str, Any] = field(default_factory=dict)
    missing: str = ""
