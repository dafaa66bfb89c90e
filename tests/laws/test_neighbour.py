"""A bracket from the laws for a link that has no law, and that no time was left to simulate."""

from __future__ import annotations

import pytest

import forebay
from forebay.laws.neighbour import bracket
from forebay.scenario import Scenario, loads


def link(rtt: str, control: str, flows: str = "500", rate: str = "10 Gbit/s") -> Scenario:
    return loads(
        f'[link]\nrate = "{rate}"\n[[traffic]]\nflows = {flows}\nrtt = {rtt}\n'
        f"congestion_control = {control}\n[goals]\nutilization = 0.98\n"
    )


SPREAD = '{ uniform = ["60 ms", "100 ms"] }'


@pytest.mark.parametrize(
    ("asked", "begins"),
    [
        (
            link(SPREAD, '"cubic"'),
            "appenzeller-2004/utilization gives 2781 packets, and simulations",
        ),
        (
            link('"80 ms"', '"cubic"'),
            "with round trips that differ by a fifth each way, appenzeller-2004/utilization gives",
        ),
        (
            link(SPREAD, '"bbr"'),
            "with loss-based flows (cubic), appenzeller-2004/utilization gives",
        ),
        (
            link('"80 ms"', "{ cubic = 0.6, bbr = 0.4 }"),
            "with loss-based flows (cubic) and round trips that differ by a fifth each way, appenz",
        ),
        (link(SPREAD, '"reno"', '"200..20000"'), "appenzeller-2004/utilization gives"),
    ],
)
def test_it_is_the_answer_to_the_nearest_question_that_has_one(
    asked: Scenario, begins: str
) -> None:
    found = bracket(asked)
    assert found is not None and found.why.startswith(begins)


def test_the_range_is_the_law_s_over_the_factors_of_simulations() -> None:
    """2781 packets of eq. 6 for CUBIC with a spread of two thirds: 1.2 to 2.6 times."""
    found = bracket(link(SPREAD, '"cubic"'))
    assert found is not None and found.why.endswith("needed 1070 to 2317")
    assert (round(found.low), round(found.high)) == (1070, 2317)


def test_traffic_without_any_law_has_no_bracket() -> None:
    video = '[[traffic]]\nkind = "video"\nflows = 9\nrate = "90 Mbit/s"\n'
    queue = '[queue]\nsize = "100 packets"\n'
    video = f'[link]\nrate = "1 Gbit/s"\n{queue}{video}'
    assert bracket(loads(video)) is None


@pytest.mark.parametrize("control", ['"bbr"', "{ cubic = 0.2, bbr = 0.8 }", '"bbr3"'])
def test_a_refusal_for_want_of_time_has_it(control: str) -> None:
    asked = link('"80 ms"', control, "50", "100 Gbit/s")
    with pytest.raises(forebay.TooLittleTime) as error:
        forebay.size(asked, budget="0.1 s")
    said = str(error.value)
    assert "; meanwhile: with loss-based flows (cubic) and round trips" in said
    assert "\n" not in said and error.value.exit_status == 3
