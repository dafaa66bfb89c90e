"""`forebay measure` from the command to its three ways out."""

import json
from typing import Any

import pytest
from tests.measure.dumbbell import Link, pcap

from forebay.scenario import load

HOW = "--rate '10 Mbit/s' --toward 10.128.0.0/9"


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    played = Link(rate_bps=10e6, buffer=40, seed=7)
    played.play(10, seconds=15.0, low=0.04, high=0.1, ramp=1.0)
    path = tmp_path_factory.mktemp("records") / "link.pcap"
    pcap(path, played.frames)
    return path


def test_the_document_has_the_form_of_the_contract(printed, records, tmp_path):
    scenario, picture = tmp_path / "link.toml", tmp_path / "link.svg"
    files = f"--scenario {scenario} --figure {picture}"
    told = json.loads(printed(f"measure {records} {HOW} --json {files}"))
    assert (told["schema"], told["packets"] > 1000) == (1, True)
    for name in ("load", "long_flows", "loss_rate"):
        assert set(told["estimates"][name]) >= {"value", "low", "high", "n"}
    assert set(told["estimates"]["rtt_s"]) >= {"mean", "p50", "p95", "p99"}
    assert {"name", "why"} == set(told["refused"][0])
    assert picture.stat().st_size > 1000
    made = load(scenario)
    flows: Any = made.traffic[0].flows
    assert flows.low <= 10 <= flows.high


def test_the_report_says_what_flows_means(printed, records):
    said = " ".join(printed(f"measure {records} {HOW}").split())
    assert "in congestion avoidance that cross this link" in said
    assert "Refused" in said and "long_flows" in said


def test_the_page_holds_what_the_report_says_and_needs_nothing_beside_it(
    printed, records, tmp_path
):
    odd = tmp_path / "a<b&c.pcap"
    odd.write_bytes(records.read_bytes())
    page = tmp_path / "link.html"
    printed(f"measure '{odd}' {HOW} --html {page}")
    text = page.read_text(encoding="utf-8")
    for said in ("long_flows", "rtt_s.p50", "in congestion avoidance that cross this link",
                 "Refused", "a&lt;b&amp;c.pcap", "data:image/svg+xml;base64,"):  # fmt: skip
        assert said in text
    assert "a<b" not in text and "http" not in text
