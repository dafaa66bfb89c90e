"""The class queues of a port sized together under one memory."""

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest
from click.testing import CliRunner

import forebay
from forebay import Scenario, ScenarioError, platforms
from forebay.api.class_queues import size_class_queues
from forebay.cli.program import call as run_line
from forebay.cli.program import program
from forebay.outcome import Outcome, SizeResult
from forebay.outcome.class_queues import ClassQueueSizes

VOICE = {
    "name": "voip", "kind": "udp", "flows": 10, "rate": "80 kbit/s", "packet": "200 B",
    "goals": {"loss_rate": 0.01},
}  # fmt: skip
ERP = {"name": "erp", "flows": 3, "rtt": "20 ms", "goals": {"loss_rate": 0.03}}
BULK = {"name": "bulk", "flows": 3, "rtt": "40 ms"}
QUEUES = [
    {"name": "rest", "default": True},
    {"name": "business", "traffic": ["erp"], "weight": 3.0},
    {"name": "voice", "traffic": ["voip"], "priority": 1, "size": "20 packets"},
]


def port(*, queues: list[dict[str, Any]] = QUEUES, **more: Any) -> Scenario:
    document = {
        "link": {"rate": "10 Mbit/s"},
        "queue": {"discipline": "classes", "size": "50 packets", "classes": queues},
        "traffic": [VOICE, ERP, BULK],
        "measure": {"warmup": "12 s", "duration": "8 s"},
        "goals": {"utilization": 0.9},
    }
    return Scenario.from_dict(document | more)


def answering(sizes: dict[str, Callable[[Scenario], int]], seen: list[Scenario]) -> Any:
    """Return a sizing that gives the one queue without a size what ``sizes`` has for it."""

    def sizing(scenario: Scenario, seconds: float) -> SizeResult:
        seen.append(scenario)
        (name,) = (each.name for each in scenario.queue.classes if each.is_sized)
        packets = sizes[name](scenario)
        least = SimpleNamespace(packets=packets, low=packets - 1, high=packets, bytes=0)
        found = SimpleNamespace(buffer=least, recommended=least, reason=None)
        return cast(SizeResult, found)

    return sizing


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return forebay.run(port(), seeds=2)


def test_each_queue_is_sized_by_its_own_goals_until_no_size_moves(outcome):
    seen: list[Scenario] = []

    def rest(scenario: Scenario) -> int:  # it needs what business has, and ten more
        return int(scenario.queue.classes[1].size.amount) + 10  # type: ignore[union-attr]

    sizing = answering({"business": lambda _: 30, "rest": rest}, seen)
    found = size_class_queues(port(), sizing, lambda _: outcome, budget_s=60)
    assert [(each.name, each.packets) for each in found.class_queues] == [
        ("rest", 40), ("business", 30), ("voice", 20),
    ]  # fmt: skip
    assert (found.passes, found.steady) == (2, True)
    assert [each.is_sized for each in found.class_queues] == [True, True, False]
    business, other = seen[:2]
    assert business.goals.utilization is None
    assert business.traffic[1].goals is not None
    assert other.goals.utilization == 0.9, "no goal is on the traffic of rest itself"
    assert all(group.goals is None for group in other.traffic)


def test_a_memory_that_is_too_small_cuts_the_sizes_that_were_sought(outcome):
    ran: list[Scenario] = []

    def running(scenario: Scenario) -> Outcome:
        ran.append(scenario)
        return outcome

    sizing = answering({"business": lambda _: 30, "rest": lambda _: 40}, [])
    found = size_class_queues(port(), sizing, running, memory="60 kB")
    assert found.wanted_bytes == 70 * 1500 + 20 * 200
    assert found.is_cut
    assert 58_000 < found.bytes <= 60_000
    assert found.class_queues[2].packets == 20, "a size that is written is kept"
    cut = [each.packets for each in found.class_queues[:2]]
    assert cut[0] / cut[1] == pytest.approx(40 / 30, rel=0.05)
    assert [limit for limit, _ in ran[0].class_limits()] == [*cut, 20]


def test_sizes_that_never_settle_are_said(outcome):
    turns = iter(range(100))
    sizing = answering({"business": lambda _: 30, "rest": lambda _: 40 + 9 * next(turns)}, [])
    found = size_class_queues(port(), sizing, lambda _: outcome)
    assert (found.passes, found.steady) == (3, False)


@pytest.mark.parametrize(
    ("each_s", "fractions"), [(0.0, [0.25, 0.5, 0.75, 0.95, 1.0]), (40.0, [0.4, 0.8, 1.0])]
)
def test_no_more_time_is_foretold_than_the_budget_has_left(outcome, monkeypatch, each_s, fractions):
    """What a fraction f foretells after t seconds is t (1 - f) / f."""
    now: list[float] = [0.0]
    sizing = answering({"business": lambda _: 30, "rest": lambda _: 40}, [])

    def slow(scenario: Scenario, seconds: float) -> SizeResult:
        now[0] += each_s
        return cast(SizeResult, sizing(scenario, seconds))

    monkeypatch.setattr("forebay.api.class_queues.time.monotonic", lambda: now[0])
    told: list[float] = []
    size_class_queues(port(), slow, lambda _: outcome, budget_s=100, progress=told.append)
    assert told == pytest.approx(fractions)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"queue": {"discipline": "drop-tail"}}, "queue.discipline: there is one queue"),
        ({"queues": [q | {"size": "9 packets"} for q in QUEUES]}, "each has a size"),
        ({"queues": [QUEUES[0] | {"share": 0.5}, *QUEUES[1:]]}, "divides one size"),
        ({"queues": [*QUEUES, {"name": "spare"}]}, "spare has no traffic"),
        ({"goals": {}}, "no goal is on the traffic of rest"),
    ],
)
def test_what_cannot_be_sized_together_is_refused(changed, said):
    with pytest.raises(ScenarioError, match=said):
        size_class_queues(port(**changed), cast(Any, None), cast(Any, None))


def test_a_memory_below_what_is_written_is_refused():
    with pytest.raises(ScenarioError, match="take 7000 B"):
        size_class_queues(port(), cast(Any, None), cast(Any, None), memory="6 kB")


def decided(document: dict[str, Any]) -> bool:
    """Whether all goals are met, and each queue has a size that is recommended."""
    met = all(each["verdict"] == "met" for each in document["goals"])
    return met and not any(each["error"] for each in document["class_queues"])


def test_the_command_sizes_runs_and_writes_a_port(tmp_path):
    queues = [QUEUES[0] | {"size": "60 packets"}, *QUEUES[1:]]
    path = tmp_path / "port.toml"
    port(queues=queues, goals={}).save(path)
    call = ["size", str(path), "--class-queues", "--seeds", "3", "--emit", "junos", "--json",
            "--memory", "1 MB", "--budget", "20 s"]  # fmt: skip
    done = CliRunner().invoke(program, call)
    assert done.exit_code in (0, 3), done.output
    assert done.stderr.startswith("sizing 1 class queue: at most 20 s, and then one run")
    document = json.loads(done.stdout)
    rows = {row["name"]: row for row in document["class_queues"]}
    assert rows["rest"]["packets"] == 60
    assert rows["business"]["low"] <= rows["business"]["high"]
    assert {each["goal"].split(" of ")[1] for each in document["goals"]} == {"voip", "erp"}
    assert document["bytes"] == sum(row["bytes"] for row in rows.values())
    assert ClassQueueSizes.from_json(done.stdout).to_dict() == document
    if not decided(document):  # on a loaded machine
        assert document["configuration"] is None
        return
    lines = "\n".join(document["configuration"]["configuration"])
    read = platforms.lint(lines, platforms.Port(1e7), platform="junos").readings
    for reading in read:
        row = rows[reading.queue.split()[1]]
        assert abs(reading.bytes - row["bytes"]) <= reading.rounding_bytes


def test_sizes_that_miss_a_goal_are_not_written(tmp_path):
    """They had been written like those that meet all."""
    queues = [{"name": "only", "default": True}]
    path = tmp_path / "port.toml"
    port(queues=queues, goals={"utilization": 0.99, "queue_delay_p99": "1 us"}).save(path)
    call = ["size", str(path), "--class-queues", "--seeds", "2", "--emit", "junos", "--json",
            "--budget", "10 s"]  # fmt: skip
    done = CliRunner().invoke(program, call)
    assert done.stderr.startswith("sizing 1 class queue: at most 10 s, and then one run")
    document = json.loads(done.stdout)
    assert "missed" in {each["verdict"] for each in document["goals"]}
    assert document["configuration"] is None
    assert "no configuration for junos" in done.stderr


@pytest.mark.parametrize(
    "words",
    [("--halves",), ("--force",), ("--of", "queue.alpha"), ("--explain",), ("--chip-ports", "2"),
     ("--memory", "1 B"), ("--memory", "much"), ("--draws", "9"), ("--engine", "theory")],
)  # fmt: skip
def test_what_is_not_for_class_queues_is_refused_in_one_line(words, tmp_path, capsys):
    path = tmp_path / "port.toml"
    port().save(path)
    status = 3 if "theory" in words else 2
    assert run_line(["size", str(path), "--class-queues", *words]) == status
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
