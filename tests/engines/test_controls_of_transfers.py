"""What an answer says of a class whose flows have several congestion controls, or heavy tails."""

import pytest

import forebay
from forebay.scenario import loads

LINK = """
link.rate = "1 Mbit/s"
queue.size = "30 kB"
measure = { warmup = "0 s", duration = "10 s" }
"""
LISTED = """
[[traffic]]
kind = "transfers"
rtt = "20 ms"
congestion_control = { reno = 0.5, cubic = 0.5 }
transfers = [
    { start = "0 s", size = "100 kB" }, { start = "0 s", size = "100 kB" },
    { start = "0 s", size = "100 kB", congestion_control = "bbr" },
]
"""


def test_a_listed_control_outside_the_mix_is_told_too():
    (group,) = forebay.run(loads(LINK + LISTED)).classes
    shares = [each.goodput_share for each in group.controllers.values()]
    assert "bbr" in group.controllers
    assert sum(share.value for share in shares if share) == pytest.approx(1.0)
    assert sum(each.flows for each in group.controllers.values()) == 3


def test_few_transfers_with_most_of_the_bytes_are_said_of_short_flows_too():
    short = '[[traffic]]\nkind = "short"\nload = 0.6\nlength = '
    heavy = '{ pareto = { mean = "20 packets", shape = 1.2 } }'
    (line,) = forebay.run(loads(LINK + short + heavy)).late_starts
    assert "may be off by about" in line
    assert not forebay.run(loads(LINK + short + '{ geometric = "20 packets" }')).late_starts
