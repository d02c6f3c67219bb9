"""Who is refused: no token, other hosts, other sites, paths and links out of the folder."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import h5py
import pytest
from httpx import AsyncClient, Client, Limits, Response

from mechid.studio.security import ALONE_POLICY, hashed_policy
from mechid.studio.state import Studio
from mechid.studio.worker import MOST_REQUESTS

READING = ("/", "/viewer", "/assets/studio/index.html", "/api/state", "/api/files", "/api/jobs",
           "/api/runs", "/api/file?path=linkage.yaml", "/api/download?path=linkage.yaml",
           "/api/schema")  # fmt: skip


@pytest.mark.parametrize("path", READING)
def test_nothing_without_the_cookie(stranger: Client, path: str) -> None:
    answer = stranger.get(path)
    assert answer.status_code == 403
    assert "four" not in answer.text


@pytest.mark.parametrize("token", ["", "wrong", "%00", "é" * 40])
def test_a_wrong_token_gives_no_cookie(stranger: Client, token: str) -> None:
    answer = stranger.get(f"/?token={token}")
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_the_cookie_is_for_the_server_only(stranger: Client, studio: Studio) -> None:
    answer = stranger.get(f"/?token={studio.keys.token}")
    words = answer.headers["set-cookie"].lower()
    assert "httponly" in words
    assert "samesite=strict" in words
    assert answer.headers["location"] == "/"  # the token does not stay in the address
    assert studio.keys.token not in answer.headers["set-cookie"]


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "[::1]:{port}", "",
                                  "evil.example:{port}", "localhost.evil:{port}"])  # fmt: skip
def test_other_names_of_the_host_are_refused(client: Client, studio: Studio, host: str) -> None:
    host = host.format(port=studio.port)
    assert client.get("/api/state", headers={"host": host}).status_code == 421
    entered = client.get(f"/?token={studio.keys.token}", headers={"host": host})
    assert entered.status_code == 421


def test_localhost_is_the_same_host(client: Client, studio: Studio) -> None:
    host = f"localhost:{studio.port}"
    answer = client.get(
        "/api/state", headers={"host": host, "cookie": f"mechid-studio-{studio.port}="
                               f"{studio.keys.session}"})  # fmt: skip
    assert answer.status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "https://127.0.0.1:{port}"},
        {"origin": "http://127.0.0.1:1{port}"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
        {"x-mechid": "0"},
    ],
)
def test_requests_of_other_pages_change_nothing(
    client: Client, studio: Studio, folder: Path, headers: dict[str, str]
) -> None:
    headers = {name: value.format(port=studio.port) for name, value in headers.items()}
    answer = client.put("/api/file?path=new.yaml", content="x", headers=headers)
    assert answer.status_code == 403
    assert not (folder / "new.yaml").exists()


def test_other_pages_read_nothing(client: Client) -> None:
    assert client.get("/api/state", headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert client.get("/api/state", headers={"origin": "http://a.example"}).status_code == 403
    assert "access-control-allow-origin" not in client.get("/api/state").headers


def test_own_requests_pass(client: Client, studio: Studio, folder: Path) -> None:
    own = {"origin": f"http://127.0.0.1:{studio.port}", "sec-fetch-site": "same-origin"}
    assert client.put("/api/file?path=new.yaml", content="x", headers=own).status_code == 200
    assert (folder / "new.yaml").read_text() == "x"


@pytest.mark.parametrize("path", ["/", "/api/state", "/nowhere", "/api/file?path=../secret.txt"])
def test_headers_of_every_answer(client: Client, path: str) -> None:
    headers = client.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    policy = headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'self'" in policy
    assert "unsafe" not in policy


def test_scripts_inside_pages_are_allowed_by_their_hash(client: Client) -> None:
    text = "let x = 1;"
    page = f"<style>p</style><script>{text}</script><script type='application/json'>2</script>"
    policy = hashed_policy(page)
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    assert f"script-src 'self' 'sha256-{digest}';" in f"{policy};"
    assert policy.count("sha256") == 2  # the style too, the data not
    assert "unsafe" not in client.get("/viewer").headers["content-security-policy"]


def test_pages_of_runs_reach_nothing() -> None:
    assert "default-src 'none'" in ALONE_POLICY
    assert "sandbox allow-scripts" in ALONE_POLICY
    assert "allow-same-origin" not in ALONE_POLICY


OUTSIDE = ("../secret.txt", "/etc/passwd", "sub/../../secret.txt", "..", "a/../b", "..\\secret.txt",
           "link", "way/secret.txt", ".hidden", ".mechid-studio/jobs", "sub/.git/config",
           "linkage.yaml\0.txt", "~/x/../..")  # fmt: skip


@pytest.fixture
def traps(folder: Path) -> None:
    (folder / "link").symlink_to(folder.parent / "secret.txt")
    (folder / "way").symlink_to(folder.parent)
    (folder / ".hidden").write_text("hidden")
    (folder / "sub").mkdir()


@pytest.mark.slow
@pytest.mark.usefixtures("traps")
@pytest.mark.parametrize("path", OUTSIDE)
def test_paths_stay_in_the_folder(client: Client, folder: Path, path: str) -> None:
    words = {"path": path}
    before = sorted(p for p in folder.parent.rglob("*"))
    answers = [
        client.get("/api/file", params=words),
        client.get("/api/download", params=words),
        client.get("/api/run/report", params=words),
        client.put("/api/file", params=words, content="x"),
        client.post("/api/upload", params=words, content=b"x"),
        client.post("/api/model/check", json=words),
        client.post("/api/model/check", json={"text": "mechid: 1", **words}),
        client.post("/api/log/inspect", json=words),
        client.post("/api/log/check", json={"path": "linkage.yaml", "model": path}),
        client.post("/api/run/compare", json={"paths": [path]}),
        client.post("/api/model/new", json={"from": "zoo:four_bar", "path": path}),
        client.post("/api/model/new", json={"from": f"import:{path}", "path": "n.yaml"}),
        client.post("/api/jobs", json={"command": "excite", "arguments": {"model": path}}),
        client.post("/api/jobs", json={"command": "excite", "arguments":
                                       {"model": "linkage.yaml", "output": path}}),
    ]  # fmt: skip
    assert [a.status_code for a in answers] == [403] * len(answers)
    assert all("secret" not in a.json()["error"].get("remedy", "") for a in answers)
    assert all("the secret" not in a.text for a in answers)
    assert (folder.parent / "secret.txt").read_text() == "the secret"
    assert sorted(p for p in folder.parent.rglob("*")) == before


@pytest.mark.usefixtures("traps")
def test_the_list_has_no_links_out_of_the_folder(client: Client, folder: Path) -> None:
    (folder / "again.yaml").symlink_to(folder / "linkage.yaml")
    (folder / "lost").symlink_to(folder / "nowhere")
    os.mkfifo(folder / "pipe.yaml")
    found = {entry["path"]: entry["kind"] for entry in client.get("/api/files").json()}
    assert found == {
        "linkage.yaml": "model", "again.yaml": "model", "sub": "folder", "pipe.yaml": "other",
    }  # fmt: skip


@pytest.mark.usefixtures("traps")
@pytest.mark.parametrize("name", ["../secret.txt", "link", "way/secret.txt", "/etc/passwd"])
def test_files_name_nothing_outside(client: Client, folder: Path, name: str) -> None:
    text = f"mechid: 1\ninclude: {name}\n"
    answer = client.post("/api/model/check", json={"text": text})
    (found,) = answer.json()["errors"]
    assert "outside the folder" in found["what"]
    (folder / "one.yaml").write_text("mechid: 1\ninclude: two.yaml\n")
    (folder / "two.yaml").write_text(text)
    job = {"command": "excite", "arguments": {"model": "one.yaml", "output": "o.yaml"}}
    assert "outside the folder" in client.post("/api/jobs", json=job).json()["error"]["what"]
    (folder / "t.yaml").write_text(
        f"trajectory: 1\ncoordinates: {{q1: {{sum: [{{table: {{file: {name}}}}}]}}}}\n"
    )
    job = {"command": "synthesise", "arguments": {"model": "linkage.yaml", "trajectory": "t.yaml",
                                                  "output": "o.csv"}}  # fmt: skip
    assert "outside the folder" in client.post("/api/jobs", json=job).json()["error"]["what"]
    words = {"path": "linkage.yaml", "motion": "t.yaml"}
    answer = client.post("/api/model/scene", json=words)
    assert "outside the folder" in answer.json()["error"]["what"]
    assert client.get("/api/jobs").json() == []


NAMES = ("-o", "a\nb", "a|b", "a\x1bb", "con:1", "a<b>", 'a"b', " a", "a ", "a.", "a/-b", "a//b",
         "x" * 201, "\u202ea")  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_odd_names_are_not_written(client: Client, folder: Path, name: str) -> None:
    answers = [
        client.post("/api/upload", params={"path": name}, content=b"x"),
        client.put("/api/file", params={"path": name}, content=b"x"),
    ]
    assert [a.status_code for a in answers] == [422, 422]
    assert [p.name for p in folder.iterdir() if p.is_file()] == ["linkage.yaml"]


@pytest.mark.slow
def test_modules_of_the_folder_are_not_run(client: Client, folder: Path) -> None:
    mark = folder.parent / "was_run"
    for name in ("numpy.py", "json.py", "sitecustomize.py", "mechid.py"):
        (folder / name).write_text(f"open({str(mark)!r}, 'w')")
    assert client.post("/api/model/check", json={"path": "linkage.yaml"}).json()["ok"]
    job = {"command": "fill", "arguments": {"model": "linkage.yaml", "table": "linkage.yaml"}}
    name = client.post("/api/jobs", json=job).json()["id"]
    client.get(f"/api/jobs/{name}/events")  # to the end
    assert client.get(f"/api/jobs/{name}").json()["code"] == 2  # the table is none
    assert not mark.exists()


def test_other_bodies_are_refused(client: Client) -> None:
    assert client.post("/api/model/check", content="{}").status_code == 415
    headers = {"content-type": "application/json"}
    for text in ("", "[1]", "{", "[" * 100_000, '{"text": ' + "9" * 5000 + "}"):
        answer = client.post("/api/model/check", content=text, headers=headers)
        assert answer.status_code in (400, 422), text[:20]
    large = client.post("/api/model/check", content=" " * (9 * 2**20), headers=headers)
    assert large.status_code == 413


ODD = ("NaN", "Infinity", "-Infinity", "1e400", "9" * 400, '"\\ud800"', '{"\\ud800": 1}')
BODIES = {
    "/api/model/check": '{"text": %s}',
    "/api/model/scene": '{"path": "linkage.yaml", "motion": %s}',
    "/api/model/pose": '{"path": "linkage.yaml", "coordinates": {"q1": %s}}',
    "/api/model/pose?": '{"path": "linkage.yaml", "coordinates": {}, "from": [0, 0, %s]}',
    "/api/model/sweep": '{"path": %s}',
    "/api/model/limits": '{"text": %s}',
    "/api/model/base": '{"path": "linkage.yaml", "text": %s}',
    "/api/model/new": '{"from": %s, "path": "new.yaml"}',
    "/api/log/inspect": '{"path": %s}',
    "/api/log/mapping": '{"path": "linkage.yaml", "model": %s}',
    "/api/log/check": '{"path": "linkage.yaml", "model": "linkage.yaml", "mapping": {"time": %s}}',
    "/api/run/compare": '{"paths": [%s]}',
    "/api/jobs": '{"command": "excite", "arguments": {"model": "linkage.yaml", "seed": %s}}',
}


@pytest.mark.slow
@pytest.mark.parametrize("value", ODD, ids=lambda value: value[:10])
def test_numbers_and_texts_that_json_cannot_hold_are_refused(client: Client, value: str) -> None:
    headers = {"content-type": "application/json"}
    for path, body in BODIES.items():
        answer = client.post(path, content=body % value, headers=headers)
        assert answer.status_code == 400, path
        words = "half a surrogate pair" if "ud800" in value else "is not JSON: Out of range"
        assert words in answer.json()["error"]["what"]
    assert client.get("/api/jobs").json() == []


LONG = ("x" * 300, "x" * 5000, "a/" * 3000 + "b", "linkage.yaml@" + "x" * 5000, "zoo:" + "x" * 5000)


@pytest.mark.slow
@pytest.mark.parametrize("path", LONG, ids=lambda path: f"{path[:14]}-{len(path)}")
def test_paths_that_no_system_takes_are_refused(client: Client, folder: Path, path: str) -> None:
    words = {"path": path}
    job = {"command": "excite", "arguments": {"model": path}}
    output = {"command": "excite", "arguments": {"model": "linkage.yaml", "output": path}}
    answers = [
        client.get("/api/file", params=words),
        client.get("/api/download", params=words),
        client.get("/api/run/report", params=words),
        client.get("/api/run/verdict", params=words),
        client.get(f"/assets/studio/{path}"),
        client.put("/api/file", params=words, content="x"),
        client.post("/api/upload", params=words, content=b"x"),
        client.post("/api/model/check", json=words),
        client.post("/api/model/scene", json={"path": "linkage.yaml", "motion": path}),
        client.post("/api/log/inspect", json=words),
        client.post("/api/log/check", json={"path": "linkage.yaml", "model": path}),
        client.post("/api/run/compare", json={"paths": [path]}),
        client.post("/api/model/new", json={"from": "zoo:four_bar", "path": path}),
        client.post("/api/model/new", json={"from": f"import:{path}", "path": "n.yaml"}),
        client.post("/api/jobs", json=job),
        client.post("/api/jobs", json=output),
    ]
    assert {a.status_code for a in answers} <= {404, 422}
    assert all(0 < len(a.json()["error"]["what"]) < 2000 for a in answers)
    assert [p.name for p in folder.iterdir()] == ["linkage.yaml"]


def test_names_that_are_no_text_are_not_in_the_list(client: Client, folder: Path) -> None:
    (folder / os.fsdecode(b"\xff.csv")).touch()
    (folder / "é\u202f.csv").touch()
    found = {entry["path"] for entry in client.get("/api/files").json()}
    assert found == {"linkage.yaml", "é\u202f.csv"}


def test_other_protocols_are_refused(client: Client) -> None:
    headers = {
        "connection": "Upgrade",
        "upgrade": "websocket",
        "sec-websocket-key": base64.b64encode(bytes(16)).decode(),
        "sec-websocket-version": "13",
    }
    assert client.get("/api/state", headers=headers).status_code == 403
    assert client.get("/", headers=headers).status_code == 403
    assert client.get("/api/state").status_code == 200


@pytest.mark.slow
def test_a_log_does_not_show_other_files(client: Client, folder: Path) -> None:
    secret = folder.parent / "secret.h5"
    with h5py.File(secret, "w") as file:
        file["s"] = [424242.0, 1.0, 2.0]
    with h5py.File(folder / "log.h5", "w") as file:
        layout = h5py.VirtualLayout((3,), float)
        layout[:] = h5py.VirtualSource(secret, "s", (3,))
        file.create_virtual_dataset("x", layout)
    answer = client.post("/api/log/inspect", json={"path": "log.h5"})
    assert answer.status_code == 422
    assert "lies in another file" in answer.json()["error"]["what"]
    assert "424242" not in answer.text


def test_a_flood_of_checks_leaves_room_for_the_rest(studio: Studio, client: Client) -> None:
    """While one process is kept busy, its requests are few and the other ones are answered."""
    body = {"path": "linkage.yaml"}
    assert client.post("/api/model/check", json=body).json()["ok"]
    busy = studio.quick._process
    assert busy is not None

    async def flood() -> tuple[list[Response], list[Response]]:
        async with AsyncClient(
            base_url=client.base_url,
            headers=client.headers,
            cookies=client.cookies,
            limits=Limits(),
            timeout=60,
        ) as many:
            ask = many.post
            waiting = {
                asyncio.ensure_future(ask("/api/model/check", json=body))
                for _ in range(4 * MOST_REQUESTS)
            }
            refused: list[Response] = []
            while len(refused) < 3 * MOST_REQUESTS:
                done, waiting = await asyncio.wait(
                    waiting, timeout=30, return_when=asyncio.FIRST_COMPLETED
                )
                assert done, "some wait that should have been refused"
                refused += [task.result() for task in done]
            others = await asyncio.gather(
                ask("/api/model/limits", json=body), many.get("/api/files"), many.get("/api/jobs")
            )
            assert [answer.status_code for answer in others] == [200, 200, 200]
            os.kill(busy.pid, signal.SIGCONT)
            return refused, await asyncio.gather(*waiting)

    os.kill(busy.pid, signal.SIGSTOP)
    try:
        with ThreadPoolExecutor(1) as pool:
            refused, answered = pool.submit(lambda: asyncio.run(flood())).result()
    finally:
        os.kill(busy.pid, signal.SIGCONT)
    assert {answer.status_code for answer in refused} == {503}
    error = refused[0].json()["error"]
    assert error["what"] == f"the studio is busy with {MOST_REQUESTS} requests"
    assert error["remedy"] == "try again"
    assert [answer.json()["ok"] for answer in answered] == [True] * MOST_REQUESTS


def test_strings_come_back_as_data(client: Client, folder: Path) -> None:
    (folder / "<img src=x onerror=alert(1)>.csv").write_text("<script>,b\n1,2\n2,3\n")
    files = client.get("/api/files")
    assert files.headers["content-type"] == "application/json"
    shown = client.get("/api/download", params={"path": "<img src=x onerror=alert(1)>.csv"})
    assert shown.headers["content-disposition"].startswith("attachment")
    assert shown.headers["content-type"] == "application/octet-stream"
