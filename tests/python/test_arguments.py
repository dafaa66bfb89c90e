"""What a public function says of an argument that it does not take: one line, in Python's words."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import forebay
from forebay import Outcome, Scenario, ScenarioError, laws, measure, networks, platforms
from forebay.cli.program import call
from forebay.scenario import DataSize, Duration, Link, Long, Measure, Queue, Rate, RateTrace

VERBS: list[Callable[[Any], object]] = [
    forebay.run, forebay.compare, forebay.size, forebay.trace, networks.solve,
    networks.single_failures, lambda value: networks.compare_designs(value, value),
    forebay.testbed.check, laws.for_scenario, laws.regime_of,
]  # fmt: skip
SCENARIO = Scenario(
    link=Link(rate="10 Mbit/s"),
    traffic=[Long(flows=2, rtt="50 ms")],
    measure=Measure(warmup="100 ms", duration="100 ms"),
)


def _in_draws(**how: Any) -> object:
    wanted = SCENARIO.replace({"goals.utilization": 0.9})
    return forebay.size_uncertain(wanted, {"link.rate": "±20%"}, draws=8, **how)


NETWORK = forebay.load("abilene-fast-edge-small")
AXES = {"queue.size": ["9 packets"]}


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(forebay.ForebayError) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: f"{verb.__module__}.{verb.__name__}")
@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("x.toml", '"x.toml" where a Scenario belongs; write forebay.load("x.toml")'),
        (Path("x.toml"), 'x.toml where a Scenario belongs; write forebay.load("x.toml")'),
        ({"link": {}}, "a dict where a Scenario belongs; write Scenario.from_dict(…) of it"),
        (3, "3 where a Scenario belongs; write a Scenario(…), or forebay.load(…) of a file"),
    ],
)
def test_what_is_no_scenario_is_refused_with_how_to_make_one(
    verb: Callable[[Any], object], value: object, said: str
) -> None:
    assert refusal(lambda: verb(value)) == f"scenario: {said}"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: SCENARIO.replace({"traffic.0.congestion_control": {1: 1.0}}),
         "traffic.0.congestion_control: 1 is not a known"),
        (lambda: forebay.run(SCENARIO, seeds="5"), 'seeds: "5"; write a whole number from 1 to'),
        (lambda: forebay.run(SCENARIO, seeds=0), "seeds: 0; write a whole number from 1 to 100000"),
        (lambda: forebay.run(SCENARIO, seed=-1), "seed: -1; write a whole number from 0 to 9223"),
        (lambda: forebay.run(SCENARIO, seed=2**63), "seed: 9223372036854775808; write a whole nu"),
        (lambda: forebay.run(SCENARIO, jobs=1.5), "jobs: 1.5; write a whole number from 0 to 1024"),
        (lambda: forebay.size(SCENARIO, max_seeds="9"), 'max_seeds: "9"; write a whole number'),
        (lambda: forebay.size(SCENARIO, seeds=None), "seeds: None; write a whole number from 1"),
        (lambda: forebay.size(SCENARIO, sizes=["9 packets"]), "sizes: a list is no text; write 1"),
        (lambda: _in_draws(seed=-1), "seed: -1; write a whole number from 0"),
        (lambda: _in_draws(budget=""), 'budget: "" is not a quantity'),
        (lambda: _in_draws(budget=0), "budget: 0 has no unit"),
        (lambda: forebay.link_scenario("1 Gbit/s", "9", "..9 ms"), 'rtt: "" is not a'),
        (lambda: forebay.link_scenario("1 Gbit/s", "9", "-3"), '-3 has no unit; write it with one'
         ', such as "100 ms"'),
        (lambda: forebay.link_scenario("1 Gbit/s", "9", goal=["loss_rate <= 1 %"]),
         'goals.loss_rate <: there is no such key; write "goals.loss_rate"'),
        (lambda: forebay.link_scenario("1 Gbit/s"), "flows: nothing says which link; write flows="),
        (lambda: forebay.link_scenario("1 Gbit/s", 0), "flows: 0 is below the least, 1"),
        (lambda: forebay.link_scenario("1 Gbit/s", 9, ("9 ms", "9 s")),
         'rtt: a list does not give the distribution between its ends; write {"'),
        (lambda: forebay.link_scenario("1 Gbit/s", 9, goal="loss_rate=0.1"),
         'goal: "loss_rate=0.1" is not a list; write it in brackets: ["loss_rate=0.1"]'),
        (lambda: forebay.link_scenario("1 Gbit/s", 9, goal=[("loss_rate", 0.1)]),
         "goal: a list is no goal; write NAME=VALUE"),
        (lambda: forebay.load("oc3-gsr", {"name": "x"}), "is not a list; write a list"),
        (lambda: forebay.load("oc3-gsr", "name=x"), 'write it in brackets: ["name=x"]'),
        (lambda: forebay.load("oc3-gsr", [("name", "x")]), "overrides: a list sets nothing"),
        (lambda: networks.load("x.gml", "name=x"), 'write it in brackets: ["name=x"]'),
        (lambda: forebay.compare(SCENARIO, None), "engines: None is not a list; write a list"),
        (lambda: forebay.compare(SCENARIO, SCENARIO), "is not a list; write a list"),
        (lambda: forebay.compare(SCENARIO, b"theory"), "engines: b'theory' is not a list"),
        (lambda: forebay.run(SCENARIO, "theory", budget="soon"), 'budget: "soon" is not a'),
        (lambda: forebay.compare(SCENARIO, ["theory"], budget=5), "budget: 5 has no unit"),
        (lambda: forebay.run(SCENARIO, "theory", memory_limit="all"), 'memory_limit: "all" is not'),
        (lambda: forebay.size(SCENARIO, seeds=3, max_seeds=2), "max_seeds: 2; write a whole number"
         " from 3 to 100000"),
        (lambda: SCENARIO.with_buffer("9 packets"), 'packets: "9 packets"; write a whole num'),
        (lambda: SCENARIO.with_buffer(2.5), "packets: 2.5; write a whole number of pa"),
        (lambda: forebay.sensitivity(SCENARIO, uncertain={"nope": "±20%"}),
         "uncertain: nope: there is no such key"),
        (lambda: forebay.again(SCENARIO), "where a SizeResult belongs; write what forebay.size("),
        (lambda: forebay.with_cheaper(SCENARIO, SCENARIO), "where a SizeResult belongs"),
        (lambda: forebay.with_cheaper(SCENARIO, forebay.size(forebay.load("oc3-gsr"), "theory")),
         "shares of the answer cannot be run: it is of another scenario"),
        (lambda: networks.solve(SCENARIO, multistart=1.5), "multistart: 1.5; write a whole number"),
        (lambda: networks.transient(SCENARIO, "1 s", samples="9"), 'samples: "9"; write a whole'),
        (lambda: forebay.controls.build(__file__, hz=100), "hz: is of modules of the kernel"),
        (lambda: forebay.controls.build(__file__, linux=6.12),
         'linux: 6.12 is no version; write one such as linux="6.12"'),
        (lambda: forebay.sensitivity(NETWORK), "size one with forebay.size(…, link=…), or write"),
        (lambda: forebay.size_uncertain(NETWORK, {"link.rate": "±10%"}, "theory"),
         "a network's links are not sized in a study"),
        (lambda: forebay.sweep(NETWORK, {"traffic.0.flows": [8]}, ask="size", engine="network"),
         "not sized in a study; size one with forebay"),
        (lambda: forebay.size(NETWORK, "network", link="Denver->Seattle", observe=print),
         "observe: is for a link alone"),
        (lambda: forebay.sensitivity(SCENARIO, change=20), "write a share above 0 and below 1"),
        (lambda: forebay.sensitivity(SCENARIO, method="morris"), "one-at-a-time, sobol"),
        (lambda: forebay.sensitivity(SCENARIO, draws=48), "a power of 2, such as 64"),
        (lambda: forebay.sensitivity(SCENARIO, uncertain={}), "names no input"),
        (lambda: forebay.sweep(SCENARIO, AXES, store=""), "is a folder"),
        (lambda: forebay.sweep(SCENARIO, AXES, store="", only_plan=True), "is a folder"),
        (lambda: forebay.sweep(SCENARIO, {"queue.size": ["9 packets", "9 pakets"]}),
         'write "9 packets"'),
        (lambda: forebay.sweep(SCENARIO, {"queue.sise": ["9 packets"]}), 'write "queue.size"'),
        (lambda: forebay.sweep(SCENARIO, {"traffic.1.flows": [1]}), "no such entry"),
        (lambda: forebay.sweep(SCENARIO, {"queue.discipline": ["fifo"]}), "drop-tail"),
        (lambda: Outcome.of_packets(SCENARIO, "mine", [{}]), "has no run; write {seed"),
        (lambda: Outcome.of_packets("x.toml", "mine", {}), "where a Scenario belongs"),
        (lambda: Outcome.load("none.json"), "none.json: cannot be read"),
        (lambda: Long(flows=1, rtt=0.05), 'such as "50 ms"'),
        (lambda: forebay.size(SCENARIO, budget=5), 'such as "5 ms" or "5 s"'),
        (lambda: Link(rate="{value} {0} {n:a|b}"), '"{value} {0} {n:a|b}" is not a'),
        (lambda: forebay.run(SCENARIO, seeds=True), "seeds: True; write a whole number from 1 to"),
        (lambda: forebay.run(SCENARIO, seed=2**63 - 1, seeds=2), "for 2 seeds from it on"),
        (lambda: measure.capture("no-such.pcap", rate="1 Gbit/s", at="router"),
         'at: "router"; write one of: egress, ingress'),
        (lambda: measure.judge("x.csv", SCENARIO), "where a SizeResult belongs"),
        (lambda: platforms.read_target(129, rate="1 Gbit/s"), "129 has no unit"),
        (lambda: forebay.ClassQueue(name="v", traffic="voice"),
         'traffic: "voice" is not a list; write it in brackets: traffic=["voice"]'),
        (lambda: forebay.sweep(SCENARIO, []), "axes: a list is no table; write a dict"),
        (lambda: forebay.trace(SCENARIO, flows=3),
         "flows: 3 is not a list; write it in brackets: [3"),
        (lambda: forebay.trace(SCENARIO, flows=[-1]), "flows: -1; write a whole number from 0 to"),
        (lambda: forebay.compare(SCENARIO, "theory"), 'write it in brackets: ["theory"]'),
        (lambda: forebay.run(SCENARIO, counters="snmp"), 'write it in brackets: ["snmp"]'),
        (lambda: forebay.load({}), "a dict is not a path; write Scenario.from_dict(…) of it"),
        (lambda: forebay.load(None), "None is not a path; write a file's path in quotes"),
        (lambda: Scenario.from_dict("x.toml"), '"x.toml" where a Scenario belongs; write a dict'),
        (lambda: SCENARIO.replace("a=3"), 'write a dict, such as {"queue.size": "64 packets"}'),
        (lambda: forebay.reproduce("A.eq6", seeds=0.5), "seeds: 0.5; write a whole number from 1"),
        (lambda: forebay.reproduce("A.eq6", seeds=0), "seeds: 0; write a whole number from 1 to"),
        (lambda: forebay.reproduce("C"), "'C' is a paper; write one of its artefacts: hisa"),
    ],
)  # fmt: skip
def test_an_argument_of_the_wrong_kind_is_refused(call: Callable[[], object], said: str) -> None:
    assert said in refusal(call)


@pytest.mark.parametrize(("flows", "goal"), [("50", "0.9"), ("050", ".9"), ("50", "9e-1")])
def test_a_link_takes_numbers_as_people_write_them(flows: str, goal: str) -> None:
    link = forebay.link_scenario("1 Gbit/s", flows, "9 ms", goal=[f"utilization={goal}"])
    assert (link.traffic[0].flows, link.goals.utilization) == (50, 0.9)


def test_options_of_a_link_are_read_as_set_reads_them() -> None:
    """Also with a number that TOML has not, and with a value that only TOML has."""
    values = {"utilization": ".9", "queue_delay": '{ quantile = 0.9, at_most = "9 ms" }'}
    goals = [f"{name}={value}" for name, value in values.items()]
    rtt = '{ uniform = ["80 ms", "120 ms"] }'
    made = forebay.link_scenario("1 Gbit/s", "50", rtt, goal=goals)
    changes = [f"name={made.name}", "traffic.0.flows=50", f"traffic.0.rtt={rtt}"]
    changes += [f"goals.{goal}" for goal in goals]
    assert forebay.link_scenario("1 Gbit/s", "9", set=changes) == made
    assert made.goals.utilization == 0.9


@pytest.mark.parametrize(
    "given",
    [
        {"flows": 100}, {"flows": np.int64(100)}, {"rate": Rate(1e9)},
        {"rtt": {"uniform": ["20 ms", "80 ms"]}},
        {"rtt": {"uniform": np.array(["20 ms", "80 ms"])}},
        {"mix": {"cubic": 0.7, "bbr": 0.3}}, {"goal": {"utilization": 0.9}},
    ],
    ids=str,
)  # fmt: skip
def test_a_link_takes_values_as_the_classes_do(given: dict[str, Any]) -> None:
    text = {
        "rate": "1 Gbit/s", "flows": "100", "rtt": "20 ms..80 ms", "mix": "cubic=0.7,bbr=0.3",
        "goal": ["utilization=0.9"],
    }  # fmt: skip
    assert forebay.link_scenario(**text | given) == forebay.link_scenario(**text)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def counters(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("counters") / "x.csv"
    path.write_text("time_s,octets,drops\n0,0,0\n1,1e12,0\n2,9e12,0\n")
    return str(path)


MISTAKES: dict[str, tuple[str, Callable[[str], object]]] = {
    "rate": ("measure --counters FILE --rtt '1 s' --rate fast",
             lambda file: measure.counters(file, rate="fast", rtt="1 s")),
    "rtt": ("measure --counters FILE --rate '1 Gbit/s'",
            lambda file: measure.counters(file, rate="1 Gbit/s", rtt=None)),
    "toward": ("measure x.pcap --rate '1 Gbit/s' --toward here",
               lambda _: measure.capture(["x.pcap"], rate="1 Gbit/s", toward=["here"])),
    "at": ("measure --listen router --rate '1 Gbit/s'",
           lambda _: measure.listen("router", 1.0, rate="1 Gbit/s")),
    "packet": ("platforms emit '10 ms' --platform junos --rate '1 Gbit/s' --packet '1 GB'",
               lambda _: platforms.read_target("10 ms", rate="1 Gbit/s", packet="1 GB")),
    "pool": ("platforms emit '10 ms' --platform sonic --rate '1 Gbit/s' --pool many",
             lambda _: platforms.with_choices(platforms.Port(1e9), header=None, pool="many")),
    "form": ("platforms emit '10 s' --platform junos --rate '1 Gbit/s' --form percent",
             lambda _: platforms.emit(
                 *platforms.read_target("10 s", rate="1 Gbit/s"), "junos", form="percent")),
}  # fmt: skip
"""An argument that is wrong: words of the command line, and the same mistake in Python."""


@pytest.mark.parametrize("argument", MISTAKES)
def test_a_mistake_is_said_in_the_words_in_which_it_was_made(
    argument: str, counters: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words, in_python = MISTAKES[argument]
    with pytest.raises(forebay.ForebayError) as caught:
        in_python(counters)
    assert argument in str(caught.value) and "--" not in str(caught.value)
    assert call([counters if word == "FILE" else word for word in shlex.split(words)]) == 2
    option = "--listen" if argument == "at" else f"--{argument}"
    assert option in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"goal": 98}, "goal: 98.0 is above the most, 1.0"),
        ({"goal": "0.9"}, 'goal: "0.9" is not a number'),
        ({"buffer": 3}, "buffer: 3 has no unit"),
        ({"congestion_control": "tahoe"}, 'congestion_control: "tahoe" is not a known'),
    ],
)
def test_what_a_measure_is_told_of_the_scenario_is_checked_first(
    given: dict[str, Any], said: str, counters: str
) -> None:
    calls: list[Callable[[], object]] = [
        lambda: measure.counters(counters, rate="1 Tbit/s", rtt="1 s", **given),
        lambda: measure.capture("no-such.pcap", rate="1 Gbit/s", **given),
    ]
    for each in calls:
        assert refusal(each).startswith(said)


def test_a_measure_takes_quantities(tmp_path: Path) -> None:
    table = tmp_path / "x.csv"
    table.write_text("time_s,octets,drops\n" + "".join(f"{i},{i}000,0\n" for i in range(30)))
    text = measure.counters(table, rate="1 Mbit/s", rtt="1 s")
    assert measure.counters(table, rate=Rate(1e6), rtt=Duration(1)) == text  # type: ignore[arg-type]


def test_a_target_of_a_router_is_an_amount_or_a_path(tmp_path: Path) -> None:
    text = platforms.read_target("10 ms", rate="1 Gbit/s")
    assert platforms.read_target(Duration(0.01), rate="1 Gbit/s") == text
    SCENARIO.replace({"queue.size": "9 packets"}).save(tmp_path / "x.toml")
    wanted, _ = platforms.read_target(tmp_path / "x.toml")
    assert wanted.packets == 9


def test_numpy_s_whole_numbers_are_whole_numbers() -> None:
    outcome = forebay.run(SCENARIO, "theory", seeds=np.int64(2), seed=np.int32(3))
    assert outcome.provenance.seeds == [3, 4]


def test_numpy_s_values_are_values_of_axes_and_of_uncertain_inputs() -> None:
    link = forebay.load("oc3-gsr")

    def cells(spec: Any) -> dict[Any, float]:
        study = forebay.sweep(link, {"traffic.0.flows": spec}, engine="theory", seeds=1)
        return study.means("link.bottleneck.utilization")

    log = {"log": [100, 400], "points": 3}
    assert cells({"log": np.array([100, 400]), "points": np.int64(3)}) == cells(log)
    assert cells(np.array([100, 159])) == cells([100, 159])
    ranges = {"traffic.0.flows": np.array([100, 400])}
    listed = {"traffic.0.flows": [100, 400]}
    found = forebay.sensitivity(link, uncertain=ranges, method="one-at-a-time")
    assert found == forebay.sensitivity(link, uncertain=listed, method="one-at-a-time")
    changed = forebay.sensitivity(link, change=np.float32(0.25), method="one-at-a-time")
    assert changed.change == 0.25


@pytest.mark.parametrize("engine", [None, 3, ["theory"], forebay.engine_names])
def test_what_is_no_name_is_no_engine(engine: Any) -> None:
    link, uncertain = forebay.load("oc3-gsr"), {"link.rate": "±20%"}
    verbs: list[Callable[[], object]] = [
        lambda: forebay.run(link, engine), lambda: forebay.size(link, engine),
        lambda: forebay.compare(link, [engine]), lambda: forebay.sensitivity(link, engine),
        lambda: forebay.size_uncertain(link, uncertain, engine, draws=8),
    ]  # fmt: skip
    for verb in verbs:
        with pytest.raises(forebay.UnknownEngine, match="engine: there is no"):
            verb()


def test_a_quantity_may_stand_wherever_its_text_may() -> None:
    assert Queue(size=DataSize(9000)) == Queue(size="9 kB")
    assert Queue(size=Duration(0.01)) == Queue(size="10 ms")
    assert forebay.Short(load=0.1, length=DataSize(9000)) == forebay.Short(load=0.1, length="9 kB")
    assert refusal(lambda: Queue(size=Rate(1e6))).startswith('Queue: size: "1 Mbit/s" is a rate')
    assert refusal(lambda: Link(rate=Duration(1))).startswith('Link: rate: "1 s" is a time, not')


def test_a_path_may_stand_wherever_its_text_may(tmp_path: Path) -> None:
    rates, flows = tmp_path / "rates.csv", tmp_path / "flows.csv"
    rates.write_text("0,10000000\n1,1000000\n")
    flows.write_text("start_s,size_bytes\n0.1,9000\n")
    assert RateTrace(file=rates) == RateTrace(file=str(rates))
    assert forebay.Transfers(file=flows) == forebay.Transfers(file=str(flows))
    link: Any = {"rate_trace": rates}
    changed = SCENARIO.replace({"link": link})
    assert changed == SCENARIO.replace({"link": {"rate_trace": str(rates)}})
    assert changed.link.rate == 5.5e6
    changed.save(tmp_path / "x.toml")
    assert forebay.load(tmp_path / "x.toml") == changed


@pytest.mark.parametrize("kind", [Rate, Duration, DataSize])
@pytest.mark.parametrize(
    ("value", "said"),
    [(float("nan"), "nan is not finite"), (float("inf"), "inf is not finite"),
     (None, "None is not a quantity"), ([1], "a list is not a quantity")],
)  # fmt: skip
def test_what_is_no_amount_makes_no_quantity(kind: type, value: object, said: str) -> None:
    assert refusal(lambda: kind(value)).startswith(f"{said}; write ")


def test_numpy_s_arrays_are_lists() -> None:
    steps = np.array([["0 s", "1 Mbit/s"], ["1 s", "2 Mbit/s"]])
    assert RateTrace(steps=steps).mean == 1.5e6  # type: ignore[arg-type]
    with pytest.raises(ScenarioError, match=r"steps.0.0: 0.0 has no unit"):
        RateTrace(steps=np.array([[0.0, 1e6], [1.0, 2e6]]))  # type: ignore[arg-type]
