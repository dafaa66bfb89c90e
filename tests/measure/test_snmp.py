"""Counters polled by SNMP, from an agent on loopback."""

import json

import pytest

from forebay import measure
from forebay.measure.polling import Agent

pytest.importorskip("pysnmp")
from tests.measure.snmp_agent import Router


@pytest.fixture
def router():
    made = Router()
    yield made
    made.close()


def test_what_an_interface_sends_and_drops_is_polled(router, tmp_path):
    kept = tmp_path / "polled.csv"
    told = measure.snmp(
        f"127.0.0.1:{router.port}", interface="ge-0/0/1", rate="2 Mbit/s", rtt="100 ms",
        seconds=2.0, every=0.25, keep=kept,
    )  # fmt: skip
    assert told.estimates["load"].value == pytest.approx(0.5, abs=0.05)
    assert len(kept.read_text().splitlines()) == 1 + 9
    assert told.sources == [f"ge-0/0/1 of 127.0.0.1:{router.port} by SNMP"]
    again = measure.counters(kept, rate="2 Mbit/s", rtt="100 ms")
    assert again.estimates["load"] == told.estimates["load"]


@pytest.mark.parametrize(
    ("interface", "community", "said"),
    [("eth9", "public", "no interface eth9; it has ge-0/0/1, lo"),
     ("ge-0/0/1", "secret", "check its address, access list and community")],
)  # fmt: skip
def test_what_a_router_does_not_tell_is_one_line(router, monkeypatch, interface, community, said):
    monkeypatch.setattr("forebay.measure.polling._PATIENCE_S", 0.1)
    with pytest.raises(measure.MeasureError, match=said) as caught:
        measure.snmp(
            f"127.0.0.1:{router.port}", interface=interface, rate="2 Mbit/s", rtt="100 ms",
            seconds=1.0, every=0.1, community=community,
        )  # fmt: skip
    assert "\n" not in str(caught.value)


def test_the_command_polls(router, printed):
    at = f"--snmp 127.0.0.1:{router.port} --interface ge-0/0/1 --seconds 1 --every 0.25"
    told = json.loads(printed(f"measure {at} --rate '2 Mbit/s' --rtt '50 ms..150 ms' --json"))
    assert told["estimates"]["load"]["value"] == pytest.approx(0.5, abs=0.1)


def test_hosts_with_and_without_a_port():
    told = [Agent.parse(text, "") for text in ("a", "a:9", "[::1]:9", "::1")]
    assert [(one.host, one.port) for one in told] == [
        ("a", 161), ("a", 9), ("::1", 9), ("::1", 161)
    ]  # fmt: skip
    with pytest.raises(measure.MeasureError, match="write a host or HOST:PORT"):
        Agent.parse("a:x", "")
