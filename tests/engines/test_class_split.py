"""Delay by class at the link under study, and congestion controls apart within it."""

import pytest
from tests.scenarios import scenario

import forebay
from forebay.effort import Effort
from forebay.engines.simulation import SimulationEngine
from forebay.outcome import ClassOutcome, Outcome
from forebay.scenario import loads

VOIP = """
link.rate = "10 Mbit/s"
queue.size = "200 packets"
queue.discipline = "{discipline}"
measure = {{ warmup = "5 s", duration = "10 s" }}
[[traffic]]
name = "bulk"
flows = 10
[[traffic]]
name = "voip"
kind = "udp"
flows = 5
load = 0.05
packet = "200 B"
"""

MIX = """
link.rate = "20 Mbit/s"
queue.size = "40 packets"
measure = {{ warmup = "10 s", duration = "20 s" }}
traffic = [{{ flows = 10, congestion_control = {{ reno = {share}, cubic = {rest} }} }}]
"""


def run(text: str, seeds: int = 1) -> Outcome:
    return SimulationEngine().run(loads(text), range(1, seeds + 1), Effort(jobs=1))


def mean_delay(kind: ClassOutcome) -> float:
    return kind.queue_delay_s.mean.value


def test_fq_codel_spares_voip_and_a_fifo_does_not():
    for discipline, spared in (("fq_codel", True), ("drop-tail", False)):
        bulk, voip = run(VOIP.format(discipline=discipline)).classes
        assert (bulk.name, voip.name) == ("bulk", "voip")
        assert (mean_delay(voip) < 0.3 * mean_delay(bulk)) is spared


@pytest.mark.parametrize("discipline", ["drop-tail", "bfifo", "codel"])
def test_the_link_s_delay_is_that_of_its_classes_together(discipline):
    outcome = run(VOIP.format(discipline=discipline))
    link = outcome.links["bottleneck"].queue_delay_s
    assert min(map(mean_delay, outcome.classes)) <= link.mean.value * 1.01
    assert max(map(mean_delay, outcome.classes)) >= link.mean.value * 0.99


def test_a_class_alone_has_the_link_s_delay():
    """And one that does not cross the link has none."""
    text = VOIP.format(discipline="codel")
    alone = run(text[: text.index('[[traffic]]\nname = "voip"')])
    whole = alone.links["bottleneck"].queue_delay_s.mean.value
    assert mean_delay(alone.classes[0]) == pytest.approx(whole, rel=1 / 64)
    aside = '[[links]]\nname = "aside"\nrate = "10 Mbit/s"\n'
    outcome = run(f'{text}{aside}[[traffic]]\nflows = 2\nroute = ["aside"]\n')
    assert outcome.classes[2].queue_delay_s is None and outcome.classes[2].link == "aside"


def test_controllers_of_a_class_make_up_the_class():
    (kind,) = run(MIX.format(share=0.4, rest=0.6), seeds=3).classes
    assert list(kind.controllers) == ["reno", "cubic"]
    each = list(kind.controllers.values())
    assert [one.flows for one in each] == [4, 6]
    assert sum(one.goodput_share.value for one in each if one.goodput_share) == pytest.approx(1)
    total = sum(one.goodput_bps.value for one in each if one.goodput_bps)
    assert total == pytest.approx(kind.goodput_bps.value)
    rates = [one.loss_rate.value for one in each if one.loss_rate]
    assert min(rates) <= kind.loss_rate.value <= max(rates)
    assert all(one.jain is not None and one.jain.n == 3 for one in each)
    (kind,) = forebay.run(scenario()).classes
    assert kind.controllers is None, "a class of one control is not split"


def test_a_listed_control_outside_the_mix_is_told_too():
    one = {"start": "0 s", "size": "100 kB"}
    listed = {
        "kind": "transfers", "rtt": "20 ms", "congestion_control": {"reno": 0.5, "cubic": 0.5},
        "transfers": [one, one, one | {"congestion_control": "bbr"}],
    }  # fmt: skip
    (group,) = forebay.run(scenario({"traffic": [listed], "measure.warmup": "0 s"})).classes
    shares = [each.goodput_share for each in group.controllers.values()]
    assert "bbr" in group.controllers
    assert sum(share.value for share in shares if share) == pytest.approx(1.0)
    assert sum(each.flows for each in group.controllers.values()) == 3
