"""Which buffer is wanted: a scenario's, a sizing's, or a size; and the command line around it."""

import json
from pathlib import Path
from typing import Any

import pytest

from forebay.cli.program import call
from forebay.platforms import PlatformError, emit, read_sizing, read_target
from forebay.scenario import ScenarioError

SCENARIO = str(Path(__file__).resolve().parents[2] / "scenarios" / "oc3-gsr.toml")


def test_a_scenario_gives_its_own_queue_and_rate():
    wanted, port = read_target(SCENARIO)
    assert (wanted.bytes, wanted.packets, port.rate_bps) == (193_500, 129, 155e6)
    assert read_target("oc3-gsr")[0].bytes == 193_500, "a shipped one is found by its name"
    longer, _ = read_target(SCENARIO, overrides=["queue.size=10 ms"])
    assert (longer.bytes, longer.packets) == (193_750, 129)


def sizing(folder: Path, **fields: Any) -> str:
    """Write the document of a sizing; return its path."""
    path = folder / "size.json"
    path.write_text(json.dumps({"schema": 1} | fields))
    return str(path)


def test_a_sizing_gives_the_buffer_found(tmp_path):
    buffer = {"packets": 129, "bytes": 193_500, "seconds": 193_500 * 8 / 155e6}
    recommended = {**buffer, "packets": 200, "bytes": 300_000, "why": ["it holds two bursts"]}
    wanted, port = read_target(sizing(tmp_path, buffer=buffer, recommended=recommended))
    assert (wanted.packets, wanted.bytes, port.rate_bps) == (200, 300_000, 155e6)
    assert port.packet_bytes == 1500
    assert "! why: it holds two bursts" in emit(wanted, port, "ios-xe").text
    with pytest.raises(PlatformError, match="found none"):
        read_target(sizing(tmp_path, buffer=None))


@pytest.mark.parametrize(
    ("least", "high", "region", "packets"),
    [(3, 40, [], 40), (3, 40, [(3, None)], 40), (3, 40, [(3, 20)], 20), (30, 30, [(30, 30)], 30)],
)
def test_a_size_that_is_not_recommended_is_written_by_force_alone(
    tmp_path, least, high, region, packets
):
    sizes = [{"low": a, "high": b, "binding_low": [], "binding_high": []} for a, b in region]
    buffer = {"packets": least, "low": 1, "high": high, "bytes": 1500 * least,
              "seconds": 1500 * least * 8 / 1e9}  # fmt: skip
    reason = "the evidence leaves 1 to 40 packets"
    path = sizing(tmp_path, region=sizes, reason=reason, buffer=buffer)
    with pytest.raises(PlatformError, match="recommends no size: the evidence leaves") as error:
        read_sizing(path)
    assert error.value.exit_status == 3 and "\n" not in str(error.value)
    wanted, port = read_sizing(path, force=True)
    assert wanted.packets == packets
    text = emit(wanted, port, "ios-xe").text
    assert f"! why: not recommended: {reason}" in text and f"queue-limit {packets} packets" in text


def test_a_size_of_something_else_is_no_size_of_the_queue(tmp_path):
    buffer = {"packets": 1, "bytes": 1500, "seconds": 0.0006}
    path = sizing(tmp_path, of="link.shaper.burst", of_value="1500 B", buffer=buffer)
    with pytest.raises(PlatformError, match=r"size of link\.shaper\.burst, not of the queue"):
        read_sizing(path, force=True)


NEWER = '{"schema": 99, "buffer": {"packets": 129, "bytes": 193500, "seconds": 0.01}}'


@pytest.mark.parametrize("text", ["[]", "{}", "nonsense", '{"schema": 1, "buffer": {}}', NEWER])
def test_another_json_file_is_refused(tmp_path, text):
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(PlatformError, match="not a document of a sizing") as refused:
        read_target(str(path))
    newer = "schema 99 is newer than 1, the newest known here; upgrade forebay"
    assert (newer in str(refused.value)) == (text == NEWER)


@pytest.mark.parametrize(
    ("size", "amount", "packets"),
    [("129 packets", 193_500, 129), ("1.5 MB", 1_500_000, 1000), ("10 ms", 1_250_000, 833)],
)
def test_a_size_by_itself(size, amount, packets):
    wanted, _ = read_target(size, rate="1 Gbit/s")
    assert (wanted.bytes, wanted.packets) == (amount, packets)


def test_a_size_that_is_no_amount_is_refused():
    with pytest.raises(ScenarioError):
        read_target("ten packets", rate="1 Gbit/s")


def test_lint_against_a_scenario(printed, tmp_path):
    path = tmp_path / "router.cfg"
    text = printed(f"platforms emit {SCENARIO} --platform ios-xr")
    path.write_text(text)
    assert "as asked" in printed(f"platforms lint {path} --scenario {SCENARIO}")
    path.write_text(text.replace("193500 bytes", "129 packets"))
    document = json.loads(printed(f"platforms lint {path} --scenario {SCENARIO} --json", status=1))
    (queue,) = document["queues"]
    assert (queue["verdict"], queue["bytes"]) == ("smaller", 33_024)


def test_json_to_paste_stays_clean_and_json_documents(capsys, printed):
    assert call(["platforms", "emit", SCENARIO, "--platform", "sonic"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["BUFFER_PROFILE"] and "193500 B" in err
    document = json.loads(printed(f"platforms emit {SCENARIO} --platform linux-tc --json"))
    assert document["asked"]["packets"] == document["given"]["packets"] == 129
    assert document["memory"]["tier"] == "on-chip memory"
    listed = json.loads(printed("platforms list --json"))
    assert len(listed["platforms"]) == 12 and set(listed["refused"]) == {"eos", "vrp"}


UNSIZED = """
link.rate = "200 Mbit/s"
goals.utilization = 0.98
traffic = [{ flows = 100, rtt = { uniform = ["20 ms", "120 ms"] } }]
"""


def test_a_default_that_nobody_chose_is_not_emitted(capsys, printed, tmp_path):
    path = tmp_path / "uplink.toml"
    path.write_text(UNSIZED)
    assert call(["platforms", "emit", str(path), "--platform", "junos"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    assert "forebay size" in err and "--emit" in err and "queue.size" in err
    said = printed(f"platforms emit {path} --platform junos --set 'queue.size=10 ms'")
    assert "temporal 10020" in said  # 167 whole packets


def test_the_answer_of_a_sizing_is_emitted(printed, tmp_path):
    path, answer = tmp_path / "uplink.toml", tmp_path / "answer"
    path.write_text(UNSIZED)
    answer.write_text(printed(f"size {path} --engine theory --json"))
    packets = json.loads(answer.read_text())["recommended"]["packets"]
    limit = f"queue-limit {packets} packets"
    assert limit in printed(f"platforms emit --answer {answer} --platform ios-xe")
    said = printed(f"size {path} --engine theory --emit ios-xe")
    assert said.index("Recommended:") < said.index(limit)
    document = json.loads(printed(f"size {path} --engine theory --emit ios-xe --json"))
    assert document["configuration"]["given"]["packets"] >= packets


@pytest.mark.parametrize(
    ("rate", "platform", "name"),
    [
        ("10 Gbit/s", "ios-xr", "TenGigE0/0/0/0"),
        ("100 Gbit/s", "ios-xr", "HundredGigE0/0/0/0"),
        ("1 Gbit/s", "ios-xr", "GigabitEthernet0/0/0/0"),
        ("10 Gbit/s", "ios-xe", "TenGigabitEthernet0/0/0"),
        ("1 Gbit/s", "junos", "ge-0/0/0"),
        ("100 Gbit/s", "junos", "et-0/0/0"),
    ],
)
def test_a_port_is_called_by_its_rate(printed, rate, platform, name):
    emit = f"platforms emit '1 ms' --platform {platform} --rate"
    out = printed(f"{emit} '{rate}'")
    assert f" {name} " in out.replace("\n", " ") and "Ethernet port known" not in out
    assert "port known here runs at 155 Mbit/s" in printed(f"{emit} '155 Mbit/s'")


SHAPED = UNSIZED + 'link.shaper = { rate = "50 Mbit/s", burst = "30 kB" }\n'


def test_a_shaped_link_is_written_at_its_shapers_rate(tmp_path):
    path = tmp_path / "shaped.toml"
    path.write_text(SHAPED)
    wanted, port = read_target(str(path), overrides=["queue.size=20 ms"])
    assert (wanted.bytes, port.rate_bps, port.line, port.burst_bytes) == (125_000, 5e7, 2e8, 30_000)
    assert "shape average 50000000" in emit(wanted, port, "ios-xe", form="bytes").text


def test_an_answer_for_a_shaped_link_has_its_shaper(tmp_path):
    """The simulated link may be a smaller one: the shaper is taken in proportion."""
    link = {"rate": "20 Mbit/s", "shaper": {"rate": "5 Mbit/s", "burst": "3 kB"}}
    sized = {"packets": 100, "bytes": 150_000, "seconds": 0.024}
    names = ("utilization", "loss_rate", "queue_packets", "queue_delay_s")
    there = {**dict.fromkeys(names), "buffer_packets": 100, "bdp_packets": 9.0}
    made_by = {"version": "1", "seeds": [1], "scenario_sha256": "", "wall_s": 0.1}
    outcome = {"schema": 1, "scenario": {"link": link, "traffic": [{"kind": "long", "flows": 9}]},
               "engine": "simulation", "links": {"bottleneck": there},
               "classes": [], "broken_assumptions": [], "provenance": made_by}  # fmt: skip
    point = {"packets": 100, "seeds": 1, "verdict": "met", "outcome": outcome}
    path = sizing(tmp_path, buffer=sized, curve=[point], recommended={**sized, "why": []})
    _, port = read_sizing(path)
    assert (port.rate_bps, port.line, port.burst_bytes) == (5e7, 2e8, 30_000)
