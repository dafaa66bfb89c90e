"""Several class queues before a wire, from a scenario to an answer; what each class gets.

Delay by class at the link under study, and congestion controls apart within it.
"""

import pytest
from tests.refused import refused
from tests.scenarios import scenario

import forebay
from forebay.effort import Effort
from forebay.engines.simulation import SimulationEngine
from forebay.outcome import ClassOutcome, Outcome
from forebay.platforms import PlatformError, of_sizing, read_target
from forebay.scenario import loads
from forebay.search.parameter import notes_of, parameter_of

PORT = """
link.rate = "10 Mbit/s"
measure = { warmup = "4 s", duration = "12 s" }
traffic = [
  { name = "voip", kind = "udp", flows = 10, rate = "80 kbit/s", packet = "200 B", start = "0 s" },
  { name = "erp", flows = 8, rtt = { uniform = ["40 ms", "60 ms"] } },
  { name = "bulk", flows = 8, rtt = { uniform = ["40 ms", "60 ms"] } },
]
[queue]
discipline = "classes"
size = "60 packets"
classes = [
    { name = "voice", traffic = ["voip"], priority = 1, size = "20 packets" },
    { name = "business", traffic = ["erp"], weight = 3.0 },
    { name = "rest", default = true },
]
"""


def classes(*sets: str, text: str = PORT) -> dict[str, ClassOutcome]:
    outcome = forebay.run(loads(text, overrides=sets), seeds=3)
    return {each.name: each for each in outcome.classes}


def mbps(each: ClassOutcome) -> float:
    return each.throughput_bps.value / 1e6


def delay(each: ClassOutcome) -> float:
    return each.queue_delay_s.p99.value


def test_a_port_serves_its_classes_as_it_is_told():
    each = classes()
    # Voice: 0.8 Mbit/s, and no longer a wait than a full packet on the wire and its own burst.
    assert (
        mbps(each["voip"]) == pytest.approx(0.8, rel=0.01) and each["voip"].loss_rate.value == 0.0
    )
    assert delay(each["voip"]) < (1500 + 10 * 200) * 8 / 10e6
    # What is left, 9.2 Mbit/s, goes 3 to 1.
    assert mbps(each["erp"]) == pytest.approx(6.9, rel=0.03)
    assert mbps(each["bulk"]) == pytest.approx(2.3, rel=0.05)
    # Sixty packets at a quarter of the rate wait three times as long as at three quarters.
    assert delay(each["bulk"]) > 2.5 * delay(each["erp"])


def test_one_class_alone_is_one_queue():
    alone = "queue.classes=[{name='all', default=true}]"
    several = classes(alone)
    plain = classes("queue.discipline=drop-tail", "queue.classes=[]")
    for name, each in several.items():
        assert mbps(each) == pytest.approx(mbps(plain[name]), rel=0.02)
        assert each.loss_rate.value == pytest.approx(plain[name].loss_rate.value, rel=0.1, abs=1e-4)


def test_a_class_without_traffic_changes_nothing():
    empty = '    { name = "video", priority = 0, weight = 9.0 },\n    { name = "rest"'
    with_it = PORT.replace('    { name = "rest"', empty)
    first, second = (forebay.run(loads(text), seeds=1) for text in (PORT, with_it))
    assert first.classes == second.classes


def test_marks_and_drops_are_by_class():
    red = "queue.classes.{}.red={{min='6 kB', max='18 kB', probability=0.2, ecn=true}}"
    each = classes(red.format(1), "traffic.1.ecn=true")
    assert each["erp"].loss_rate.value < 0.002 < each["bulk"].loss_rate.value
    assert delay(each["erp"]) < 0.4 * delay(each["bulk"])


def test_each_link_serves_its_own_classes():
    first = "{name='first', traffic=['bulk'], priority=0}, {name='then', default=true}"
    queue = f"{{discipline='classes', size='40 packets', classes=[{first}]}}"
    edge = f"links=[{{name='edge', rate='5 Mbit/s', queue={queue}}}]"
    each = classes(edge, *(f"traffic.{n}.route=['edge', 'bottleneck']" for n in (1, 2)))
    # At the edge bulk is first, so that the bottleneck gets no more than 5 Mbit/s of it.
    assert mbps(each["bulk"]) > 4.5 and mbps(each["erp"]) < 0.5


def test_a_sizing_sets_the_classes_without_a_size():
    scenario = loads(PORT, overrides=["queue.classes.1.share=0.5"])
    parameter = parameter_of(scenario, "simulation", 500)
    limits = [packets for packets, _ in parameter.set(scenario, 80).class_limits()]
    assert limits == [20, 40, 80]
    (note,) = notes_of(scenario, "simulation", parameter)
    assert "rest; with a share of it: business (0.5)" in str(note)
    own = loads(PORT, overrides=[f"queue.classes.{i}.size='9 packets'" for i in (1, 2)])
    with refused("each class queue has its own size"):
        parameter_of(own, "simulation", 500)


def test_neither_a_sizing_of_class_queues_nor_a_scenario_is_a_configuration_of_one(tmp_path):
    sets = ["goals.utilization=0.6", "measure.duration=3 s", "measure.warmup=1 s"]
    answer = forebay.size(loads(PORT, overrides=sets), seeds=2)
    assert answer.buffer is not None
    assert answer.governs.regime == "class queues" and answer.governs.law is None
    with pytest.raises(PlatformError, match="several class queues"):
        of_sizing(answer, "size.json")
    path = tmp_path / "port.toml"
    path.write_text(PORT)
    with pytest.raises(PlatformError, match="several class queues"):
        read_target(str(path))


@pytest.mark.parametrize("most", [0.5, 2.0, 6.0])
def test_a_class_that_is_shaped_gets_its_rate_and_others_the_rest(most):
    """Business would have 6.9 Mbit/s of the 9.2 that voice leaves."""
    sets = [f"queue.classes.1.max_rate={most} Mbit/s"]
    outcome = forebay.run(loads(PORT, overrides=sets), seeds=3)
    each = {one.name: one for one in outcome.classes}
    # What it may make up for, four of the largest packets, is below a thousandth in 12 s.
    assert most * 0.98 <= mbps(each["erp"]) <= most + 4 * 12e-3 / 12
    assert mbps(each["voip"]) == pytest.approx(0.8, rel=0.01)
    used = outcome.links["bottleneck"].utilization
    assert mbps(each["bulk"]) == pytest.approx(10 * used.value - 0.8 - most, rel=0.02)
    assert used.value > 0.97


def test_a_class_gets_its_least_rate_and_its_share_of_the_rest():
    sets = ["queue.classes.2.min_rate='4 Mbit/s'", "queue.classes.1.weight=1.0"]
    each = classes(*sets)
    # 10 - 0.8 of voice - 4: 2.6 for each.
    assert mbps(each["bulk"]) == pytest.approx(6.6, rel=0.03)
    assert mbps(each["erp"]) == pytest.approx(2.6, rel=0.03)


@pytest.mark.parametrize(
    ("sets", "said"),
    [
        (["0.burst=9 kB"], r"queue.classes.0.burst: is of a max_rate, which is not written"),
        (["0.max_rate=20 Mbit/s"], r"queue.classes.0.max_rate: 20 Mbit/s is above the rate of the"),
        (["0.max_rate=1 Mbit/s", "0.min_rate=2 Mbit/s"],
         "queue.classes.0.min_rate: 2 Mbit/s is above max_rate, 1 Mbit/s"),
        (["1.min_rate=6 Mbit/s", "2.min_rate=5 Mbit/s"],
         "queue.classes: the min_rates, 11 Mbit/s in all, are more than the link's 10 Mbit/s"),
        (["1.red={min='1 kB'}"], r"class queue business before bottleneck: red"),
    ],
)  # fmt: skip
def test_rates_and_thresholds_that_cannot_be_are_refused(sets, said):
    with refused(said):
        forebay.run(loads(PORT, overrides=[f"queue.classes.{each}" for each in sets]), seeds=1)


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
