"""The workbench's server as a client of it sees it: a process of its own, on a free port."""

import http.client
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import forebay

pytest.importorskip("starlette", reason="the extra forebay[web] is not installed")
pytest.importorskip("uvicorn", reason="the extra forebay[web] is not installed")

from forebay.web.app import PAGE
from forebay.web.question import Refused, scenario_of

QUICK = {
    "link": {"rate": "10 Mbit/s"},
    "queue": {"size": "20 packets"},
    "traffic": [{"kind": "long", "flows": 10, "rtt": {"uniform": ["40 ms", "60 ms"]}}],
    "measure": {"warmup": "5 s", "duration": "10 s"},
    "goals": {"utilization": 0.9},
}
JSON = {"Content-Type": "application/json", "X-Client": "tests-tests"}


def served(*arguments: str) -> tuple[subprocess.Popen[str], str]:
    code = "import sys; from forebay.cli.program import call; from forebay.cli import main; main()"
    command = [sys.executable, "-c", code, "serve", "--port", "0", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return process, process.stdout.readline().split()[-1].split("/")[2]


def ended(process: subprocess.Popen[str]) -> float:
    since = time.monotonic()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=10)
    return time.monotonic() - since


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    process, place = served()
    yield place
    ended(process)


def ask(place, method, path, body=None, headers=None):
    connection = http.client.HTTPConnection(place, timeout=60)
    try:
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        return response.status, response.read().decode(), dict(response.getheaders())
    finally:
        connection.close()


def events(text: str) -> list[tuple[str, dict]]:
    lines = [event.split("\n") for event in text.split("\n\n") if event]
    return [(name[len("event: ") :], json.loads(data[len("data: ") :])) for name, data in lines]


def test_the_page_has_a_strict_policy(server):
    status, text, headers = ask(server, "GET", "/")
    assert status == 200 and 'data-testid="answer-packets"' in text
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert ask(server, "GET", "/page/main.js")[0] == 200


def test_the_answer_has_the_digits_of_a_sizing(server):
    status, text, _ = ask(server, "POST", "/answer", json.dumps(QUICK), JSON)
    told = events(text)
    (found,) = [data for name, data in told if name == "sized"]
    same = forebay.size(scenario_of(QUICK))
    assert status == 200 and told[-1][0] == "end"
    assert found["recommended"]["packets"] == same.recommended.packets
    assert found["least"]["packets"] == same.buffer.packets
    mine = [(each.packets, each.link.utilization.value) for each in same.curve]
    assert [(each["packets"], each["utilization"]["value"]) for each in found["curve"]] == mine
    sizes = [data["packets"] for name, data in told if name == "point"]
    assert len(set(sizes)) == 8 and sizes[:8] == sizes[8:]


def test_a_newer_question_ends_the_older_one(server):
    slow = {**QUICK, "link": {"rate": "155 Mbit/s"}}
    older = http.client.HTTPConnection(server, timeout=60)
    older.request("POST", "/answer", json.dumps(slow), JSON)
    response = older.getresponse()
    response.readline()
    ask(server, "POST", "/answer", json.dumps(QUICK), JSON)
    names = [
        name for name, _ in events("event: " + response.read().decode().split("event: ", 1)[1])
    ]
    older.close()
    assert names[-1] == "end" and "sized" not in names


HOSTILE = {
    "foreign host": ("POST", "/laws", json.dumps(QUICK), {**JSON, "Host": "evil.example"}, 421),
    "foreign origin": ("POST", "/laws", json.dumps(QUICK), {**JSON, "Origin": "http://a.b"}, 403),
    "null origin": ("POST", "/laws", json.dumps(QUICK), {**JSON, "Origin": "null"}, 403),
    "oversize": ("POST", "/laws", "x" * 1_100_000, JSON, 413),
    "form": ("POST", "/laws", "a=b", {"Content-Type": "text/plain"}, 422),
    "no json": ("POST", "/laws", "{", JSON, 422),
    "deep": ("POST", "/laws", "[" * 100_000, JSON, 422),
    "file": (
        "POST",
        "/laws",
        '{"traffic": [{"kind": "replay", "file": "/etc/passwd"}]}',
        JSON,
        422,
    ),
    "trace of rates": ("POST", "/laws", '{"link": {"rate_trace": "/etc/passwd"}}', JSON, 422),
    "topology": ("POST", "/laws", '{"topology": {"file": "/etc/passwd"}}', JSON, 422),
    "no client": (
        "POST",
        "/answer",
        json.dumps(QUICK),
        {"Content-Type": JSON["Content-Type"]},
        422,
    ),
    "traversal": ("GET", "/page/..%2f..%2fcli/serve.py", None, None, 404),
    "method": ("DELETE", "/laws", None, None, 405),
}


@pytest.mark.parametrize("name", list(HOSTILE))
def test_a_hostile_request_is_refused_and_the_server_lives(server, name):
    *request, expected = HOSTILE[name]
    try:
        status, text, _ = ask(server, *request)
    except (BrokenPipeError, ConnectionResetError):  # refused before all of it was sent
        assert name == "oversize"
    else:
        assert status == expected and "root:" not in text
    assert ask(server, "GET", "/")[0] == 200


def test_an_error_names_its_field(server):
    wrong = {**QUICK, "link": {"rate": "10"}}
    status, text, _ = ask(server, "POST", "/laws", json.dumps(wrong), JSON)
    error = json.loads(text)["error"]
    assert status == 422 and error["field"] == "link.rate" and "10 Mbit/s" in error["hint"]


def test_a_token_is_brought_once():
    token = "a-secret-of-tests"
    process, place = served("--token", token)
    try:
        assert ask(place, "GET", "/")[0] == 401
        assert ask(place, "GET", "/?token=another-secret-x")[0] == 401
        status, _, headers = ask(place, "GET", f"/?token={token}")
        assert status == 303
        cookie = headers["set-cookie"].split(";")[0]
        assert ask(place, "GET", "/", headers={"Cookie": cookie})[0] == 200
    finally:
        ended(process)


def test_sigterm_ends_it_within_a_second_in_the_middle_of_a_run():
    process, place = served()
    connection = http.client.HTTPConnection(place, timeout=60)
    slow = {**QUICK, "link": {"rate": "1 Gbit/s"}}
    connection.request("POST", "/answer", json.dumps(slow), JSON)
    connection.getresponse().readline()
    assert ended(process) < 1.5  # a second, and the interpreter's end on a busy machine
    connection.close()
    assert process.returncode == 143


@pytest.mark.parametrize("preset", json.loads((PAGE / "presets.json").read_text()), ids=str)
def test_every_preset_is_a_question_with_goals(preset):
    assert scenario_of(preset).goals.model_fields_set


def test_the_papers_line_card_is_the_shipped_scenario():
    first = json.loads((PAGE / "presets.json").read_text())[0]
    shipped = forebay.load("oc3-gsr").replace({"name": first["name"]})
    assert scenario_of(first).sha256() == shipped.sha256()


@pytest.mark.parametrize("trace", ["{path}", {"file": "{path}"}], ids=["text", "table"])
def test_no_path_of_a_question_is_opened(tmp_path, trace):
    path = tmp_path / "rates.csv"
    path.write_text("0,12000000\n1,6000000\n")
    text = json.dumps({"link": {"rate_trace": trace}, "traffic": [{"flows": 1}]})
    asked = json.loads(text.replace("{path}", str(path)))
    assert forebay.Scenario.from_dict(asked).link.rate_trace is not None
    with pytest.raises(forebay.ScenarioError, match="no file is read here"):
        scenario_of(asked)


def test_many_flows_are_refused():
    many = {**QUICK, "traffic": [{"kind": "long", "flows": 300_000}]}
    with pytest.raises(Refused, match="200000"):
        scenario_of(many)


def test_another_address_needs_a_token():
    cli = Path(sys.executable).with_name("forebay")
    made = subprocess.run([cli, "serve", "--host", "0.0.0.0"], capture_output=True, text=True)
    assert made.returncode == 2 and "--token" in made.stderr and made.stderr.count("\n") == 1
