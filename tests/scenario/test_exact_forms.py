"""What was probably meant is answered with the exact form to write; it is never taken silently."""

from __future__ import annotations

import re

import pytest

from forebay.cli.program import call
from forebay.scenario import ScenarioError, load, loads

BASE = """
[link]
rate = "200 Mbit/s"
[[traffic]]
flows = 100
rtt = "70 ms"
"""

# what somebody writes, and what the hint must hold
MEANT = [
    ("goals.utilization=99.5 %", "write 0.995"),
    ("goals.utilization=99.5", "99.5 % is 0.995"),
    ("goals.loss_rate=1%", "write 0.01"),
    ("traffic.0.goals.loss_rate=0.1 %", "write 0.001"),
    ("link.rate=100G", '"100 Gbit/s"'),
    ("link.rate=100M", '"100 Mbit/s"'),
    ("link.rate=2.5 g", '"2.5 Gbit/s"'),
    ("link.rate=1 gbps", '"1 Gbit/s"'),
    ("link.rate=155e6", 'such as "155 Mbit/s"'),
    ("link.rate=1e11", 'such as "100 Gbit/s"'),
    ("link.rate=155", 'such as "155 Mbit/s"'),
    ("link.rate='155000000'", 'such as "155 Mbit/s"'),
    ("traffic.0.flows=10k", "write 10000,"),
    ("traffic.0.flows=1e4", "write 10000,"),
    ("traffic.0.flows='100'", "write 100,"),
    ("traffic.0.rtt=10-180 ms", '{ uniform = ["10 ms", "180 ms"] }'),
    ("traffic.0.rtt=10 ms - 180 ms", '{ uniform = ["10 ms", "180 ms"] }'),
    ("traffic.0.rtt=0.5..2 s", '{ uniform = ["0.5 s", "2 s"] }'),
    ('traffic.0.rtt=["10 ms","180 ms"]', '{ uniform = ["10 ms", "180 ms"] }'),
    ("measure.duration=10-20 s", '"10 s"'),
    ("queue.discipline=fqcodel", 'did you mean "fq_codel"?'),
    ("queue.discipline=fq-codel", 'did you mean "fq_codel"?'),
    ("queue.discipline=droptail", 'did you mean "drop-tail"?'),
    ("queue.discipline=pfifo", 'did you mean "drop-tail"?'),
    ("queue.size=64k", '"64 kB"'),
    ("queue.size=1.5", '"129 packets"'),
    ("traffic.0.packet=1500 B B", 'write "1500 B",'),
    ("traffic.0.packet=1500", 'such as "1500 B"'),
    ("traffic.0.congestion_control=bbrv3", 'did you mean "bbr3"?'),
    ("traffic.0.congestion_control=NewReno", 'did you mean "reno"?'),
    ('traffic.0.congestion_control={cubic="60 %", bbr="40 %"}', "write 0.6"),
    ("traffic.0.congestion_control={cubic=60, bbr=40}", "write 0.6"),
    ("traffic.0.route=bottleneck", 'route = ["bottleneck"]'),
    ("traffic.0.kind=tcp", 'did you mean "long"?'),
]


@pytest.mark.parametrize(("written", "hint"), MEANT)
def test_the_hint_holds_the_exact_form(written: str, hint: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        loads(BASE, overrides=[written])
    assert hint in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("written", "hint"), MEANT)
def test_what_the_hint_says_to_write_is_taken(written: str, hint: str) -> None:
    field = written.partition("=")[0]
    forms = r'\{ uniform.*\}|route = (\[.*\])|mean "([^"]+)"|"([^"]+)"|(?:write|is) ([0-9.]+)'
    form = re.search(forms, hint)
    assert form is not None
    value = next((part for part in form.groups() if part), form[0]).rstrip(",")
    if "congestion_control={" in written:
        value = "{cubic = 0.6, bbr = 0.4}"
    try:
        loads(BASE, overrides=[f"{field}={value}"])
    except ScenarioError as error:
        assert field == "traffic.0.route", error  # a route needs [[links]] beside it


def test_a_second_law_is_not_said_to_be_misspelt() -> None:
    two = 'traffic.0.rtt={exponential="10 ms", uniform=["1 ms","2 ms"]}'
    with pytest.raises(
        ScenarioError, match='"exponential" in addition to "uniform"; write one law only'
    ):
        loads(BASE, overrides=[two])


@pytest.mark.parametrize("field", ["ecn=true", 'target="5 ms"'])
def test_a_parameter_of_another_discipline_is_named_once(field: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        loads(BASE, overrides=[f"queue.{field}"])
    name = field.partition("=")[0]
    assert str(caught.value).count("queue.") == 1 and f"queue.{name}: " in str(caught.value)


@pytest.mark.parametrize(
    "words", [("--seed", "x"), ("--seeds", "0"), ("--seeds", "1.5"), ("--jobs", "-1")]
)
def test_a_bad_count_says_what_to_write(
    words: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(["run", "scenarios/oc3-gsr.toml", *words]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and "write " in err and "valid integer range" not in err


@pytest.mark.parametrize("wrong", ["∞", "nan", "0", "1e9", "", "1,5"])
@pytest.mark.parametrize("option", ["--growth", "--connections", "--starts"])
def test_a_bad_number_says_what_to_write(
    option: str, wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(["network", "scenarios/abilene-fast-edge-small.toml", option, wrong]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and "; write " in err and "is not a valid" not in err


@pytest.mark.parametrize(
    ("size", "hint"),
    [
        ("1,5 MB", 'write "1.5 MB"'),
        ("1,500 B", 'write "1.500 B" or "1500 B"'),
        ("1,000,000 B", 'write "1000000 B"'),
        ("1,00,0 B", "write the digits alone, with a point before decimals"),
    ],
)
def test_a_comma_is_a_point_or_nothing(size: str, hint: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        loads(BASE, overrides=[f'queue.size="{size}"'])
    assert str(caught.value).endswith(f'queue.size: "{size}" has a comma; {hint}')


def test_a_key_written_twice_is_to_be_written_once():
    """The nearest known key is the one that stands there: "write queue.queue" helps nobody."""
    with pytest.raises(ScenarioError, match='write "queue" once'):
        load("oc3-gsr", ["queue.queue.ecn=true"])
