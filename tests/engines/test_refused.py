"""What contradicts itself is refused at its field; what an engine cannot run, by its name."""

import pickle

import pytest
from tests.scenarios import scenario

import forebay
from forebay.engines import NoLaw, get
from forebay.engines.testbed import machine
from forebay.scenario import loads

TRACE = {
    "link.rate": None,
    "link.rate_trace": {"steps": [["0 s", "12 Mbit/s"], ["2 s", "6 Mbit/s"]]},
}
DOWN = {"link.down": [["5 s", "6 s"]]}
ON_OFF = {"traffic.0.schedule": {"times": [["0 s", "5 s"], ["10 s", "12 s"]]}}
CLASSES = {"queue.discipline": "classes", "queue.classes": [{"name": "all", "default": True}]}
SHAPER = {"link.shaper": {"rate": "1 Mbit/s", "burst": "9 kB"}}
RING = {"queue.transmit_ring": 3}
REORDER = {"link.jitter": {"most": "1 ms", "reorder": True}}
STOP = {"traffic.0.stop": "2 s"}
ATM = {"link.framing": "atm"}
USER = {"kind": "session", "flows": 5, "file": "60 kB", "think": "1 s", "stop": "2 s"}
WORKERS = {"kind": "requests", "flows": 9, "response": "9 packets", "think": "5 ms"}
SENT = {"kind": "transfers", "transfers": [{"start": "0 s", "size": "9 kB"}], "rtt": "9 ms"}


@pytest.mark.parametrize(
    ("base", "changes", "field"),
    [
        (TRACE, {"link.rate": "9 Mbit/s"}, "link.rate"),
        (TRACE, {"link.rate_trace": "missing.csv"}, "link.rate_trace.file"),
        (TRACE, {"link.rate_trace.steps": [["1 s", "1 Mbit/s"]]}, "link.rate_trace.steps"),
        (TRACE, {"link.rate_trace.period": "1 s"}, "link.rate_trace.steps"),
        (TRACE, {"link.rate_trace": None}, "link.rate"),
        (TRACE, RING, "queue.transmit_ring"),
        (TRACE, SHAPER, "link.shaper"),
        (TRACE, DOWN, "link.down"),
        (DOWN, {"link.down": []}, "link.down.times"),
        (DOWN, {"link.down": [["6 s", "5 s"]]}, "link.down.times"),
        (DOWN, {"link.down": {"times": [["1 s", "5 s"]], "period": "4 s"}}, "link.down.times"),
        (DOWN, {"link.down": {"times": [["0 s", "4 s"]], "period": "4 s"}}, "link.down.times"),
        (DOWN, SHAPER, "link.shaper"),
        ({}, {"link.jitter": "0 s"}, "link.jitter.most"),
        ({}, {"link.jitter": {"most": "1 s", "share": 0.0}}, "link.jitter.share"),
        ({}, {"link.jitter": "1 ms"} | RING, "queue.transmit_ring"),
        ({}, {"link.loss": 1.5}, "link.loss.rate"),
        ({}, {"link.loss": {}}, "link.loss.rate"),
        ({}, {"link.loss": {"good_to_bad": 0.1}}, "link.loss.bad_to_good"),
        ({}, {"link.loss": {"rate": 0.1, "loss_in_bad": 0.5}}, "link.loss.loss_in_bad"),
        ({}, {"link.loss": 0.1} | RING, "queue.transmit_ring"),
        (ON_OFF, {"traffic.0.schedule": {"on": "1 s"}}, "traffic.0.schedule.off"),
        (ON_OFF, {"traffic.0.schedule": {"on": "0 s", "off": "1 s"}}, "traffic.0.schedule.on"),
        (ON_OFF, {"traffic.0.schedule": {"times": []}}, "traffic.0.schedule.times"),
        (ON_OFF, {"traffic.0.schedule.times": [["5 s", "4 s"]]}, "traffic.0.schedule.times"),
        (ON_OFF, {"traffic.0.schedule.on": "1 s"}, "traffic.0.schedule.on"),
        (ON_OFF, {"traffic.0.schedule.period": "11 s"}, "traffic.0.schedule.times"),
    ],
)
def test_what_cannot_be_is_refused_where_it_is_written(base, changes, field):
    whole = scenario(base)
    with pytest.raises(forebay.ScenarioError) as refused:
        whole.replace(changes)
    assert refused.value.field == field


@pytest.mark.parametrize(
    ("engine", "changes", "said"),
    [
        ("theory", TRACE, "theory cannot run a varying rate"),
        ("theory", DOWN, r"link\.down: theory cannot run"),
        ("theory", {"link.jitter": "1 ms"}, r"link\.jitter: theory cannot run"),
        ("theory", {"link.loss": 0.01}, r"link\.loss: theory cannot run loss of a link"),
        ("theory", SHAPER, r"link\.shaper: theory cannot run a shaper"),
        ("theory", CLASSES, r"queue\.classes: theory cannot run several"),
        ("testbed", ON_OFF, r"traffic\.0\.schedule: testbed cannot run"),
        ("testbed", STOP, r"traffic\.0\.stop: testbed cannot run flows that stop"),
        ("testbed", {"traffic": [USER]}, r"traffic\.0\.stop: testbed cannot run"),
        ("testbed", {"traffic": [WORKERS]}, "testbed cannot run traffic of kind requests"),
        ("testbed", {"traffic": [SENT]}, "testbed cannot run traffic of kind transfers"),
        ("testbed", ATM, r"link\.framing: testbed cannot run framing of a line"),
        ("testbed", REORDER, r"link\.jitter\.reorder: testbed cannot run a link that reorders"),
    ],
)
def test_an_engine_names_what_it_cannot_run(monkeypatch, engine, changes, said):
    if engine == "testbed":  # whether this machine has it or not
        monkeypatch.setattr(machine, "check", lambda: None)
    with pytest.raises(forebay.Unsupported, match=said):
        forebay.run(scenario(changes), engine)


def test_a_trace_has_no_flows_that_are_switched():
    with pytest.raises(forebay.Unsupported, match="a trace of flows that are switched"):
        forebay.trace(scenario(ON_OFF), seed=1)


HEAD = 'queue.size = "9 packets"\nlink.rate = "100 Mbit/s"\n'
VIDEO = '[[traffic]]\nkind = "video"\nflows = 1\nrate = "1 Mbit/s"\n'
SHORT = '[[traffic]]\nkind = "short"\nlength = "3 packets"\nload = 0.1\n'


def test_theory_needs_flows_that_last_or_bursts():
    with pytest.raises(NoLaw, match="workers that answer together"):
        forebay.run(scenario({"traffic": [WORKERS]}), "theory")
    with pytest.raises(NoLaw, match="open-loop traffic") as caught:
        get("theory").run(loads(HEAD + VIDEO), [1])
    assert "\n" not in str(caught.value) and caught.value.exit_status == 3
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert get("theory").run(loads(HEAD + SHORT), [1]).links["bottleneck"].utilization is not None
