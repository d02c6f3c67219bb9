"""A model file of mechid with the identified values as CAD values."""

from __future__ import annotations

from mechid.exporting.content import Content, Exported, check_whole
from mechid.modelfile.api import dumps


def model(content: Content, allow_loss: bool = False) -> Exported:
    """Return a model file; nothing is lost."""
    check_whole(content, "a model file", (), allow_loss)
    lines = (f"{content.mechanism.name}: {content.origin}", *content.notes)
    text = "".join(f"# {line}\n" for line in lines) + dumps(content.mechanism)
    return Exported("model", text.encode())
