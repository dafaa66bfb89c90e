"""`forebay measure` from the command to its three ways out."""

import json
from typing import Any

import pytest
from tests.measure.dumbbell import Link, pcap

from forebay.scenario import load


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    played = Link(rate_bps=10e6, buffer=40, seed=7)
    played.play(10, seconds=15.0, low=0.04, high=0.1, ramp=1.0)
    path = tmp_path_factory.mktemp("records") / "link.pcap"
    pcap(path, played.frames)
    return path


def test_the_document_has_the_form_of_the_contract(forebay_, records, tmp_path):
    scenario, picture = tmp_path / "link.toml", tmp_path / "link.svg"
    result = forebay_("measure", str(records), "--rate", "10 Mbit/s", "--toward", "10.128.0.0/9",
                      "--json", "--scenario", str(scenario), "--figure", str(picture))  # fmt: skip
    assert result.status == 0
    told = json.loads(result.out)
    assert (told["schema"], told["packets"] > 1000) == (1, True)
    for name in ("load", "long_flows", "loss_rate"):
        assert set(told["estimates"][name]) >= {"value", "low", "high", "n"}
    assert set(told["estimates"]["rtt_s"]) >= {"mean", "p50", "p95", "p99"}
    assert {"name", "why"} == set(told["refused"][0])
    assert picture.stat().st_size > 1000
    made = load(scenario)
    flows: Any = made.traffic[0].flows
    assert flows.low <= 10 <= flows.high


def test_the_report_says_what_flows_means(forebay_, records):
    result = forebay_("measure", str(records), "--rate", "10 Mbit/s", "--toward", "10.128.0.0/9")
    words = " ".join(result.out.split())
    assert result.status == 0 and "in congestion avoidance that cross this link" in words
    assert "Refused" in result.out and "long_flows" in result.out


def test_the_page_holds_what_the_report_says_and_needs_nothing_beside_it(
    forebay_, records, tmp_path
):
    odd = tmp_path / "a<b&c.pcap"
    odd.write_bytes(records.read_bytes())
    page = tmp_path / "link.html"
    result = forebay_("measure", str(odd), "--rate", "10 Mbit/s", "--toward", "10.128.0.0/9",
                      "--html", str(page))  # fmt: skip
    assert result.status == 0
    text = page.read_text(encoding="utf-8")
    for said in ("long_flows", "rtt_s.p50", "in congestion avoidance that cross this link",
                 "Refused", "a&lt;b&amp;c.pcap", "data:image/svg+xml;base64,"):  # fmt: skip
        assert said in text
    assert "a<b" not in text and "http" not in text
