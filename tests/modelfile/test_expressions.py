from __future__ import annotations

import ast
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechid.errors import ModelError
from mechid.modelfile import algebra, build
from mechid.textfile.expressions import (
    evaluate,
    evaluate_text,
    is_constant,
    names,
    parse,
    text_of,
)

VALUES = {"a": 0.3, "b": -2.0, "l7": 0.22}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-5", 1e-5),
        ("-l7/2", -0.11),
        ("7/4", 1.75),
        ("2**3", 8.0),
        ("30 deg", math.pi / 6),
        ("-90 deg", -math.pi / 2),
        ("0.5 rad", 0.5),
        ("1.5deg", math.pi / 120),
        ("(a + 90) deg", math.radians(90.3)),
        ("a deg", math.radians(0.3)),
        ("a + 30 deg", 0.3 + math.pi / 6),
        ("2*(15 deg)", math.pi / 6),
        ("l7*sin(30 deg)", 0.11),
        ("cos(90 deg)", 0.0),
        ("sin(30 deg) rad", 0.5),
        ("abs(cos(60 deg))*90 deg", math.pi / 4),
        ("sin(pi)", 0.0),
        ("atan2(1, -1)", 3 * math.pi / 4),
        ("sqrt(abs(b) + 2)", 2.0),
        ("asin(1) + acos(1) + atan(1) + tan(0)", 3 * math.pi / 4),
        ("+a - -a", 0.6),
        ("pi", math.pi),
    ],
)
def test_value(text: str, value: float) -> None:
    assert evaluate(parse(text), VALUES) == pytest.approx(value, rel=1e-15, abs=1e-300)


def test_numbers_keep_their_text() -> None:
    assert [text_of(parse(x)) for x in (0, 2, 0.25, -0.02, 1e-5)] == [
        "0",
        "2",
        "0.25",
        "-0.02",
        "1e-05",
    ]
    assert text_of(parse(" -l7/2 ")) == "-l7 / 2"
    assert text_of(parse("30 deg")) == "30 * pi / 180"
    assert is_constant("-0.5")
    assert not is_constant("1/2")


def test_small_sines_are_not_rounding() -> None:
    assert evaluate(parse(1e-300), {}) == 1e-300
    assert evaluate(parse("sin(1e-20)"), {}) == 1e-20


@pytest.mark.parametrize(
    "text", ["", "a b", "a[0]", "a.b", "'x'", "1 if a else 2", "a < 1", "f(1)"]
)
def test_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected|cannot read|not an expression|unit|unknown"):
        parse(text)


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(ValueError, match=r"nested|cannot read"):
        parse("-" * 100_000 + "1")


def mechanism(parameters: dict[str, object]) -> object:
    return build(
        name="m",
        parameters=parameters,
        bodies={"b": {}},
        joints={"j": {"type": "free", "between": ["ground", "b"]}},
    )


def test_parameters_depend_on_one_another() -> None:
    m = build(
        name="m",
        parameters={
            "a": "2*b",
            "b": {"value": "c + 1", "unit": "m", "source": "guess"},
            "c": 0.5,
            "angle": "40 deg",
        },
        bodies={"body": {}},
        joints={"j": {"type": "free", "between": ["ground", "body"]}},
    )
    a, b, c, angle = m.parameters
    assert (a.value, b.value, c.value) == (3.0, 1.5, 0.5)
    assert (a.expr, b.expr, c.expr) == ("2 * b", "c + 1", None)
    assert (b.unit, b.source, angle.unit) == ("m", "guess", "rad")
    assert angle.value == pytest.approx(2 * math.pi / 9, rel=1e-15)


def test_error_without_a_file_names_the_entry() -> None:
    with pytest.raises(
        ModelError, match=r"^parameters\.a: there is no parameter x; choose one of: a$"
    ):
        mechanism({"a": "x"})


numbers = st.floats(-10, 10, allow_nan=False).map(lambda x: round(x, 3))
trees = st.recursive(
    st.one_of(
        numbers.map(lambda x: text_of(parse(x))), st.sampled_from(["a", "b", "l7", "0", "1"])
    ),
    lambda inner: st.one_of(
        st.builds(algebra.add, inner, inner),
        st.builds(algebra.subtract, inner, inner),
        st.builds(algebra.multiply, inner, inner),
        st.builds(algebra.negate, inner),
    ),
    max_leaves=8,
)


@pytest.mark.slow
@given(trees, trees)
def test_algebra_agrees_with_arithmetic(p: str, q: str) -> None:
    x, y = evaluate_text(p, VALUES), evaluate_text(q, VALUES)
    size = 1 + abs(x) + abs(y) + abs(x * y)
    close = {"rel": 1e-12, "abs": 1e-9 * size}
    assert evaluate_text(algebra.add(p, q), VALUES) == pytest.approx(x + y, **close)
    assert evaluate_text(algebra.subtract(p, q), VALUES) == pytest.approx(x - y, **close)
    assert evaluate_text(algebra.multiply(p, q), VALUES) == pytest.approx(x * y, **close)
    assert evaluate_text(algebra.negate(p), VALUES) == pytest.approx(-x, **close)


@given(trees)
def test_normal_form_is_stable(p: str) -> None:
    assert text_of(parse(p)) == p


@pytest.mark.parametrize("quarter", range(-5, 6))
def test_right_angles_are_exact(quarter: int) -> None:
    angle = text_of(parse(f"{90 * quarter} deg"))
    assert algebra.cosine(angle) == str(round(math.cos(quarter * math.pi / 2)))
    assert algebra.sine(angle) == str(round(math.sin(quarter * math.pi / 2)))


@pytest.mark.parametrize("angle", ["a", "-a", "30 * pi / 180", "0.3", "2 * pi / a", "pi / 0.5"])
def test_sine_and_cosine(angle: str) -> None:
    value = evaluate_text(angle, VALUES)
    assert evaluate_text(algebra.cosine(angle), VALUES) == pytest.approx(math.cos(value), abs=1e-15)
    assert evaluate_text(algebra.sine(angle), VALUES) == pytest.approx(math.sin(value), abs=1e-15)


@pytest.mark.parametrize(
    ("left", "right", "difference"),
    [("l", "l", "0"), ("l", "0", "l"), ("0", "l", "-l"), ("0.3", "-0.1", "0.3 + 0.1")],
)
def test_differences_are_tidy(left: str, right: str, difference: str) -> None:
    assert algebra.subtract(left, right) == difference


@pytest.mark.parametrize(
    "text",
    ["1" * 3999 + "x", "1" * 3900 + " " * 90 + "de", "+".join(["a"] * 400), "-" * 3000 + "1",
     "1" * 100_000 + "x", "(" * 3000],
)  # fmt: skip
def test_long_texts_end_soon(text: str) -> None:
    with pytest.raises(ValueError, match=r".") as error:
        parse(text)
    assert type(error.value) is ValueError


def test_a_sum_of_many_terms() -> None:
    assert evaluate(parse("+".join(["a"] * 90)), {"a": 2.0}) == 180.0


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers())
def test_numbers_are_written_as_python_writes_them(number: float) -> None:
    for tree in (parse(number), parse(repr(number))):
        assert text_of(tree) == ast.unparse(tree)
        assert names(tree) == set()
