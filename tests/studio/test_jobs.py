"""Jobs: real processes that outlive the page and the server, and that can be stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest

from mechid.runs.folder import load_run
from mechid.runs.verdict import verdict as load_verdict
from mechid.studio.folder import Folder
from mechid.studio.jobs import Jobs
from mechid.trajectoryfile.api import load_trajectory

LONG = {"model": "linkage.yaml", "random": 1_000_000, "starts": 0, "output": "motion.yaml"}
SWING = """trajectory: 1
duration: 1.0
coordinates:
  angle: {fourier: {frequency: 1.0, offset: 0.3, a: [2.0, 1.0], b: [0.5, -1.0]}}
"""
_SECONDS = 90.0  # on a busy machine


def until(happened: Callable[[], Any]) -> Any:
    """Return what a function returns as soon as that is true."""
    end = time.monotonic() + _SECONDS
    while time.monotonic() < end:
        if found := happened():
            return found
        time.sleep(0.1)
    raise AssertionError("nothing happened")


@contextmanager
def server(folder: Path) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    """The command as a user runs it, and a browser that opened its address."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", "from mechid.cli import main; main()", "studio", str(folder),
         "--no-browser", "--json"],
        stdout=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        address = json.loads(process.stdout.readline())["address"]
        with httpx.Client(
            base_url=address.partition("/?")[0], headers={"x-mechid": "1"}, timeout=_SECONDS
        ) as client:
            assert client.get(address).status_code == 303
            yield process, client
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def started(client: httpx.Client, command: str, arguments: dict[str, Any]) -> str:
    answer = client.post("/api/jobs", json={"command": command, "arguments": arguments})
    assert answer.status_code == 201, answer.text
    name: str = answer.json()["id"]
    return name


@pytest.mark.slow
def test_a_job_outlives_the_server(folder: Path) -> None:
    with server(folder) as (process, client):
        name = started(client, "excite", LONG)
        until((folder / ".mechid-studio/jobs" / name / "progress.jsonl").exists)
        process.send_signal(signal.SIGKILL)
        process.wait()
    progress = folder / ".mechid-studio/jobs" / name / "progress.jsonl"
    size = progress.stat().st_size
    until(lambda: progress.stat().st_size > size)  # it goes on

    with server(folder) as (_, client), httpx.Client() as tab:
        tab.base_url, tab.cookies, tab.headers = client.base_url, client.cookies, client.headers
        assert [(job["id"], job["state"]) for job in client.get("/api/jobs").json()] == [
            (name, "running")
        ]
        assert client.post(f"/api/jobs/{name}/stop").status_code == 200
        streams = [c.get(f"/api/jobs/{name}/events", timeout=_SECONDS) for c in (client, tab)]
    job = Jobs(Folder(folder)).get(name)
    assert (job["state"], job["code"]) == ("done", 0)  # stopped in good order, best so far
    assert load_trajectory(folder / "motion.yaml").duration > 0
    for stream in streams:  # both pages are told everything
        events = [part.split("\n") for part in stream.text.strip().split("\n\n")]
        kinds = [line[7:] for lines in events for line in lines if line.startswith("event: ")]
        assert {"progress", "log", "state"} <= set(kinds)
        last = json.loads(events[-1][-1].removeprefix("data: "))
        assert last["state"] == "done"
    entries = [json.loads(line) for line in progress.read_text().splitlines()]
    best = [entry["best"] for entry in entries]
    assert all(late <= early for early, late in pairwise(best))


def test_a_job_that_does_not_listen_is_killed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mechid.studio import runner

    job = folder / "job"
    job.mkdir()
    (job / "job.json").write_text(json.dumps({"argv": [], "folder": str(folder)}))
    deaf = "import signal, time; [signal.signal(n, signal.SIG_IGN) for n in (2, 15)]"
    monkeypatch.setattr(runner, "_PROGRAM", f"{deaf}; print('deaf'); time.sleep(100)")
    monkeypatch.setattr(runner, "PATIENCE", ((signal.SIGTERM, 0.3), (signal.SIGKILL, 0.6)))
    thread = threading.Thread(target=runner.run, args=(job,))
    thread.start()
    log = job / "output.log"
    until(lambda: log.exists() and "deaf" in log.read_text())
    (job / runner.STOP).write_bytes(b"..")
    thread.join()
    end = json.loads((job / "exit.json").read_text())
    assert (end["code"], end["stopped"]) == (-signal.SIGKILL, True)


def test_states_are_read_from_the_folder(folder: Path) -> None:
    jobs = Jobs(Folder(folder))
    words = {"command": "excite", "argv": ["excite", "--", "a b.yaml"], "title": "t", "outputs": []}

    def job(name: str, created: float, **files: Any) -> str:
        place = jobs.place / name
        place.mkdir(parents=True)
        for file, value in {"job": {**words, "created": created}, **files}.items():
            (place / f"{file}.json").write_text(json.dumps(value))
        return str(jobs.get(name)["state"])

    now = time.time()
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    end = {"stopped": False, "ended": now}
    assert job("20260101-000000-000000", now) == "running"  # has not begun yet
    assert job("20260101-000000-000001", now - 100) == "lost"
    assert job("20260101-000000-000009", now + 1e6) == "lost"  # the clock was set back
    assert job("20260101-000000-000002", now, process={"runner": dead.pid}) == "lost"
    assert job("20260101-000000-000003", now, process={"runner": os.getpid()}) == "lost"
    assert job("20260101-000000-000004", now, exit={**end, "code": 0}) == "done"
    assert job("20260101-000000-000005", now, exit={**end, "code": 2}) == "failed"
    assert job("20260101-000000-000006", now, exit={"code": 130, "stopped": True, "ended": 1}) == (
        "stopped"
    )
    (jobs.place / "strange").mkdir()
    (jobs.place / "20260101-000000-000007").mkdir()
    found = jobs.all()
    assert [entry["id"][-1] for entry in found] == ["9", "6", "5", "4", "3", "2", "1", "0"]
    assert found[0]["line"] == "mechid excite -- 'a b.yaml'"


@pytest.mark.slow
def test_jobs_from_a_model_to_a_report(client: httpx.Client, folder: Path) -> None:
    """The whole way without a command line; the command line finds the same run."""

    def done(command: str, **arguments: Any) -> str:
        name = started(client, command, arguments)
        log = client.get(f"/api/jobs/{name}/events").text
        assert client.get(f"/api/jobs/{name}").json()["state"] == "done", log
        return log

    (folder / "swing.yaml").write_text(SWING)
    model = "zoo:pendulum"
    done("synthesise", model=model, trajectory="swing.yaml", output="log.csv", noise="2%",
         cad_error="20%")  # fmt: skip
    checked = client.post("/api/log/check", json={"path": "log.csv", "model": model}).json()
    assert (checked["ok"], checked["errors"]) == (True, [])
    done("identify", model=model, log=["log.csv"], output="runs/first")
    (run,) = client.get("/api/runs").json()
    assert (run["path"], run["mechanism"]) == ("runs/first", "pendulum")
    assert load_run(folder / "runs/first").about.command == (
        "mechid identify --output=runs/first -- pendulum log.csv"
    )
    page = client.get("/api/run/report", params={"path": "runs/first"})
    assert page.status_code == 200
    assert "sandbox allow-scripts" in page.headers["content-security-policy"]
    assert (folder / "runs/first/report.html").read_text("utf-8") == page.text
    dark = client.get("/api/run/report", params={"path": "runs/first", "theme": "dark"}).text
    assert "prefers-color-scheme: dark" in page.text
    assert "prefers-color-scheme: dark" not in dark
    both = client.post("/api/run/compare", json={"paths": ["runs/first", "runs/first"]}).json()
    values = load_run(folder / "runs/first").values().tolist()
    assert [row["runs"][0]["value"] for row in both["parameters"]] == values
    assert all(row["runs"][0] == row["runs"][1] for row in both["parameters"])
    page = client.get("/api/run/report?path=runs/first&path=runs/first")
    assert "Comparison" in page.text
    verdict = client.get("/api/run/verdict", params={"path": "runs/first"}).json()
    assert verdict["synthetic"]
    assert verdict["trust"]["answer"] == load_verdict(folder / "runs/first").trust.answer
    done("export", source="runs/first", to="model", output="identified.yaml")
    assert client.post("/api/model/check", json={"path": "identified.yaml"}).json()["ok"]
    name = client.get("/api/jobs").json()[0]["id"]
    log = client.get(f"/api/jobs/{name}/events", headers={"last-event-id": "100000"}).text
    assert "event: log" not in log  # what the page has already is not told again
