"""What generated code of every language has in common: functions, names, numbers, guards."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from mechid.dynamics.compile import DynamicModel, dynamic_model
from mechid.dynamics.regressor import cad_parameters
from mechid.dynamics.timed_loads import timed_loads
from mechid.errors import DataError, ModelError
from mechid.exporting.content import Content, check_whole, states_alone
from mechid.exporting.measured import record_fit, record_fit_rates
from mechid.exporting.recorded import Function, Recorded
from mechid.kinematics.kernels import closure, follow
from mechid.mechanism.records import force_unit
from mechid.tape.number import RecordingError

if TYPE_CHECKING:
    from jinja2 import Environment

# Guards of the closure, those of `kinematics.kernels`; a call makes a bounded number of steps.
LIMITS: Mapping[str, float] = {
    "most_steps": 100,
    "most_corrections": 10,
    "most_fits": 20,
    "last_step": closure.LAST_STEP,
    "closed": closure.CLOSED,
    "singular": closure.SINGULAR_RATIO,
    "longest": follow.LONGEST_PREDICTION,
    "trusted_part": follow.TRUSTED_PART,
    "trusted_size": follow.TRUSTED_SIZE,
    "shortest_part": follow.SHORTEST_PART,
    "shortest_step": 2.0 * follow.SHORTEST_STEP,
    "weak": 1e-3,  # as `signals.project`: errors come out a thousand times larger
}


@dataclass(frozen=True, eq=False)
class Code:
    """Functions to be written in some language, and what is said with them.

    Attributes
    ----------
    content : Content
    recorded : Recorded
    functions : mapping of str to Function
        By the names that the templates call them.
    words : mapping
        What the templates fill in.
    left_out : tuple of str
    """

    content: Content
    recorded: Recorded
    functions: Mapping[str, Function]
    words: Mapping[str, Any]
    left_out: tuple[str, ...]


def code_of(content: Content, allow_loss: bool = False, motion: bool = False) -> Code:
    """Record what is exported of a mechanism; `motion` adds M and h of M ÿ + h = τ.

    Raises
    ------
    ModelError
        If values are missing, loads depend on time, or the closure cannot be recorded.
    DataError
        If the measured quantities do not determine the coordinates.
    """
    mechanism = content.mechanism
    late = (e.name for e in mechanism.elements if e.history is not None)
    left_out = (
        *(f"{name} (load over time)" for name in late),
        *states_alone(mechanism),
    )
    check_whole(content, "generated code", left_out, allow_loss)
    assert timed_loads(mechanism) is None or left_out
    model = dynamic_model(mechanism)
    recorded = Recorded(model)
    try:
        functions = _functions(content, recorded)
        if motion:
            functions["equations"] = recorded.motion
    except RecordingError as error:
        raise ModelError(
            f"no code can be generated: {error}",
            where=mechanism.name,
            remedy="choose a reference pose that is not singular, or a smaller model",
        ) from None
    words = _words(content, model) | {
        "closes": "correct" in functions,
        "signs": recorded.signs,
        "n_step": functions["tangent"].arrays["step"].size if "tangent" in functions else 0,
        "motion": motion,
    }
    return Code(content, recorded, functions, words, left_out)


def _functions(content: Content, recorded: Recorded) -> dict[str, Function]:
    found = {"inverse": recorded.forces}
    if recorded.correct is None:
        found["place"] = recorded.place
    else:
        found |= {"tangent": recorded.tangent, "correct": recorded.correct}
    if content.measured:
        n, m = recorded.model.kinematics.n_independent, len(content.measured)
        if m < n:
            names = ", ".join(c.name for c in content.mechanism.coordinates)
            raise DataError(
                f"{m} measured quantities do not determine {n} coordinates ({names})",
                remedy="measure more joints, points or distances",
            )
        found["fit"] = record_fit(recorded.model, content.measured)
        found["fit_rates"] = record_fit_rates(recorded.model, content.measured)
    return found


def _words(content: Content, model: DynamicModel) -> dict[str, Any]:
    mechanism, name = content.mechanism, identifier(content.file_name or content.mechanism.name)
    k = model.kinematics
    return {
        "name": name,
        "NAME": name.upper(),
        "title": _plain(mechanism.title or mechanism.name)[0],
        "about": _plain(f"Values: {content.origin}", *content.notes),
        "coordinates": _plain(
            *(
                f"{c.name} ({c.unit}), force {c.force} ({force_unit(c)})"
                for c in mechanism.coordinates
            )
        ),
        "quantities": _plain(*(f"{c.name} ({c.unit})" for c in content.measured)),
        "n": k.n_independent,
        "n_q": k.compiled.n_q,
        "p": len(model.columns),
        "home_q": [repr(float(x)) for x in k.home_q],
        "home_y": [repr(float(x)) for x in k.home_y],
        "parameters": _parameters(content, model),
        "limits": LIMITS,
    }


def _parameters(content: Content, model: DynamicModel) -> list[dict[str, str]]:
    rows = []
    phi = cad_parameters(model).tolist()
    sigma = content.sigma or (0.0,) * len(phi)
    for column, value, s in zip(model.columns, phi, sigma, strict=True):
        spread = f", standard deviation {s:.4g}" if s else ""
        comment = f"{column.name} of {column.owner} ({column.unit}){spread}"
        (told,) = _plain(comment)
        rows.append({"name": _plain(column.name)[0], "number": repr(float(value)), "comment": told})
    return rows


def identifier(name: str) -> str:
    """Return a name that C, Python and MATLAB accept."""
    plain = re.sub(r"\W", "_", name, flags=re.ASCII)[:50]
    fine = plain[:1].isalpha() and not keyword.iskeyword(plain) and plain not in _TAKEN
    return plain if fine else f"m_{plain}"


_TAKEN = frozenset(
    (
        *("auto", "case", "catch", "char", "const", "default", "do", "double", "end", "enum"),
        *("extern", "float", "function", "goto", "inline", "int", "long", "main", "math", "new"),
        *("numpy", "otherwise", "register", "restrict", "short", "signed", "sizeof", "static"),
        *("struct", "switch", "this", "typedef", "union", "unsigned", "void", "volatile"),
    )
)


def _plain(*lines: str) -> list[str]:
    """Return text that cannot end a comment or a string."""
    return [re.sub(r'\s+|["\\`]', " ", re.sub(r"(?<=[*/])(?=[*/])", " ", x)).strip() for x in lines]


def render(template: str, **words: Any) -> str:
    """Return the text of a template."""
    return _environment().get_template(template).render(words)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("mechid.exporting"),
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
