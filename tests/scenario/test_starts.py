"""When flows start of which nobody wrote it: no window is empty for a default."""

import pytest

from forebay import run
from forebay.scenario import Scenario, Standing, loads

LINK = '[link]\nrate = "10 Mbit/s"\n[queue]\nsize = "100 packets"\n'


def made(measure: str, traffic: str = "flows = 5\n") -> Scenario:
    return loads(f"{LINK}[measure]\n{measure}\n[[traffic]]\n{traffic}")


def last(scenario: Scenario) -> str:
    group = scenario.traffic[0]
    assert isinstance(group, Standing)
    return str(group.start.high)


@pytest.mark.parametrize(
    ("measure", "within"),
    [
        ("", "10 s"),
        ('warmup = "60 s"', "10 s"),
        ('warmup = "1 s"', "1 s"),
        ('warmup = "1 us"', "1 us"),
        ('warmup = "0 s"\nduration = "10 s"', "2 s"),
        ('warmup = "0 s"\nduration = "86400 s"', "10 s"),
        ('warmup = "0 s"\nduration = "1 ms"', "200 us"),
    ],
)
def test_flows_start_within_the_warm_up_or_the_first_fifth(measure: str, within: str) -> None:
    assert last(made(measure)) == within


def test_what_was_written_stays_and_what_was_not_follows_the_window() -> None:
    asked = made('warmup = "1 s"')
    assert "start" not in asked.traffic[0].model_fields_set
    assert last(asked.replace({"measure.warmup": "3 s"})) == "3 s"
    assert (
        last(asked.replace({"traffic.0.start": "4 s"}).replace({"measure.warmup": "3 s"})) == "4 s"
    )
    again = Scenario(link=asked.link, traffic=asked.traffic)
    assert last(again) == "10 s"
    assert last(asked) == "1 s"


def test_requests_still_begin_at_once() -> None:
    workers = 'kind = "requests"\nflows = 4\nresponse = "9 kB"\nthink = "5 ms"\n'
    assert last(made('warmup = "1 s"', workers)) == "0 s"


@pytest.mark.parametrize("seed", range(1, 8))
def test_a_lone_flow_over_two_links_is_measured(seed: int) -> None:
    """Its start was drawn at 7 s, after the end of the run."""
    asked = made(
        'warmup = "1 s"\nduration = "5 s"',
        'kind = "udp"\nflows = 1\nrate = "1 Mbit/s"\nroute = ["bottleneck", "core"]\n'
        '[[links]]\nname = "core"\nrate = "20 Mbit/s"\nqueue = { size = "9 packets" }\n',
    )
    answer = run(asked, seed=seed)
    used = answer.links["core"].utilization
    assert used is not None
    assert used.value == pytest.approx(0.05, rel=0.01)
    assert "flows that start within 1 s" in answer.assumptions
    assert not answer.late_starts
