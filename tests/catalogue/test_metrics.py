"""Every metric of an Outcome is stated in the catalogue, with how it scales to a larger link."""

from pathlib import Path

import pytest
from generate import answers

from forebay import run
from forebay.catalogue import METRICS, IncompleteRecord, check_stated
from forebay.outcome import Quantiles
from forebay.outcome.document import Closed
from forebay.outcome.model import ClassOutcome, ControllerOutcome, LinkOutcome, measured
from forebay.scenario import loads
from forebay.search.scaling import as_whole

PARTS: dict[str, type[Closed]] = {
    "link": LinkOutcome,
    "class": ClassOutcome,
    "controller": ControllerOutcome,
}
SMALL = """
link.rate = "10 Mbit/s"
queue.size = "40 packets"
measure = { warmup = "1 s", duration = "4 s" }
traffic = [{ flows = 4, rtt = { uniform = ["30 ms", "50 ms"] } }]
"""


@pytest.mark.parametrize("level", PARTS)
def test_a_metric_without_a_record_fails_and_is_named(level):
    with pytest.raises(IncompleteRecord, match=f"metric '{level}.reductions' is in forebay.outc"):
        check_stated(level, [*measured(PARTS[level]), "reductions"])


@pytest.mark.parametrize("level", PARTS)
def test_a_record_without_a_metric_fails_and_is_named(level):
    first, *others = measured(PARTS[level])
    with pytest.raises(IncompleteRecord, match=f"metric '{level}.{first}' is not in forebay.outc"):
        check_stated(level, others)


def test_what_is_no_metric_is_set_for_the_whole_link():
    """Facts of a link or class beside its metrics: `as_whole` sets or keeps each on purpose."""
    facts = {level: set(part.model_fields) - set(measured(part)) for level, part in PARTS.items()}
    assert facts["link"] == {
        "buffer_packets", "bdp_packets", "goal_metrics", "capacity_bps", "most_packets",
        "link_class", "flows", "offered_load",
    }  # fmt: skip
    assert facts["class"] == {
        "kind", "flows", "name", "link", "fct_open", "controllers", "settled", "unsettled",
        "slowdown", "slowdown_ideal",
    }  # fmt: skip


@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda each: each.name)
def test_a_metric_scales_as_its_record_says(metric, outcomes):
    """A link ten times as large with a buffer five times as large."""
    small, whole = outcomes
    if metric.level == "controller":
        assert metric.scaling == "omitted" and whole.classes[0].controllers is None
        return
    before, after = (
        getattr(o.links["bottleneck"] if metric.level == "link" else o.classes[0], metric.key)
        for o in (small, whole)
    )
    factors = {"same": 1, "loss": 1, "rate": 10, "queue": 5, "delay": 0.5, "omitted": None}
    factor = factors[metric.scaling]
    if factor is None or before is None:
        assert after is None
        return
    before, after = (m.p50 if isinstance(m, Quantiles) else m for m in (before, after))
    assert after.value == pytest.approx(factor * before.value)
    assert after.n == before.n


@pytest.fixture(scope="module")
def outcomes():
    small = loads(SMALL)
    whole = loads(SMALL.replace("10 Mbit/s", "100 Mbit/s").replace("flows = 4", "flows = 40"))
    outcome = run(small, engine="simulation", seeds=2)
    return outcome, as_whole(outcome, whole.with_buffer(200), 10.0, 5.0)


def test_the_page_of_the_metrics_is_that_of_the_records():
    page = Path(__file__).parents[2] / "docs/reference/metrics.md"
    assert page.read_text(encoding="utf-8") == answers.page(), (
        "metrics.md is older than the records: run `make generated`"
    )


@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda each: each.name)
def test_the_schema_describes_a_metric_as_its_record(metric):
    (model,) = (name for name, level in answers.PARTS.items() if level == metric.level)
    field = answers.schema("outcome")["$defs"][model]["properties"][metric.key]
    assert field["description"] == metric.meaning and field["title"].endswith(metric.unit)


EVERYTHING = """
link = { rate = "10 Mbit/s", loss = 1e-9 }
queue.size = "20 packets"
measure = { warmup = "1 s", duration = "4 s" }
traffic = [
  { flows = 4, rtt.uniform = ["30 ms", "50 ms"], congestion_control = { reno = 0.5, cubic = 0.5 } },
  { kind = "short", load = 0.2, rtt = "40 ms", \
    length.pareto = { mean = "40 packets", shape = 1.2, high = "5000 packets" } },
  { kind = "requests", flows = 4, fan_in = 2, think = "50 ms", rtt = "40 ms", \
    response.pareto = { mean = "40 packets", shape = 0.9, high = "5000 packets" } },
]
"""


@pytest.fixture(scope="module")
def everything():
    outcome = run(loads(EVERYTHING), engine="simulation", seeds=2)
    controllers = [k for each in outcome.classes for k in (each.controllers or {}).values()]
    return {"link": outcome.links.values(), "class": outcome.classes, "controller": controllers}


@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda each: each.name)
def test_the_simulation_measures_a_metric(metric, everything):
    """A field that `forebay.outcome.metrics` does not compute would be None in every answer."""
    values = [getattr(part, metric.key) for part in everything[metric.level]]
    assert any(value is not None for value in values), (
        f"metric {metric.name!r} has a record and a field, but forebay.outcome.metrics does not "
        "compute it"
    )
