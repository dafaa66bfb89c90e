"""Each invariant of an Outcome is seen where it is broken, and a sound one breaks none."""

import math
import pickle
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.outcomes import around, outcome_of

from forebay.outcome import ClassOutcome, ImpossibleOutcome, LinkOutcome, Metric, Quantiles
from forebay.outcome.invariants import INVARIANTS, checked, violations
from forebay.outcome.reading_invariants import INVARIANTS as OF_READINGS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "invariants.md"


metric = partial(around, n=2)


def spread(*values: float) -> Quantiles:
    mean, p50, p95, p99 = (metric(value) for value in values)
    return Quantiles(mean=mean, p50=p50, p95=p95, p99=p99)


def link(**changed: Any) -> LinkOutcome:
    sound: dict[str, Any] = {
        "utilization": metric(0.9, 0.01), "loss_rate": metric(0.01),
        "queue_packets": spread(4.0, 3.0, 8.0, 10.0),
        "queue_delay_s": spread(0.004, 0.003, 0.008, 0.01), "buffer_packets": 10,
        "bdp_packets": 5.0, "goal_metrics": {"queue_delay_maximum": metric(0.011)},
        "capacity_bps": 1e6, "most_packets": 10,
    }  # fmt: skip
    return LinkOutcome(**sound | changed)


def kind(**changed: Any) -> ClassOutcome:
    sound: dict[str, Any] = {
        "name": "web", "kind": "short", "flows": 4, "link": "bottleneck",
        "throughput_bps": metric(9e5, 1e3), "goodput_bps": metric(8e5), "jain": metric(0.7),
        "rtt_s": spread(0.05, 0.05, 0.06, 0.07), "loss_rate": metric(0.01), "timeouts": metric(3),
        "fct_s": Quantiles(mean=None, p50=metric(0.1), p95=metric(0.3), p99=None),
        "transfers": metric(100), "unfinished": metric(0.03),
        "fct_least_s": Quantiles(mean=metric(0.2), p50=None, p95=None, p99=metric(0.4)),
        "fct_open": "3 of 100 transfers had not ended",
    }  # fmt: skip
    return ClassOutcome(**sound | changed)


BROKEN: dict[str, tuple[LinkOutcome, ClassOutcome]] = {
    "finite": (link(utilization=metric(math.nan)), kind()),
    "fraction": (link(loss_rate=metric(3197.5)), kind()),
    "not-negative": (link(), kind(timeouts=metric(-1.0))),
    "interval": (link(), kind(jain=Metric(value=0.5, low=0.6, high=0.7, n=2))),
    "interval-possible": (link(), kind(throughput_bps=metric(9.9e5, 2e4))),
    "ordered": (link(), kind(rtt_s=spread(0.05, 0.06, 0.05, 0.07))),
    "mean-possible": (link(), kind(rtt_s=spread(0.01, 0.05, 0.06, 0.07))),
    "queue-in-buffer": (link(queue_packets=spread(4.0, 3.0, 8.0, 11.0)), kind()),
    "within-capacity": (link(), kind(throughput_bps=metric(1.1e6))),
    "goodput-in-throughput": (link(), kind(goodput_bps=metric(9.5e5))),
    "lost-with-reason": (link(), kind(fct_open=None)),
    "samples": (link(utilization=metric(0.9, n=3)), kind()),
}


def test_a_sound_outcome_breaks_none() -> None:
    sound = outcome_of(link(), kind())
    assert violations(sound) == []
    assert checked(sound) is sound


@pytest.mark.parametrize("name", BROKEN)
def test_what_cannot_be_is_seen(name: str) -> None:
    assert name in {each.invariant for each in violations(outcome_of(*BROKEN[name]))}


def test_every_invariant_has_such_a_case_and_a_line_on_the_page() -> None:
    assert set(BROKEN) == set(INVARIANTS)
    page = PAGE.read_text(encoding="utf-8")
    for name in (*INVARIANTS, *OF_READINGS):
        assert f"| `{name}` |" in page


def test_a_document_from_before_capacities_were_said_is_not_held_to_them() -> None:
    old = link(capacity_bps=None, most_packets=None, queue_packets=spread(40.0, 30.0, 80.0, 99.0))
    assert violations(outcome_of(old, kind(throughput_bps=metric(1e9)))) == []


def test_the_error_names_the_invariant_and_shows_no_number() -> None:
    with pytest.raises(ImpossibleOutcome) as refused:
        checked(outcome_of(*BROKEN["fraction"]))
    line = str(refused.value)
    assert "fraction: links.bottleneck.loss_rate" in line and "report" in line
    assert "3197" not in line and "\n" not in line
    assert refused.value.exit_status == 4
    assert "3197.5" in str(refused.value.violations[0])
    again = pickle.loads(pickle.dumps(refused.value))
    assert (str(again), again.violations) == (line, refused.value.violations)


def test_the_longest_wait_seen_bounds_the_mean_but_not_its_interval() -> None:
    delay = {"goal_metrics": {"queue_delay_maximum": metric(0.01)}}
    wide = spread(0.009, 0.009, 0.009, 0.009)
    wide = wide.model_copy(update={"mean": metric(0.009, 0.002)})
    assert not violations(outcome_of(link(queue_delay_s=wide, **delay), kind()))
    late = wide.model_copy(update={"mean": metric(0.0101)})
    names = {each.invariant for each in violations(outcome_of(link(queue_delay_s=late, **delay)))}
    assert names == {"mean-possible"}
