"""The ideal time of a transfer behind a shaper, against sums by hand."""

from typing import Any

import numpy as np
import pytest

import forebay
from forebay import Scenario

PACKET = 1500 * 8
WIRE, SHAPED = 20e6, 5e6
PAYLOAD = 1448


def flows(shaper: Any, access: str = "1 Gbit/s") -> forebay.outcome.model.FlowTable:
    sizes = {"1 s": 1, "3 s": 20, "6 s": 40, "10 s": 200}
    transfers: list[Any] = [
        {"start": start, "size": f"{packets * PAYLOAD} B"} for start, packets in sizes.items()
    ]
    scenario = Scenario(
        link={"rate": "20 Mbit/s", "shaper": shaper},
        queue={"size": "5000 packets"},
        traffic=[
            {
                "kind": "transfers", "transfers": transfers, "rtt": "10 ms",
                "initial_window": 1000, "access_rate": access,
            }
        ],
        measure={"warmup": "0 s", "duration": "20 s"},
    )  # fmt: skip
    return forebay.run(scenario).flows()


@pytest.mark.parametrize(
    ("shaper", "bucket"),
    [
        ({"rate": "5 Mbit/s", "burst": "50 kB"}, 400e3),
        ({"rate": "5 Mbit/s", "burst": "20 kB", "excess": "10 kB"}, 240e3),
        ({"rate": "5 Mbit/s", "refill": "deficit"}, PACKET),
    ],
)
def test_a_shaper_passes_its_bucket_at_the_rate_of_the_wire(shaper, bucket):
    table = flows(shaper)
    bits = 8 * table["size_bytes"]
    tokens = np.maximum(0.0, bits - bucket) / SHAPED + PACKET / WIRE
    by_hand = PACKET / 1e9 + 5e-3 + np.maximum(bits / WIRE, tokens)
    assert table["ideal_s"] == pytest.approx(by_hand, rel=1e-9)
    assert table["slowdown"] == pytest.approx(np.ones(4), rel=1e-9)


def test_a_slower_access_link_is_the_slowest_of_all():
    table = flows({"rate": "5 Mbit/s", "burst": "50 kB"}, access="4 Mbit/s")
    by_hand = table["size_bytes"] * 8 / 4e6 + PACKET / WIRE + 5e-3
    assert table["ideal_s"] == pytest.approx(by_hand, rel=1e-9)


def test_who_waits_for_a_refill_is_slower_than_the_ideal():
    table = flows({"rate": "5 Mbit/s", "burst": "20 kB", "refill": "interval"})
    assert min(table["slowdown"]) > 1 - 1e-9 and max(table["slowdown"]) > 1.5
