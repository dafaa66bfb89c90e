"""The workbench's server as a client of it sees it: a process of its own, on a free port."""

import http.client
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

import forebay

pytest.importorskip("starlette", reason="the extra forebay[web] is not installed")
pytest.importorskip("uvicorn", reason="the extra forebay[web] is not installed")

from forebay.web.app import PAGE
from forebay.web.opening import Refused, scenario_of

from .serving import JSON, QUICK, ask, asked, ended, events, post, running, served, the


def test_the_page_has_a_strict_policy(server):
    status, text, headers = ask(server, "GET", "/")
    assert status == 200 and 'data-testid="answer-packets"' in text
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert ask(server, "GET", "/page/main.js")[0] == 200


def test_the_answer_has_the_digits_of_a_sizing(server):
    told = asked(server, "/answer", QUICK)
    found = the(told, "sized")
    same = forebay.size(scenario_of(QUICK))
    assert told[-1][0] == "end"
    assert found["recommended"]["packets"] == same.recommended.packets
    assert found["least"]["packets"] == same.buffer.packets
    mine = [(each.packets, each.link.utilization.value) for each in same.curve]
    assert [(each["packets"], each["utilization"]["value"]) for each in found["curve"]] == mine
    points = [data for name, data in told if name == "point"]
    coarse = {data["packets"] for data in points if data["stage"] == "coarse"}
    fine = {data["packets"] for data in points if data["stage"] == "fine"}
    assert len(coarse) == 8 and fine == {each.packets for each in same.curve}


def test_a_newer_question_ends_the_older_one(server):
    slow = {**QUICK, "link": {"rate": "155 Mbit/s"}}
    older = http.client.HTTPConnection(server, timeout=60)
    older.request("POST", "/answer", json.dumps(slow), JSON)
    response = older.getresponse()
    response.readline()
    asked(server, "/answer", QUICK)
    rest = response.read().decode().split("event: ", 1)[1]
    names = [name for name, _ in events(f"event: {rest}")]
    older.close()
    assert names[-1] == "end" and "sized" not in names


def test_an_error_names_its_field(server):
    status, found = post(server, "/laws", {**QUICK, "link": {"rate": "10"}})
    error = found["error"]
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


def test_sigterm_ends_it_in_the_middle_of_a_run():
    process, place = served()
    connection = http.client.HTTPConnection(place, timeout=60)
    slow = {**QUICK, "link": {"rate": "10 Gbit/s"}}
    connection.request("POST", "/answer?budget=10+min", json.dumps(slow), JSON)
    connection.getresponse().readline()
    ended(process)
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
    question = json.loads(text.replace("{path}", str(path)))
    assert forebay.Scenario.from_dict(question).link.rate_trace is not None
    with pytest.raises(forebay.ScenarioError, match="no file is read here"):
        scenario_of(question)


def test_many_flows_are_refused():
    many = {**QUICK, "traffic": [{"kind": "long", "flows": 300_000}]}
    with pytest.raises(Refused, match="200000"):
        scenario_of(many)


def test_another_address_needs_a_token():
    cli = Path(sys.executable).with_name("forebay")
    made = subprocess.run([cli, "serve", "--host", "0.0.0.0"], capture_output=True, text=True)
    assert made.returncode == 2 and "--token" in made.stderr and made.stderr.count("\n") == 1


def test_a_reader_that_goes_leaves_no_run_behind(server):
    slow = {**QUICK, "link": {"rate": "622 Mbit/s"}}
    connection = http.client.HTTPConnection(server, timeout=60)
    connection.request("POST", "/answer", json.dumps(slow), JSON)
    connection.getresponse().readline()
    assert running(server) == 1
    connection.sock.close()
    connection.close()
    until = time.monotonic() + 10
    while running(server) and time.monotonic() < until:
        time.sleep(0.05)
    assert running(server) == 0


@pytest.mark.parametrize("budget", ["0 s", "11 min", "soon", "-3 s", "1e300 s"])
def test_a_budget_is_a_time_up_to_ten_minutes(server, budget):
    path = f"/answer?budget={budget.replace(' ', '+')}"
    status, found = post(server, path, QUICK)
    assert status == 422 and found["error"]["field"] == "budget"


def test_an_aqm_has_the_curve_of_its_target(server):
    told = asked(server, "/answer", {**QUICK, "queue": {"discipline": "codel"}})
    found = the(told, "sized")
    points = {data["packets"] for name, data in told if name == "point"}
    assert found["aims"] and points == {each["packets"] for each in found["curve"]}
    said = found["sentences"]
    assert "Least shown: " in " ".join(said[:2]) and said[-1].startswith("By simulation")
    assert [each for each in said if each.startswith(("…", "Note", "Assumed", " "))] == []
    assert "--explain" not in " ".join(said) and len(set(said)) == len(said)


def test_a_replay_is_the_trace_of_the_first_seed(server):
    found = the(asked(server, "/replay?packets=12", QUICK), "replayed")
    scenario = scenario_of(QUICK).with_buffer(12)
    same = forebay.trace(scenario, step=f"{10 / 600:.9f} s", flows=[0, 3, 6, 9])
    assert found["queue"] == same.bottleneck.queue_packets.tolist()
    assert list(found["windows"]) == ["0", "3", "6", "9"]
    assert sum(found["drops"]) == same.drops.count.sum() > 0
    assert found["fit"]["mean"] == same.window_sum_fit.mean


@pytest.mark.parametrize("packets", ["0", "-1", "12.5", "x", "99999999999999999999"])
def test_a_replay_needs_a_buffer(server, packets):
    assert post(server, f"/replay?packets={packets}", QUICK)[0] == 422


def test_a_replay_of_a_large_link_is_shorter_and_says_so(server):
    large = {**QUICK, "link": {"rate": "10 Gbit/s"}}
    found = the(asked(server, "/replay", large), "replayed")
    assert "less than the search" in found["note"] and found["at_s"][-1] < 15


def test_a_scenario_file_and_a_stored_answer_are_opened(server, tmp_path):
    text = (
        'links = []\n[link]\nrate = "10 Mbit/s"\n[[traffic]]\nflows = 10\nrtt = "50 ms"\n'
        '[goals]\nutilization = 0.9\n[measure]\nwarmup = "2 s"\nduration = "3 s"\n'
    )
    status, found = post(server, "/open", {"text": text})
    assert status == 200 and found["question"]["link"] == {"rate": "10 Mbit/s"}
    scenario = scenario_of(found["question"])
    answer = forebay.size(scenario, seeds=2)
    status, again = post(server, "/open", {"text": answer.to_json()})
    assert status == 200 and again["sized"]["least"]["packets"] == answer.buffer.packets
    assert again["question"]["traffic"] == [{"kind": "long", "flows": 10, "rtt": "50 ms"}]
    assert "queue" not in again["question"]
    for wrong in ({"memory": "9 MB"}, {"links": 3}):  # what the page cannot ask is not left out
        other = answer.to_dict() | {"asked": answer.asked | wrong}
        assert post(server, "/open", {"text": json.dumps(other)})[0] == 422
    nameless = [{**group, "name": None} for group in answer.asked["traffic"]]
    empty = answer.to_dict() | {"asked": answer.asked | {"traffic": nameless}}
    _, opened = post(server, "/open", {"text": json.dumps(empty)})
    said = json.dumps({"kept": opened["sized"]["kept"]})
    assert ask(server, "POST", "/report", said, JSON)[0] == 200
    asked(server, "/answer", QUICK)  # the stored answer is written out, not the latest
    kept = {"kept": again["sized"]["kept"], "platform": "linux-tc"}
    status, found = post(server, "/configuration", kept)
    assert status == 200 and f"{answer.recommended.packets} packets" in found["text"]


@pytest.mark.parametrize(
    "text", ["x = [", "[" * 50_000, "", '{"buffer": 3}', "{", "a = 1979-05-27"]
)
def test_what_is_no_scenario_is_refused_in_one_line(server, text):
    status, found = post(server, "/open", {"text": text})
    assert status == 422 and "\n" not in found["error"]["text"]
    assert "to_json" not in found["error"]["text"]


def test_a_question_as_a_file_is_the_same_question(server):
    _, found = post(server, "/laws", QUICK)
    _, opened = post(server, "/open", {"text": found["toml"]})
    assert opened["question"] == QUICK


def test_shipped_scenarios_are_opened_by_name_alone(server):
    names = json.loads(ask(server, "GET", "/start")[1])["shipped"]
    assert "oc3-gsr" in names and "abilene-slow-edge-small" not in names
    for name in names:
        status, found = post(server, "/shipped", {"name": name})
        assert status == 200
        assert scenario_of(found["question"]).sha256() == forebay.load(name).sha256()
    file = str(Path(forebay.__file__).parent / "scenarios" / "oc3-gsr.toml")
    for name in (file, "/etc/passwd", "../oc3-gsr", "abilene-slow-edge-small"):
        assert post(server, "/shipped", {"name": name})[0] == 422


def test_a_small_capture_is_measured(server, tmp_path):
    slow = {"link": {"rate": "2 Mbit/s"}, "measure": {"warmup": "2 s", "duration": "3 s"}}
    packets = tmp_path / "link.pcapng"
    forebay.run(scenario_of(QUICK | slow), capture=packets)
    content = packets.read_bytes()
    assert len(content) < 1_000_000
    headers = {"Content-Type": "application/octet-stream", "X-Client": "tests-tests"}
    status, text, _ = ask(server, "POST", "/measure?rate=2+Mbit/s", content, headers)
    found = json.loads(text)
    assert status == 200 and found["question"]["link"]["rate"] == "2 Mbit/s"
    assert scenario_of(found["question"]).traffic and "packets in" in found["notes"][0]
    _, text, _ = ask(server, "POST", "/measure?rate=2+Mbit/s", content[:-37], headers)
    assert json.loads(text)["notes"][1].startswith("its end: its last frame is cut")
    status, text, _ = ask(server, "POST", "/measure?rate=2+Mbit/s", b"no capture", headers)
    error = json.loads(text)["error"]["text"]
    assert status == 422 and error.startswith("the file: ") and error.count("; ") == 1


def test_an_answer_is_written_out_as_a_report_and_as_configuration(server):
    for wrong in ("junos", 1):
        assert post(server, "/configuration", {"platform": "junos", "kept": wrong})[0] == 422
    kept = {"kept": the(asked(server, "/answer", QUICK), "sized")["kept"]}
    answer = forebay.size(scenario_of(QUICK))
    status, found = post(server, "/configuration", {"platform": "linux-tc", **kept})
    assert status == 200 and f"{answer.recommended.packets} packets" in found["text"]
    assert post(server, "/configuration", {"platform": "../x", **kept})[0] == 422
    status, text, headers = ask(server, "POST", "/report", json.dumps(kept), JSON)
    assert status == 200 and headers["content-type"].startswith("text/html")
    assert str(answer.recommended.packets) in text and "<script" not in text


@pytest.mark.long
@pytest.mark.parametrize("preset", json.loads((PAGE / "presets.json").read_text()), ids=str)
def test_every_preset_comes_to_a_recommended_size(server, preset):
    assert the(asked(server, "/answer", preset), "sized")["recommended"]["packets"] >= 1
