"""The atlas: what it answers, what it refuses and how, and what must hold of any answer."""

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cases import cases

import forebay
from forebay import engines
from forebay.engines.atlas import model, scope
from forebay.search.budget import OutOfTime
from forebay.search.search import _Search

MODELS = Path(model.__file__).parent / "models"
LINK: dict[str, Any] = {
    "link": {"rate": "1 Gbit/s"},
    "queue": {"size": "300 packets"},
    "traffic": [
        {
            "kind": "long", "flows": 100, "congestion_control": {"cubic": 0.6, "bbr3": 0.4},
            "rtt": {"uniform": ["30 ms", "90 ms"]}, "access_rate": "2 Gbit/s",
        }
    ],
    "goals": {"utilization": 0.95},
}  # fmt: skip
CONTROL = "traffic.0.congestion_control"


def link(changes=None):
    return forebay.Scenario.from_dict(LINK).replace(changes or {})


def answered(scenario):
    return forebay.run(scenario, "atlas").links["bottleneck"]


OUTSIDE = [
    ({"traffic.0.flows": 7}, "traffic.0.flows", "8 to 1,024"),
    ({"traffic.0.flows": 2000}, "traffic.0.flows", "8 to 1,024"),
    ({"traffic.0.flows": "50..100"}, "traffic.0.flows", "one number"),
    ({"traffic.0.rtt": "50 ms"}, "traffic.0.rtt", "1.02 to 8"),
    ({"traffic.0.rtt": {"uniform": ["50 ms", "50.1 ms"]}}, "traffic.0.rtt", "1.02 to 8"),
    ({"traffic.0.rtt": {"values": ["30 ms", "50 ms"]}}, "traffic.0.rtt", "uniform"),
    ({"traffic.0.rtt": {"uniform": ["0.2 s", "1 s"]}}, "traffic.0.rtt", "0.002 to 0.3"),
    ({"link.rate": "20 Mbit/s", "traffic.0.access_rate": "20 Mbit/s"}, "link.rate", "3 to 500"),
    ({"link.rate": "40 Gbit/s", "traffic.0.flows": 1000}, "link.rate", "0 to 1,000,000"),
    ({"traffic.0.access_rate": "50 Mbit/s"}, "traffic.0.access_rate", "0.1 to 10"),
    ({"traffic.0.access_rate": "1 Gbit/s"}, "traffic.0.access_rate", "faster and slower"),
    ({"traffic.0.max_window": 50}, "traffic.0.max_window", "without it"),
    ({"traffic.0.ecn": True}, "traffic.0.ecn", "without it"),
    ({"traffic.0.sender": "ns2"}, "traffic.0.sender", "without it"),
    ({"traffic.0.offload": "off"}, "traffic.0.offload", "hosts with it"),
    ({"traffic.0.packet": "9000 B"}, "traffic.0.packet", "1400 to 1514"),
    ({CONTROL: "westwood"}, CONTROL, "reno with cubic, cubic with bbr3, cubic with bbr"),
    ({CONTROL: {"reno": 0.5, "bbr3": 0.5}}, CONTROL, "cubic, cubic with bbr3, cubic with bbr"),
    ({"queue.discipline": "codel"}, "queue.discipline", "drop-tail"),
    ({"queue.transmit_ring": 8}, "queue.transmit_ring", "without it"),
    ({"queue.size": "100000 packets"}, "queue.size", "1 to 20000"),
    ({"link.loss": 0.01}, "link.loss", "without it"),
    ({"link.jitter": "1 ms"}, "link.jitter", "without it"),
    ({"traffic.1": {"kind": "short", "length": "9 kB", "load": 0.1}}, "traffic.1.kind", "long"),
    ({"traffic.0.access_rate": None, "queue.size": "20 packets"}, "queue.size", "88 to 20000"),
]


@pytest.mark.parametrize(("changes", "field", "bound"), OUTSIDE)
def test_what_is_outside_is_refused_with_the_bound_that_is_passed(changes, field, bound):
    own = dict(changes)
    if "traffic.1" in own:
        own["traffic"] = [*LINK["traffic"], own.pop("traffic.1")]
    with pytest.raises(forebay.OutsideAtlas, match="simulation") as caught:
        forebay.run(link({"goals": {}} | own), "atlas")
    assert (caught.value.field, caught.value.exit_status) == (field, 3)
    assert bound in str(caught.value) and "\n" not in str(caught.value)


def test_an_answer_has_the_flows_shares_and_intervals_that_contain_their_values():
    outcome = forebay.run(link(), "atlas")
    bottleneck, kind = outcome.links["bottleneck"], outcome.classes[0]
    assert "cubic+bbr3" in outcome.provenance.model_extra["atlas"]
    parts = kind.controllers
    assert {name: each.flows for name, each in parts.items()} == {"cubic": 60, "bbr3": 40}
    assert sum(each.goodput_share.value for each in parts.values()) == pytest.approx(1.0)
    wait = bottleneck.queue_delay_s
    for metric in (bottleneck.utilization, bottleneck.loss_rate, wait.mean, wait.p99):
        assert metric.low <= metric.value <= metric.high and metric.low < metric.high
    assert wait.p99.value <= 300 / (1e9 / 12000) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("mix", "family", "settled_s"),
    [
        ("reno", "reno+cubic", 16),
        ("cubic", "reno+cubic", 16),
        ({"reno": 0.5, "cubic": 0.5}, "reno+cubic", 16),
        ("bbr3", "cubic+bbr3", 43),
        ({"cubic": 0.95, "bbr3": 0.05}, "cubic+bbr3", 43),
        ("bbr", "cubic+bbr", 43),
        ({"cubic": 0.5, "bbr": 0.5}, "cubic+bbr", 43),
    ],
)
def test_a_mix_is_answered_by_its_family_and_ends_are_pure(mix, family, settled_s):
    scenario = link({CONTROL: mix, "measure.warmup": "5 s"})
    outcome = forebay.run(scenario, "atlas")
    assert outcome.provenance.model_extra["atlas"].startswith(f"{family}, ")
    assert any(f"{settled_s} s to settle" in each for each in outcome.broken_assumptions)
    assert (outcome.classes[0].controllers is not None) == isinstance(mix, dict)
    assert outcome.classes[0].throughput_bps.value == pytest.approx(
        1e9 * outcome.links["bottleneck"].utilization.value
    )


@pytest.mark.parametrize("flows", [20, 200])
def test_reno_needs_more_than_cubic(flows):
    """It keeps half of its window after a loss, and CUBIC 0.7."""
    sizes = (40, 80, 160)
    scenarios = [link({CONTROL: name, "traffic.0.flows": flows}) for name in ("reno", "cubic")]
    for size in sizes:
        reno, cubic = (answered(each.with_buffer(size)).utilization for each in scenarios)
        assert reno.value < cubic.value


def test_classes_that_are_alike_are_one_mix():
    both = {**LINK, "traffic": []}
    for control, flows in (("cubic", 60), ("bbr3", 40)):
        own = {"flows": flows, "congestion_control": control}
        both["traffic"].append({**LINK["traffic"][0], **own})
    apart, mixed = forebay.Scenario.from_dict(both), link()
    assert answered(apart) == answered(mixed)
    got = [each.throughput_bps.value for each in forebay.run(apart, "atlas").classes]
    whole = forebay.run(mixed, "atlas").classes[0].throughput_bps.value
    assert sum(got) == pytest.approx(whole)
    twice = forebay.Scenario.from_dict({**LINK, "traffic": 2 * LINK["traffic"]})
    for each in forebay.run(twice, "atlas").classes:
        assert sum(one.goodput_share.value for one in each.controllers.values()) == pytest.approx(1)
    other = apart.replace({"traffic.1.rtt": {"uniform": ["10 ms", "20 ms"]}})
    with pytest.raises(forebay.OutsideAtlas, match=r"traffic\.1\.rtt"):
        forebay.run(other, "atlas")


def test_seeds_and_units_do_not_matter():
    scenario = link({"queue.size": "450000 B", "link.rate": "1000 Mbit/s"})
    assert answered(scenario) == answered(link())
    assert forebay.run(link(), "atlas", seeds=3, seed=9).links == forebay.run(link(), "atlas").links


@pytest.mark.parametrize("flows", [20, 100, 500])
def test_loss_based_flows_use_no_less_of_a_larger_buffer_and_lose_less(flows):
    scenario = link({CONTROL: "cubic", "traffic.0.flows": flows})
    bdp = scenario.bdp_packets
    sizes = [round(size) for size in np.geomspace(0.5 * bdp / flows**0.5, bdp, 12)]
    links = [answered(scenario.with_buffer(size)) for size in sizes]
    used = np.array([each.utilization.value for each in links])
    lost = np.array([each.loss_rate.value for each in links])
    assert (np.diff(used) > -0.003).all(), used
    assert (lost[1:] < 1.1 * lost[:-1]).all(), lost


def test_a_curve_takes_milliseconds_and_a_model_half_a_megabyte():
    points = [scope.point_of(link()).with_packets(size) for size in range(10, 1000, 50)]
    found = model.load(("cubic", "bbr3"))
    found.answer(points)
    spent = []
    for _ in range(5):
        began = time.process_time()
        found.answer(points)
        spent.append(time.process_time() - began)
    assert min(spent) < 0.05  # 5 to 13 ms beside other work
    assert all(each.stat().st_size <= 500_000 for each in MODELS.iterdir())


def test_smooth_values_come_back():
    values, shares = np.array([0.0, 1e-4, 0.03, 0.5, 1.0]), np.full(5, 0.4)
    for name in model.METRICS:
        smooth = model.to_smooth(name, values, shares)
        assert np.isfinite(smooth).all()
        np.testing.assert_allclose(model.from_smooth(name, smooth, shares), values, atol=1e-12)


def test_a_stale_atlas_refuses_itself_and_names_what_makes_it_anew(monkeypatch):
    model.load.cache_clear()
    monkeypatch.setattr(model, "is_stale", lambda: True)
    with pytest.raises(forebay.EngineUnavailable, match=r"benches/atlas_design\.py") as caught:
        engines.get("atlas").run(link(), [1])
    assert caught.value.exit_status == 3


def test_a_search_of_simulations_begins_where_the_atlas_puts_the_least():
    scenario = link(
        {"link.rate": "50 Mbit/s", "traffic.0.flows": 20, "traffic.0.access_rate": "500 Mbit/s"}
    )
    charted = forebay.size(scenario, "atlas")
    ran = []
    forebay.size(scenario, budget="4 s", seeds=2, observe=ran.append)
    first = ran[0].links["bottleneck"].buffer_packets
    assert ran[0].engine == "simulation"
    assert charted.buffer.low <= first <= charted.buffer.high


def test_the_atlas_stands_where_no_simulation_fits(monkeypatch):
    whole = _Search._attempts

    def attempts(self):
        if self.problem.engine != "atlas":
            raise OutOfTime
        return whole(self)

    scenario = link({"link.rate": "10 Gbit/s", "traffic.0.flows": 1000})
    charted = forebay.size(scenario, "atlas")
    monkeypatch.setattr(_Search, "_attempts", attempts)
    found = forebay.size(scenario, budget="2 s")
    assert (found.engine, found.recommended) == ("atlas", charted.recommended)
    assert found.cost.budget_s == 2.0 and found.buffer == charted.buffer


def test_sizes_stay_within_the_buffers_that_are_covered():
    scenario = link({"traffic.0.access_rate": None})
    found = forebay.size(scenario, "atlas")
    assert min(each.packets for each in found.curve) >= 88
    assert found.buffer.low >= 1 and found.recommended.packets >= 88
    high = forebay.size(scenario.replace({"goals.utilization": 0.9999}), "atlas")
    assert max(each.packets for each in high.curve) <= 4 * scenario.bdp_packets


def test_the_page_has_its_first_curve_from_the_atlas():
    answering = pytest.importorskip("forebay.web.answering")
    sent = []

    class Told:
        def send(self, name, data):
            sent.append((name, data))

    assert answering.by_atlas(Told(), link(), [50, 100, 200, 100_000])
    points = [data for name, data in sent if name == "point"]
    assert [each["packets"] for each in points] == [50, 100, 200]
    assert all(each["replications"] == 0 and each["stage"] == "coarse" for each in points)
    sent.clear()
    assert not answering.by_atlas(Told(), link({CONTROL: "westwood"}), [50])
    assert not sent


def _same(place):
    """Whether a cell of the design still has its digits."""
    canary = json.loads((MODELS / "canaries.json").read_text("utf-8"))["canaries"][place]
    start = {"uniform": ["0 s", "10 s"]}
    cell: dict[str, Any] = {
        "name": "atlas", "link": {"rate": "1 Mbit/s"}, "queue": {"size": "1 packets"},
        "traffic": [{"kind": "long", "flows": 8, "start": start}],
    }  # fmt: skip
    scenario = forebay.Scenario.from_dict(cell).replace(canary["fields"])
    row = forebay.run(scenario, seed=canary["seed"], jobs=1).to_row()
    return {name: f"{row[name]:.12g}" for name in canary["digits"]} == canary["digits"]


@pytest.mark.parametrize("place", cases(range(40), (0, 20, 39).__contains__))
def test_canaries_have_their_digits_or_the_atlas_is_marked_as_stale(place):
    again = "the simulator's digits changed: run benches/atlas_canaries.py"
    assert model.is_stale() or _same(place), again
