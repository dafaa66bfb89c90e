"""Loss rate of many flows: known answers, and simulation inside the band that is claimed."""

import math

import pytest

import forebay
from forebay.engines.errors import NoLaw
from forebay.laws import response
from forebay.scenario import loads
from forebay.search.goals import GoalNotAnswered


@pytest.mark.parametrize("p", [1e-5, 1e-3, 0.05])
def test_reno_without_timeouts_is_slide_9_of_hisamatsu(p):
    """w^2 = 3 (1 - d) / (2 d), with no loss found by timeout."""
    expected = math.sqrt(1.5 * (1 - p) / p)
    assert float(response.window(p, "reno", 0.1)) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("p", [1e-4, 1e-3, 1e-2])
def test_reno_is_rfc_5348(p):
    """Section 3.1 with b = 1: 1 / (R sqrt(2bp/3) + t_RTO 3 sqrt(3bp/8) p (1 + 32 p^2))."""
    rtt, rto = 0.1, 0.3
    late = rto * min(1.0, 3 * math.sqrt(3 * p / 8)) * p * (1 + 32 * p**2)
    expected = 1 / (rtt * math.sqrt(2 * p / 3) + late)
    flow = response.Flows(1.0, "reno", rtt, rto)
    assert float(response.rate(p, flow)) == pytest.approx(expected, rel=0.01)


def test_cubic_is_rfc_9438_where_it_is_faster_than_reno():
    """Section 5.1: (C (3 + beta) / (4 (1 - beta)))^(1/4) (RTT / p)^(3/4) ."""
    p, rtt = 1e-6, 0.2
    expected = (0.4 * 3.7 / 1.2) ** 0.25 * rtt**0.75 / p**0.75
    assert float(response.window(p, "cubic", rtt)) == pytest.approx(expected, rel=0.01)
    assert float(response.window(1e-2, "cubic", 0.02)) == pytest.approx(
        float(response.window(1e-2, "reno", 0.02)), rel=0.1
    )


def test_what_counts_is_the_mean_of_one_over_the_rtt():
    """Flows of 10 and 90 ms send in all like flows of 18 ms."""

    def lost(*rtts: float) -> float | None:
        flows = [response.Flows(10.0 / len(rtts), "reno", rtt, 0.0) for rtt in rtts]
        return response.loss_rate(flows, 5000.0)

    assert lost(0.01, 0.09) == pytest.approx(lost(0.018), rel=1e-3)


def test_flows_that_a_window_holds_lose_nothing_that_a_law_could_tell():
    held = response.Flows(10.0, "reno", 0.1, 0.3, most=5.0)
    assert response.loss_rate([held], 1000.0) is None
    assert response.loss_rate([held], 400.0) is not None


LINK = """
link.rate = "{rate} Mbit/s"
queue.size = "{size}"
measure = {{ warmup = "15 s", duration = "30 s" }}
[[traffic]]
flows = {flows}
congestion_control = {control}
rtt = {{ uniform = ["{low} ms", "{high} ms"] }}
"""


@pytest.mark.parametrize("size", ["1 bdp/sqrt(n)", "0.5 bdp"])
@pytest.mark.parametrize(
    "control", ['"reno"', '"cubic"', '"scalable"', "{ cubic = 0.5, reno = 0.5 }"]
)
@pytest.mark.parametrize(("rate", "flows", "low", "high"), [
    (20, 12, 40, 80), (20, 40, 10, 120), (5, 10, 90, 100), (100, 20, 10, 120),
])  # fmt: skip
def test_simulation_lies_in_the_band(rate, flows, low, high, control, size):
    asked = loads(
        LINK.format(rate=rate, flows=flows, low=low, high=high, control=control, size=size)
    )
    told = forebay.run(asked, "theory").links["bottleneck"].loss_rate
    seen = forebay.run(asked, "simulation", jobs=1).links["bottleneck"].loss_rate
    assert told.low <= seen.value <= told.high


@pytest.mark.parametrize("flows", [4, 20])
def test_a_buffer_below_those_compared_has_no_upper_end_and_meets_no_goal(flows):
    text = LINK.format(rate=20, flows=flows, low=40, high=80, control='"reno"', size="1 packets")
    asked = loads(text)
    told = forebay.run(asked, "theory").links["bottleneck"].loss_rate
    seen = forebay.run(asked, "simulation", jobs=1).links["bottleneck"].loss_rate
    assert told.low <= seen.value <= told.high == 1.0
    found = forebay.size(loads(text + "[goals]\nloss_rate = 0.05"), "theory").recommended
    assert found.packets >= 0.5 * asked.bdp_packets / math.sqrt(flows)


TRANSIT = """
link.rate = "{rate} Gbit/s"
[[traffic]]
flows = {flows}
rtt = {{ uniform = ["10 ms", "120 ms"] }}
congestion_control = "cubic"
[goals]
utilization = 0.99
loss_rate = 0.002
queue_delay_p99 = "10 ms"
"""


def test_cubic_over_transit_loses_far_more_than_0_76_over_w_squared():
    """10 Gbit/s, 2000 flows, 1229 packets: 0.099 % by that law, where simulation has 0.75 %.

    The goal of 0.2 % was said to be met there; now nothing within the delay is shown to meet it.
    """
    asked = loads(TRANSIT.format(rate=10, flows=2000))
    lost = forebay.run(asked.with_buffer(1229), "theory").links["bottleneck"].loss_rate
    assert lost.low < 0.0075 < lost.high and lost.value > 0.003
    assert forebay.size(asked, "theory").buffer is None


def test_a_loss_goal_that_no_law_answers_is_refused_not_met():
    bic = TRANSIT.format(rate=1, flows=200).replace('"cubic"', '"bic"')
    with pytest.raises(GoalNotAnswered, match="loss_rate") as caught:
        forebay.size(loads(bic), "theory")
    assert caught.value.exit_status == 3
    with pytest.raises(NoLaw):
        forebay.size(loads(bic.replace('"bic"', '"bbr"')), "theory")
