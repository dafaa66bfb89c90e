"""Shapers and policers: what a scenario says of them, and what it refuses."""

import pytest

from forebay.scenario import Duration, Scenario, ScenarioError, loads

SHAPED = """
[link]
rate = "100 Mbit/s"
shaper = { rate = "21 Mbit/s", burst = "52.5 kB", refill = "interval" }
[queue]
size = "10 ms"
[[traffic]]
flows = 10
rtt = "100 ms"
"""


def shaped(**changes: object) -> Scenario:
    return loads(SHAPED).replace({name.replace("__", "."): v for name, v in changes.items()})


def test_sizes_are_of_the_shaper_s_rate() -> None:
    scenario = shaped()
    assert scenario.link.capacity == 21e6
    assert scenario.bdp_packets == 175  # 21 Mbit/s x 100 ms / 12 kbit
    assert scenario.buffer_packets == 18  # 17.5 rounded
    assert scenario.replace({"link.shaper": None}).bdp_packets == pytest.approx(833.3, abs=0.1)


def test_tokens_come_once_bc_over_the_rate() -> None:
    bucket = shaped(link__shaper__excess="1 kB").link.shaper
    assert bucket is not None
    assert (bucket.interval, bucket.depth) == (Duration(0.02), 53_500)


@pytest.mark.parametrize(
    ("changes", "field", "wrong"),
    [
        ({"link__shaper__rate": "1 Gbit/s"}, "link.shaper.rate", "above the rate of the link"),
        ({"link__shaper__burst": "1 kB"}, "link.shaper.burst", "is smaller than a packet"),
        ({"link__shaper__burst": "1 TB"}, "link.shaper.burst", "to fill"),
        ({"queue__transmit_ring": 3}, "queue.transmit_ring", "never fills behind a shaper"),
        ({"link__policer": {"rate": "1 Gbit/s", "burst": "9 kB"}}, "link.policer.rate", "above"),
        ({"link__policer": {"rate": "1 Mbit/s", "burst": "1 kB"}}, "link.policer.burst", "1500 B"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_where_it_is_written(
    changes: dict[str, object], field: str, wrong: str
) -> None:
    with pytest.raises(ScenarioError, match=wrong) as refused:
        shaped(**changes)
    assert refused.value.field == field
