"""What was probably meant is answered with the exact form to write; it is never taken silently."""

import re

import pytest
from tests.cases import rows
from tests.refused import refused

from forebay.cli.program import call
from forebay.scenario import ScenarioError, loads

BASE = """
link.rate = "200 Mbit/s"
traffic = [{ flows = 100, rtt = "70 ms" }]
"""

# what somebody writes, and what the hint must hold
MEANT = rows("""
goals.utilization=99.5 % | write 0.995
goals.utilization=99.5 | 99.5 % is 0.995
goals.loss_rate=1% | write 0.01
traffic.0.goals.loss_rate=0.1 % | write 0.001
link.rate=100G | "100 Gbit/s"
link.rate=100M | "100 Mbit/s"
link.rate=2.5 g | "2.5 Gbit/s"
link.rate=1 gbps | "1 Gbit/s"
link.rate=155e6 | such as "155 Mbit/s"
link.rate=1e11 | such as "100 Gbit/s"
link.rate=155 | such as "155 Mbit/s"
link.rate='155000000' | such as "155 Mbit/s"
traffic.0.flows=10k | write 10000,
traffic.0.flows=1e4 | write 10000,
traffic.0.flows='100' | write 100,
traffic.0.rtt=10-180 ms | { uniform = ["10 ms", "180 ms"] }
traffic.0.rtt=10 ms - 180 ms | { uniform = ["10 ms", "180 ms"] }
traffic.0.rtt=0.5..2 s | { uniform = ["0.5 s", "2 s"] }
traffic.0.rtt=["10 ms","180 ms"] | { uniform = ["10 ms", "180 ms"] }
measure.duration=10-20 s | "10 s"
queue.discipline=fqcodel | did you mean "fq_codel"?
queue.discipline=fq-codel | did you mean "fq_codel"?
queue.discipline=droptail | did you mean "drop-tail"?
queue.discipline=pfifo | did you mean "drop-tail"?
queue.size=64k | "64 kB"
queue.size=1.5 | "129 packets"
traffic.0.packet=1500 B B | write "1500 B",
traffic.0.packet=1500 | such as "1500 B"
traffic.0.congestion_control=bbrv3 | did you mean "bbr3"?
traffic.0.congestion_control=NewReno | did you mean "reno"?
traffic.0.congestion_control={cubic="60 %", bbr="40 %"} | write 0.6
traffic.0.congestion_control={cubic=60, bbr=40} | write 0.6
traffic.0.route=bottleneck | route = ["bottleneck"]
traffic.0.kind=tcp | did you mean "long"?
""")


@pytest.mark.parametrize(("written", "hint"), MEANT)
def test_the_hint_holds_the_exact_form_which_is_taken(written, hint):
    with refused(re.escape(hint)):
        loads(BASE, overrides=[written])
    field = written.partition("=")[0]
    forms = r'\{ uniform.*\}|route = (\[.*\])|mean "([^"]+)"|"([^"]+)"|(?:write|is) ([0-9.]+)'
    form = re.search(forms, hint)
    value = next((part for part in form.groups() if part), form[0]).rstrip(",")
    if "congestion_control={" in written:
        value = "{cubic = 0.6, bbr = 0.4}"
    try:
        loads(BASE, overrides=[f"{field}={value}"])
    except ScenarioError as error:
        assert field == "traffic.0.route", error  # a route needs [[links]] beside it


@pytest.mark.parametrize(
    ("written", "said"),
    [
        # A second law is not said to be misspelt, nor a comma to be anything but a point.
        ('traffic.0.rtt={exponential="10 ms", uniform=["1 ms","2 ms"]}',
         '"exponential" in addition to "uniform"; write one law only'),
        ("queue.size=1,5 MB", ' has a comma; write "1.5 MB"'),
        ("queue.size=1,500 B", 'has a comma; write "1.500 B" or "1500 B"'),
        ("queue.size=1,000,000 B", 'has a comma; write "1000000 B"'),
        ("queue.size=1,00,0 B", "comma; write the digits alone, with a point before decimals"),
        # The nearest known key is the one that stands there: "write queue.queue" helps nobody.
        ("queue.queue.ecn=true", 'write "queue" once'),
    ],
)  # fmt: skip
def test_what_else_is_said(written, said):
    with refused(rf"{re.escape(said)}$"):
        loads(BASE, overrides=[written])


@pytest.mark.parametrize("field", ["ecn=true", 'target="5 ms"'])
def test_a_parameter_of_another_discipline_is_named_once(field):
    with refused(f"queue.{field.partition('=')[0]}: ") as error:
        loads(BASE, overrides=[f"queue.{field}"])
    assert str(error.value).count("queue.") == 1


SIZED, NETWORK = "oc3-gsr", "abilene-fast-edge-small"
NUMBERS = [
    *(["run", SIZED, *words] for words in (("--seed", "x"), ("--seeds", "0"), ("--seeds", "1.5"))),
    ["run", SIZED, "--jobs", "-1"],
    *(
        ["network", NETWORK, option, wrong]
        for option in ("--growth", "--connections", "--starts")
        for wrong in ("∞", "nan", "0", "1e9", "", "1,5")
    ),
]


@pytest.mark.parametrize("words", NUMBERS, ids=" ".join)
def test_a_bad_number_says_what_to_write(words, capsys):
    assert call(words) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and "; write " in err
    assert "is not a valid" not in err and "valid integer range" not in err
