"""Which law governs, told from the facts of a scenario."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import forebay
from forebay.laws import LAWS, regime_of

LINK = '[link]\nrate = "155 Mbit/s"\n[[traffic]]\nflows = {}\nrtt = {}\n'
VARIED = '{ uniform = ["80 ms", "120 ms"] }'


def scenario(flows: int, rtt: str = VARIED, *overrides: str) -> Any:
    from forebay.scenario import loads

    return loads(LINK.format(flows, rtt), overrides=["queue.size=1 bdp/sqrt(n)", *overrides])


@pytest.mark.parametrize(
    ("asked", "regime", "law"),
    [
        (scenario(1), "one flow", "single-flow"),
        (scenario(2), "few flows in step", "synchronized"),
        (scenario(99), "few flows in step", "synchronized"),
        (scenario(100), "flows partly in step", "utilization"),
        (scenario(250), "many flows out of step", "utilization"),
        (scenario(1000, '"100 ms"'), "flows partly in step", "utilization"),
    ],
)
def test_the_number_of_flows_decides_among_long_ones(asked: Any, regime: str, law: str) -> None:
    told = regime_of(asked)
    assert (told.regime, told.law) == (regime, f"appenzeller-2004/{law}")
    assert told.law in {each.name for each in LAWS}
    assert all(line.endswith(".") and "\n" not in line for line in (told.why, told.would_change))


def test_access_links_or_windows_that_cannot_fill_the_link_leave_it_uncongested() -> None:
    slow = regime_of(scenario(15, VARIED, "traffic.0.access_rate=10 Mbit/s"))
    assert slow.regime == "uncongested" and "150 Mbit/s" in slow.why
    narrow = regime_of(scenario(100, VARIED, "traffic.0.max_window=12"))
    assert narrow.regime == "uncongested" and "1200 packets" in narrow.why
    wide = regime_of(scenario(100, VARIED, "traffic.0.max_window=13"))  # the path holds 1292
    assert wide.regime == "flows partly in step"


def tenfold(link_rate: float) -> float:
    return 10 * link_rate


def group(kind: str, flows: int = 10, load: float | None = None, **more: Any) -> SimpleNamespace:
    made = SimpleNamespace(
        direction="forward", kind=kind, flows=flows, access=tenfold, packet=1500, **more
    )
    if load is not None:
        made.flow_rate = lambda link_rate: load * link_rate / flows
    return made


def link(*groups: SimpleNamespace, n: int = 0) -> Any:
    return SimpleNamespace(
        traffic=groups, link=SimpleNamespace(rate=100e6), n_flows=n, bdp_packets=800.0,
        buffer_packets=50,
    )  # fmt: skip


def test_short_flows_alone_are_bursts() -> None:
    length = SimpleNamespace(mean_packets=lambda packet: 14)
    short = group("short", 0, length=length, arrivals_per_second=lambda rate: 0.8 * rate / 168_000)
    told = regime_of(link(short))
    assert told.regime == "short flows only" and "80 %" in told.why
    rtt = SimpleNamespace(low=0.08, high=0.12)
    long = group("long", 300, rtt=rtt)
    assert regime_of(link(short, long, n=300)).regime == "many flows out of step"


def test_open_loop_traffic_among_tcp_is_a_mix_and_alone_no_congestion() -> None:
    video = group("video", 2, load=0.12)
    told = regime_of(link(video, group("long", 40), n=40))
    assert (told.regime, told.law) == ("real-time mixed", None)
    assert "12 %" in told.why
    assert regime_of(link(video)).regime == "uncongested"


def test_the_public_answer_carries_it() -> None:
    asked = scenario(300, VARIED, "goals.utilization=0.98")
    told = forebay.size(asked, engine="theory").to_dict()["governs"]
    assert set(told) == {"regime", "law", "why", "would_change"}
    assert told["regime"] == "many flows out of step" and "300 flows" in told["why"]
