"""Only certain sizes can be configured: one of them is recommended, or none."""

from __future__ import annotations

import pytest

from forebay.outcome import Buffer, Interval, Recommended, SizeResult
from forebay.scenario import Scenario, ScenarioError, loads
from forebay.search.configurable import parse_sizes, within_sizes

LINK = '[link]\nrate = "12 Mbit/s"\n[[traffic]]\nflows = 100\n'


@pytest.fixture
def scenario() -> Scenario:
    return loads(LINK)


@pytest.mark.parametrize(
    ("text", "packets"),
    [
        ("64,128,256 packets", (64, 128, 256)),
        ("256 packets, 64 packets,128", (64, 128, 256)),
        ("150 kB, 300 kB", (100, 200)),
        ("1,2, 4 ms", (1, 2, 4)),
    ],
)
def test_sizes_share_the_last_ones_unit(
    text: str, packets: tuple[int, ...], scenario: Scenario
) -> None:
    if "128" in text and not text.endswith("packets"):
        with pytest.raises(ScenarioError, match="no unit"):
            parse_sizes(text, scenario)
        return
    assert parse_sizes(text, scenario) == packets


@pytest.mark.parametrize("text", ["", ",", "many packets", "0 packets", "5 apples"])
def test_bad_sizes_are_refused(text: str, scenario: Scenario) -> None:
    with pytest.raises(ScenarioError):
        parse_sizes(text, scenario)


def answer(most: int | None = None) -> SizeResult:
    """Return an answer of 100 packets, recommended 150, that meets the goals up to ``most``."""
    return SizeResult(
        buffer=Buffer(packets=100, bytes=150_000, seconds=0.1, low=80, high=100),
        recommended=Recommended(packets=150, bytes=225_000, seconds=0.15, why=("a reason",)),
        region=(Interval(low=100, high=most, binding_low=(), binding_high=()),),
    )


@pytest.mark.parametrize(
    ("sizes", "most", "packets", "says"),
    [
        ((64, 128, 256), None, 256, "256 is the smallest from 150 on"),
        ((64, 150, 256), None, 150, "150 is the smallest from 150 on"),
        ((64, 128, 256), 200, 128, "128 is the largest that meets all goals"),
        ((64, 99), None, None, "none of the sizes that can be configured"),
        ((512,), 200, None, "none of the sizes that can be configured"),
    ],
)
def test_the_size_nearest_above_is_taken(
    sizes: tuple[int, ...], most: int | None, packets: int | None, says: str, scenario: Scenario
) -> None:
    found = within_sizes(scenario, answer(most), sizes)
    if packets is None:
        assert found.recommended is None and found.reason is not None and says in found.reason
        assert found.exit_status == 3
        return
    assert found.recommended is not None
    assert (found.recommended.packets, found.recommended.bytes) == (packets, 1500 * packets)
    assert found.recommended.why[0] == "a reason" and says in found.recommended.why[-1]
