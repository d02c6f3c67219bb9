"""The page shows the mechanism where the scene says it is, from one file, without a network."""

from __future__ import annotations

import base64
import json
import math
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import mechid.view
from mechid.mechanism.joint_kinds import JOINT_KINDS
from mechid.view.page import hosted_page, render_page

if TYPE_CHECKING:
    from ..conftest import OpenedPage, OpenPage

CRANK, ROD = 0.1, 0.3
IDENTITY = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]


def about_y(x: float, z: float, angle: float) -> list[float]:
    """Return the pose at (x, 0, z) that is turned by `angle` from x towards z."""
    return [x, 0.0, z, math.cos(angle / 2), 0.0, -math.sin(angle / 2), 0.0]


def crank_poses(angle: float) -> list[list[float]]:
    pin = (CRANK * math.cos(angle), CRANK * math.sin(angle))
    tilt = -math.asin(pin[1] / ROD)
    return [
        IDENTITY,
        about_y(0.0, 0.0, angle),
        about_y(*pin, tilt),
        about_y(pin[0] + ROD * math.cos(tilt), 0.0, 0.0),
    ]


def body(name: str, *points: list[float], **more: Any) -> dict[str, Any]:
    labels = [f"point {i}" for i in range(len(points))]
    return {
        "name": name,
        "points": list(points),
        "labels": labels,
        "color": None,
        "shape": None,
        **more,
    }


def joint(
    name: str, kind: str, carrier: int, point: list[float], axis: list[float]
) -> dict[str, Any]:
    return {
        "name": name, "kind": kind, "bodies": ["ground", "crank"], "body": carrier, "point": point,
        "axis": axis, "axis2": None, "body2": 0, "glyph": JOINT_KINDS[kind].glyph,
        "icon": JOINT_KINDS[kind].icon,
    }  # fmt: skip


def slider_crank(samples: int = 41) -> dict[str, Any]:
    """Return a slider-crank that turns once in 2 s, in the plane of x and z."""
    time = [2.0 * i / max(samples - 1, 1) for i in range(samples)]
    angles = [math.pi * t for t in time]
    piston = {"kind": "box", "center": [0.0, 0.0, 0.0], "size": [0.08, 0.05, 0.05]}
    return {
        "title": "Slider-crank",
        "subtitle": "one turn",
        "up": [0.0, 0.0, 1.0],
        "size": 0.4,
        "bodies": [
            body("ground", [0.0, 0.0, 0.0]),
            body("crank", [0.0, 0.0, 0.0], [CRANK, 0.0, 0.0]),
            body("rod", [0.0, 0.0, 0.0], [ROD, 0.0, 0.0]),
            body("piston", [0.0, 0.0, 0.0], shape=piston),
        ],
        "joints": [
            joint("main bearing", "revolute", 0, [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]),
            joint("crank pin", "revolute", 1, [CRANK, 0.0, 0.0], [0.0, 1.0, 0.0]),
            joint("piston pin", "revolute", 3, [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]),
            joint("guide", "prismatic", 3, [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]),
        ],
        "elements": [
            {"name": "return spring", "kind": "spring", "body_a": 3, "point_a": [0.04, 0.0, 0.0],
             "body_b": 0, "point_b": [0.6, 0.0, 0.0]},
        ],
        "motion": {
            "time": time,
            "poses": [crank_poses(angle) for angle in angles],
            "coordinates": [{"name": "crank angle", "unit": "rad", "values": angles}],
        },
        "traces": [{"name": "rod middle", "body": 2, "point": [ROD / 2, 0.0, 0.0]}],
    }  # fmt: skip


def glyphs() -> dict[str, Any]:
    """Return a still picture with every kind of joint, element, shape and body outline."""
    axis, other = [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]
    kinds = tuple(JOINT_KINDS)
    elements = ("spring", "damper", "spring_damper", "force", "moment", "torsion")
    shapes = [
        {"kind": "wheel", "center": [0.0, 0.0, 0.0], "axis": axis, "radius": 0.3, "width": 0.2},
        {"kind": "box", "center": [0.0, 0.0, 0.0], "size": [0.1, 0.2, 0.3]},
        {"kind": "cylinder", "from": [0.0, 0.0, 0.0], "to": [0.0, 0.0, 0.4], "radius": 0.1},
        {"kind": "sphere", "center": [0.0, 0.0, 0.0], "radius": 0.1},
    ]
    corners = [[0.0, 0.0, 0.0], [0.4, 0.0, 0.0], [0.0, 0.4, 0.0], [0.4, 0.4, 0.0], [0.0, 0.0, 0.4]]
    return {
        "title": "Glyphs",
        "subtitle": "",
        "up": [0.0, 0.0, 1.0],
        "size": 2.0,
        "bodies": [
            body("ground", *([0.4 * i, 0.0, 0.0] for i in range(len(kinds)))),
            body("all shapes", [0.0, 1.0, 0.0], shape=shapes),
            body("one shape", [0.0, 1.0, 0.0], shape=shapes[0]),
            body("nothing"),
            body("point", corners[0]),
            body("line", corners[0], [0.2, 0.0, 0.0], corners[1]),
            body("plate", *corners[:4]),
            body("block", *corners),
        ],
        "joints": [
            {**joint(kind, kind, 0, [0.4 * i, 0.0, 0.0], axis), "axis2": other, "body2": 1}
            for i, kind in enumerate(kinds)
        ]
        + [{**joint("ball", "spherical", 0, [0.0, 0.0, 0.0], axis), "axis": None}],
        "elements": [
            {"name": kind, "kind": kind, "body_a": 0, "point_a": [0.4 * i, 0.5, 0.0],
             "body_b": 4, "point_b": [0.4 * i, 0.5, height]}
            for i, kind in enumerate(elements)
            for height in (0.4, 0.0)
        ],
        "motion": {"time": [0.0], "poses": [[IDENTITY] * 8], "coordinates": []},
        "traces": [{"name": "path", "body": 1, "point": [0.0, 0.0, 0.0]}],
    }  # fmt: skip


class Reader(HTMLParser):
    """Collects what the tests ask about a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] == "script":
            self.scripts.append(data)


def save(tmp_path: Path, scene: dict[str, Any]) -> Path:
    path = tmp_path / "page.html"
    path.write_text(render_page(scene), encoding="utf-8")
    return path


def colours(opened: OpenedPage) -> int:
    """Return how many different colours the picture has, counted by the browser itself."""
    png = base64.b64encode(opened.page.locator("#canvas").screenshot()).decode()
    count: int = opened.page.evaluate(
        """async (png) => {
            const image = new Image();
            image.src = `data:image/png;base64,${png}`;
            await image.decode();
            const canvas = new OffscreenCanvas(image.width, image.height);
            const context = canvas.getContext("2d");
            context.drawImage(image, 0, 0);
            const pixels = context.getImageData(0, 0, image.width, image.height).data;
            return new Set(new Uint32Array(pixels.buffer)).size;
        }""",
        png,
    )
    return count


def point_at(opened: OpenedPage, point: list[float]) -> None:
    x, y = opened.page.evaluate("(point) => mechid.project(point)", point)
    opened.page.mouse.move(x, y)


# ---- the text of the page ----


def test_page_refers_to_nothing_outside_itself() -> None:
    text = render_page(slider_crank())
    for _, attributes in Reader(text).tags:
        for name in ("src", "href", "action", "data", "poster", "srcset"):
            assert (attributes.get(name) or "data:").startswith("data:")
    sources = [base64.b64decode(code).decode() for code in re.findall(r"base64,([\w+/=]+)", text)]
    assert len(sources) > 5
    for source in [text, *sources]:
        assert not re.search(r"(?:src|href)\s*=\s*[\"']?https?:", source)
        assert not re.search(r"(?:import|from)\s*\(?\s*[\"']https?:", source)
        assert not re.search(r"(?:fetch|open|url)\s*\(\s*[\"'`]?https?:", source)
        assert "@import" not in source


def test_page_has_language_title_and_named_controls() -> None:
    text = render_page({**slider_crank(), "title": 'A < B & "C"'})
    tags = Reader(text).tags
    assert text.startswith("<!doctype html>")
    assert ("html", {"lang": "en"}) in tags
    assert "<title>A &lt; B &amp; &quot;C&quot;</title>" in text
    controls = [attributes for tag, attributes in tags if tag in {"button", "input", "select"}]
    assert len(controls) >= 8
    assert all(attributes.get("aria-label") for attributes in controls)
    ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_scene_survives_embedding() -> None:
    scene = slider_crank()
    scene["bodies"][1]["name"] = "</script><!-- {{style}} &lt; \u2028"
    embedded = [json.loads(text) for text in Reader(render_page(scene)).scripts if text[:2] == '{"']
    assert embedded[0]["bodies"][1]["name"] == scene["bodies"][1]["name"]
    assert embedded[0]["motion"]["poses"][7][2] == pytest.approx(scene["motion"]["poses"][7][2])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda scene: scene["motion"].update(time=[]), "no samples"),
        (lambda scene: scene["motion"]["time"].append(2.5), "42 times but 41 poses"),
        (lambda scene: scene["motion"]["time"].__setitem__(3, 0.0), "do not increase"),
        (lambda scene: scene["motion"]["poses"][5].pop(), "sample 5 has 3 poses for 4 bodies"),
        (lambda scene: scene["motion"]["coordinates"][0]["values"].pop(), "'crank angle' has 40"),
        (lambda scene: scene["motion"]["poses"][5][2].__setitem__(0, math.nan), "not JSON"),
        (lambda scene: scene.update(size=0.0), "positive length"),
    ],
)
def test_scene_that_cannot_be_drawn_is_refused(change: Any, words: str) -> None:
    scene = slider_crank()
    change(scene)
    with pytest.raises(ValueError, match=words):
        render_page(scene)


# ---- the page in a browser ----


def test_page_draws_without_errors_or_requests(tmp_path: Path, open_page: OpenPage) -> None:
    path = save(tmp_path, slider_crank())
    opened = open_page(path, strict=True)
    assert opened.page.evaluate("mechid.ready")
    assert colours(opened) > 100
    assert opened.errors == []
    assert opened.requests == [path.as_uri()]


@pytest.mark.slow
def test_seek_moves_bodies_to_their_closed_form(tmp_path: Path, open_page: OpenPage) -> None:
    scene = slider_crank()
    page = open_page(save(tmp_path, scene)).page
    for sample in (0, 7, 25, 40):
        t = scene["motion"]["time"][sample]
        page.evaluate("(t) => mechid.seek(t)", t)
        angle = math.pi * t
        lift = CRANK * math.sin(angle)
        slide = CRANK * math.cos(angle) + math.sqrt(ROD**2 - lift**2)
        assert page.evaluate("mechid.frame()") == sample
        assert page.evaluate("mechid.bodyPosition('piston')") == pytest.approx(
            [slide, 0, 0], abs=1e-7
        )
        assert page.evaluate("mechid.bodyPosition('rod')") == pytest.approx(
            [CRANK * math.cos(angle), 0, lift], abs=1e-7
        )
        assert page.inner_text(".strip .value") == f"{angle:.4g}".ljust(5, "0") or t in {0.0, 2.0}


@pytest.mark.slow
def test_picture_changes_with_the_motion(tmp_path: Path, open_page: OpenPage) -> None:
    page = open_page(save(tmp_path, slider_crank())).page
    pictures = []
    for t in (0.0, 0.7, 0.0):
        page.evaluate("(t) => mechid.seek(t)", t)
        pictures.append(page.locator("#canvas").screenshot())
    assert pictures[0] == pictures[2] != pictures[1]


def test_poses_between_samples_turn_evenly(tmp_path: Path, open_page: OpenPage) -> None:
    page = open_page(save(tmp_path, slider_crank())).page
    half = math.sqrt(0.5)
    # A quarter turn about z; the sign of the second quaternion must not matter.
    for sign in (1.0, -1.0):
        poses = [[IDENTITY], [[3.0, 0.0, 0.0, sign * half, 0.0, 0.0, sign * half]]]
        place, turned = page.evaluate(
            """async (poses) => {
                const { Motion } = await import("mechid/motion");
                const { Group, Vector3 } = await import("three");
                const frame = new Group();
                new Motion({ time: [1, 4], poses }).apply(2, [frame]);
                const turned = new Vector3(1, 0, 0).applyQuaternion(frame.quaternion);
                return [frame.position.toArray(), turned.toArray()];
            }""",
            poses,
        )
        assert place == pytest.approx([1.0, 0.0, 0.0])
        assert turned == pytest.approx([math.cos(math.pi / 6), 0.5, 0.0])


@pytest.mark.slow
def test_page_plays_by_itself_where_motion_is_welcome(tmp_path: Path, open_page: OpenPage) -> None:
    path = save(tmp_path, slider_crank())
    open_page(path, autoplay=True).page.wait_for_function("mechid.frame() > 0")
    calm = open_page(path).page
    calm.wait_for_timeout(200)
    assert calm.evaluate("mechid.time()") == 0.0


@pytest.mark.slow
def test_play_pause_and_scrub(tmp_path: Path, open_page: OpenPage) -> None:
    page = open_page(save(tmp_path, slider_crank())).page
    page.evaluate("mechid.play()")
    page.wait_for_function("mechid.time() > 0.05 && mechid.frame() > 0")
    page.keyboard.press("Space")
    assert page.get_attribute("[name=play]", "aria-label") == "Play"
    stopped = page.evaluate("mechid.time()")
    page.wait_for_timeout(150)
    assert page.evaluate("mechid.time()") == stopped
    page.locator("[name=time]").fill("500")
    assert page.evaluate("mechid.time()") == pytest.approx(1.0)
    assert page.inner_text("output") == "1.00 / 2.00 s"
    page.click("[data-view=top]")
    page.keyboard.press("Space")
    assert page.get_attribute("[name=play]", "aria-label") == "Pause"


@pytest.mark.slow
def test_motion_ends_without_loop_and_starts_again_with_it(
    tmp_path: Path, open_page: OpenPage
) -> None:
    page = open_page(save(tmp_path, slider_crank())).page
    page.select_option("[name=speed]", "5")
    page.uncheck("[name=loop]")
    page.evaluate("mechid.seek(1.9); mechid.play()")
    page.wait_for_function("mechid.time() === 2")
    assert page.get_attribute("[name=play]", "aria-label") == "Play"
    page.check("[name=loop]")
    page.evaluate("mechid.seek(1.9); mechid.play()")
    page.wait_for_function("mechid.time() < 1")


@pytest.mark.slow
def test_hover_names_bodies_and_joints(tmp_path: Path, open_page: OpenPage) -> None:
    opened = open_page(save(tmp_path, slider_crank()))
    page = opened.page
    page.click("[data-view=side]")
    page.evaluate("mechid.seek(0.5)")
    tooltip = page.locator("#tooltip")
    pin = page.evaluate("mechid.bodyPosition('rod')")
    piston = page.evaluate("mechid.bodyPosition('piston')")
    point_at(opened, [(a + b) / 2 for a, b in zip(pin, piston, strict=True)])
    assert tooltip.inner_text().split("\n")[0] == "rod"
    point_at(opened, pin)
    assert "crank pin" in tooltip.inner_text()
    assert "revolute joint, ground – crank" in tooltip.inner_text()
    page.mouse.move(5, 400)
    assert not tooltip.is_visible()


@pytest.mark.slow
def test_legend_counts_and_hides(tmp_path: Path, open_page: OpenPage) -> None:
    opened = open_page(save(tmp_path, slider_crank()))
    page = opened.page
    rows = page.locator(".row").all_inner_texts()
    assert [" ".join(row.split()) for row in rows] == [
        "ground", "crank", "rod", "piston", "revolute 3", "prismatic 1", "spring 1", "rod middle",
    ]  # fmt: skip
    page.click("[data-view=side]")
    page.evaluate("mechid.seek(0.5)")
    pin, end = (page.evaluate(f"mechid.bodyPosition('{name}')") for name in ("rod", "piston"))
    row = page.locator(".row", has_text=re.compile("^rod$"))
    row.click()
    assert row.get_attribute("aria-pressed") == "false"
    point_at(opened, [0.7 * a + 0.3 * b for a, b in zip(pin, end, strict=True)])
    assert not page.locator("#tooltip").is_visible()


@pytest.mark.slow
def test_every_view_shows_the_whole_mechanism(tmp_path: Path, open_page: OpenPage) -> None:
    page = open_page(save(tmp_path, slider_crank())).page
    corners = [[-CRANK, 0, 0], [CRANK + ROD, 0, 0], [0, 0, CRANK], [0, 0, -CRANK]]
    for width, height in ((1000, 700), (1300, 500), (500, 800)):
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(100)
        for view in ("iso", "front", "side", "top", "fit"):
            page.click(f"[data-view={view}]")
            frame = page.locator("#canvas").bounding_box()
            assert frame is not None
            for corner in corners:
                x, y = page.evaluate("(point) => mechid.project(point)", corner)
                assert frame["x"] < x < frame["x"] + frame["width"]
                assert frame["y"] < y < frame["y"] + frame["height"]


X, Y, Z = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]
DOWN = [0.0, 0.0, -1.0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("up", "views"),
    [
        (Z, {"side": (X, Z), "front": (Y, Z), "top": (X, Y)}),
        (DOWN, {"side": (X, DOWN)}),
        (Y, {"side": (X, Y)}),
        (X, {"top": (Y, Z)}),
    ],
)
def test_views_follow_gravity(
    up: list[float],
    views: dict[str, tuple[list[float], list[float]]],
    tmp_path: Path,
    open_page: OpenPage,
) -> None:
    page = open_page(save(tmp_path, {**slider_crank(), "up": up})).page
    for view, (right, above) in views.items():
        page.click(f"[data-view={view}]")
        origin, along, over = (
            page.evaluate("(point) => mechid.project(point)", [0.05 * c for c in point])
            for point in ([0.0, 0.0, 0.0], right, above)
        )
        assert along[0] - origin[0] > 5
        assert along[1] == pytest.approx(origin[1], abs=1)
        assert origin[1] - over[1] > 5
        assert over[0] == pytest.approx(origin[0], abs=1)


@pytest.mark.slow
def test_strip_plot_seeks(tmp_path: Path, open_page: OpenPage) -> None:
    page = open_page(save(tmp_path, slider_crank())).page
    plot = page.locator(".plot").bounding_box()
    assert plot is not None
    page.mouse.click(plot["x"] + 0.25 * plot["width"], plot["y"] + 20)
    assert page.evaluate("mechid.time()") == pytest.approx(0.5, abs=0.01)
    assert page.inner_text(".strip .name") == "crank angle"
    assert page.inner_text(".strip .unit") == "rad"


@pytest.mark.slow
def test_single_sample_is_a_still_picture(tmp_path: Path, open_page: OpenPage) -> None:
    opened = open_page(save(tmp_path, slider_crank(samples=1)))
    assert colours(opened) > 100
    assert not opened.page.locator("#transport").is_visible()
    opened.page.evaluate("mechid.play()")
    opened.page.wait_for_timeout(100)
    assert opened.page.evaluate("mechid.frame()") == 0
    assert opened.page.evaluate("mechid.bodyPosition('piston')") == pytest.approx([0.4, 0, 0])
    assert opened.errors == []


@pytest.mark.slow
def test_every_kind_can_be_drawn(tmp_path: Path, open_page: OpenPage) -> None:
    opened = open_page(save(tmp_path, glyphs()))
    assert opened.errors == []
    assert opened.page.evaluate("mechid.ready")
    assert colours(opened) > 100
    assert not opened.page.locator("footer").is_visible()


@pytest.mark.slow
def test_names_are_text_and_never_markup(tmp_path: Path, open_page: OpenPage) -> None:
    name = """</script><img src=x onerror="window.broken = 1"> "quoted" & 'single' {{scene}}"""
    scene = slider_crank()
    scene["title"] = scene["subtitle"] = name
    scene["bodies"][2]["name"] = scene["joints"][1]["name"] = name
    scene["motion"]["coordinates"][0]["name"] = name
    opened = open_page(save(tmp_path, scene))
    assert opened.page.title() == name
    assert opened.page.inner_text("h1") == name
    assert opened.page.locator(".row .label").all_inner_texts()[2] == name
    opened.page.click("[data-view=side]")
    opened.page.evaluate("mechid.seek(0.5)")
    point_at(opened, opened.page.evaluate("(name) => mechid.bodyPosition(name)", name))
    assert opened.page.inner_text("#tooltip strong") == name
    assert opened.page.evaluate("window.broken") is None
    assert opened.errors == []


def test_page_says_when_there_is_no_webgl(tmp_path: Path, open_page: OpenPage) -> None:
    refuse = """
        const get = HTMLCanvasElement.prototype.getContext;
        HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
            return kind.startsWith("webgl") ? null : get.call(this, kind, ...rest);
        };
    """
    opened = open_page(save(tmp_path, slider_crank()), before=refuse)
    assert opened.page.locator("#message").is_visible()
    assert "WebGL" in opened.page.inner_text("#message")
    assert not opened.page.locator("footer").is_visible()
    assert not opened.page.evaluate("mechid.ready")


def test_page_says_what_went_wrong(tmp_path: Path, open_page: OpenPage) -> None:
    scene = slider_crank()
    scene["bodies"][3]["shape"] = {"kind": "teapot"}
    opened = open_page(save(tmp_path, scene))
    assert "unknown shape: teapot" in opened.page.inner_text("#message")
    assert "unknown shape: teapot" in opened.errors[0]


def test_hosted_page_names_files_that_are_there() -> None:
    page = hosted_page("/base")
    assert "{{" not in page
    found = re.search(r'<script type="importmap">(.*?)</script>', page)
    assert found is not None
    assets = Path(mechid.view.__file__).parent / "assets"
    for name, address in json.loads(found[1])["imports"].items():
        file = assets / address.removeprefix("/base/")
        assert file.is_file()
        assert name == "three" or name == f"mechid/{file.stem}"
    assert "script-src 'unsafe-inline' 'self';" in page
