"""What a type checker says of scenarios made in Python, and what the classes say when run."""

from pathlib import Path

import pytest

from forebay import ForebayError, Goals, Link, Long, Queue, Scenario, ScenarioError, Short, Topology

from .checking import mypy

HEAD = """
from forebay import DataSize, Duration, Goals, Link, Long, Queue, Rate, Replay, Scenario, Session
from forebay import Short, Udp
LINK = Link(rate="155 Mbit/s")
LONG = Long(flows=100, rtt={"uniform": ["80 ms", "120 ms"]})
SCENARIO = Scenario(link=LINK, traffic=[LONG])
"""
GOOD = """
Scenario(link=LINK, queue=Queue(size="9 kB"), traffic=[LONG, Short(load=0.1, length="9 kB")])
Scenario(link={"rate": "1 Gbit/s"}, traffic=[{"flows": 9}, {"kind": "udp", "flows": 3, "load": 1}])
Queue(size=DataSize(9000)), Queue(size=Duration(0.01)), Short(load=0.1, length=DataSize(9000))
Scenario(link=Link(rate=Rate(1e9), delay=Duration(0.01)), traffic=[Long(flows=n) for n in (1, 2)])
Scenario(link=LINK, traffic=[LONG], goals={"utilization": {"at_least": 0.98, "probability": 0.9}})
Session(flows="1..2", file={"geometric": "60 kB"}, think={"exponential": "1 s"})
Long(flows=1, congestion_control={"cubic": 0.5, "bbr": 0.5}, rtt=Duration(1))
classes = [Long(flows=1)]
changed: Scenario = Scenario(link=LINK, traffic=classes).replace({"queue.size": "9 kB"})
"""
BAD = [
    'Link(rate=155)',
    'Link(rat="1 Mbit/s")',
    'Link()',
    'Queue(discipline="pfifo")',
    'Long(flows=3, sack="yes")',
    'Goals(utilization="99 %")',
    'Scenario(link={"rat": "155 Mbit/s"}, traffic=[LONG])',
    'Scenario(link=LINK, traffic=[{"kind": "tcp", "flows": 3}])',
    'Scenario(link=LINK, traffic=LONG)',
    'Scenario(link=LINK, traffic=[{"flows": 3, "rtt": {"unifrom": ["1 ms", "2 ms"]}}])',
    'SCENARIO.replace({3: 1})',
    'SCENARIO.link.rate = 3',
]  # fmt: skip


@pytest.mark.lint
def test_good_and_bad_are_told_apart(tmp_path: Path) -> None:
    head = f"{HEAD}{GOOD}"
    (tmp_path / "sample.py").write_text(head + "\n".join(BAD) + "\n")
    first = head.count("\n") + 1
    wrong = {int(line.partition(":")[0]) for line in mypy(tmp_path / "sample.py")}
    assert wrong == set(range(first, first + len(BAD)))


@pytest.mark.parametrize("line", BAD)
def test_what_a_type_checker_refuses_is_refused_when_run(line: str) -> None:
    with pytest.raises(ForebayError) as caught:
        exec(HEAD + line, {})
    assert "\n" not in str(caught.value) and "; write " in str(caught.value)


def test_what_a_type_checker_takes_is_taken_when_run() -> None:
    exec(HEAD + GOOD, {})


LINK = Link(rate="155 Mbit/s")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: Link(rate=155), 'Link: rate: 155 has no unit; write it with one, such as "155 M'),
        (lambda: Scenario(link=LINK),
         "traffic: is missing; write at least one class, such as traf"),
        (lambda: Scenario(traffic=[Long(flows=1)]), 'link: is missing; write link=Link(rate="155'),
        (lambda: Scenario(link=3, traffic=[]), "link: 3 where a link belongs; write Link(…), or a"),
        (lambda: Scenario(link=LINK, traffic=Long(flows=1)), "write it in brackets: [Long(…)]"),
        (lambda: Scenario(link=LINK, traffic=[4]),
         "traffic.0: 4 where an entry of traffic belongs"),
        (lambda: Long(flows=True), "Long: flows: True is not a whole number"),
        (lambda: Long(flows=1, sack="yes"), 'sack: "yes" is not True or False; write True or F'),
        (lambda: Long(flows=1, rtt="1-2 ms"), 'write {"uniform": ["1 ms", "2 ms"]}'),
        (lambda: Long(flows=1, route="core"), 'write it in brackets: route=["core"]'),
        (lambda: Short(length="9 packets"), "write one of them, such as load=0.8"),
        (lambda: Queue(ecn=True), 'or write discipline="red" or "pie"'),
        (lambda: Goals(utilization={"at_most": 1}),
         'write {"at_least": 0.98, "probability": 0.99}'),
        (lambda: Goals(queue_delay={}), 'Goals: queue_delay: sets no goal; write {"maximum": '),
        (lambda: Topology(), "Topology: gives no links"),
        (lambda: Scenario.from_dict(3), "3 where"),
    ],
)  # fmt: skip
def test_mistakes_in_python_are_told_in_python_s_words(wrong: object, said: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        wrong()  # type: ignore[operator]
    line = str(caught.value)
    assert said in line and "\n" not in line
    assert not any(words in line for words in ("[[", "--", " = ", "true", "false", "table"))
