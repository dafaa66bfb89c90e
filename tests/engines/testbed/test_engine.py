"""From scenario to Outcome with an emulator without traffic; needs no root."""

import pickle
from typing import Any

import pytest

from forebay.effort import Effort
from forebay.engines import EngineUnavailable, get, testbed
from forebay.engines.testbed import machine, one_run, registry, retry
from forebay.engines.testbed.errors import GateFailed, TestbedError, asking


def test_an_outcome_has_the_readings_and_the_machine(fake, small):
    seen = []
    outcome = get("testbed").run(small, [3, 4], Effort(progress=seen.append))
    assert outcome.engine == "testbed"
    link = outcome.links["bottleneck"]
    assert link.utilization.value == pytest.approx(0.9) and link.utilization.n == 2
    assert link.loss_rate.value == pytest.approx(0.2)
    assert link.queue_packets.mean.value == pytest.approx(5.0)
    assert seen == [0.25, 0.75, 1.0], "one replication after the other"
    told = outcome.provenance.model_dump()
    assert told["seeds"] == [3, 4] and told["packets"] == 3200
    assert told["machine"]["kernel"] and told["machine"]["congestion_controls"]
    assert told["sysctls"] == {"net.ipv4.tcp_sack": "1"}
    assert [run["gate"]["lateness_p99_s"] for run in told["runs"]] == [1e-4, 1e-4]


def test_a_seed_that_was_played_or_watched_is_not_played_again(fake, small, monkeypatch):
    engine: Any = get("testbed")
    first = engine.run(small, [1])
    played = one_run.run_once(small, 2)
    monkeypatch.setattr(testbed, "run_until_valid", lambda *a, **k: (played, [["late"]]))
    monkeypatch.setattr(testbed, "to_trace", lambda *a, **k: "seen")
    assert engine.trace(small, step=small.measure.duration, flows=(0,), seed=2) == "seen"
    fake("die")
    assert engine.run(small, [1]).links == first.links
    outcome = engine.run(small, [2])
    assert outcome.links["bottleneck"].loss_rate.value == pytest.approx(0.2)
    assert outcome.provenance.model_dump()["runs"][0]["invalid"] == [["late"]]


def test_a_run_that_fails_the_gate_is_played_again(fake, small, tmp_path):
    fake(f"late-once {tmp_path / 'was-late'}")
    (told,) = get("testbed").run(small, [1]).provenance.model_dump()["runs"]
    assert told["invalid"] == [["delivery lateness p99 5 ms, at most 1 ms"]], "and it says so"


def test_and_is_refused_after_three_and_never_a_number(fake, small, monkeypatch):
    fake("late")
    runs, play = [], one_run.run_once

    def counted(scenario, *a, **k):
        if scenario == small:  # and not one of a smaller rate, which looks for what passes
            runs.append(1)
        return play(scenario, *a, **k)

    monkeypatch.setattr(retry, "run_once", counted)
    with pytest.raises(GateFailed) as caught:
        get("testbed").run(small, [1])
    said = str(caught.value)
    assert len(runs) == retry.ATTEMPTS == 3
    assert caught.value.exit_status == 3 and "\n" not in said
    assert "p99 5 ms" in said and "no smaller rate that was tried" in said


def test_a_refusal_says_what_the_hypervisor_took(fake, small, monkeypatch, tmp_path):
    fake("late")
    statistics, play = tmp_path / "stat", one_run.run_once
    of_core = "{} 100 0 100 700 0 0 0 100 30 0\n"
    statistics.write_text(f"cpu  1 1\n{of_core.format('cpu0')}{of_core.format('cpu1')}intr 8 9\n")
    monkeypatch.setattr(retry, "_STATISTICS", statistics)

    def take(*arguments, **named):
        later = "cpu0 100 0 100 850 0 0 0 100 30 0\ncpu1 130 0 120 800 0 0 0 150 60 0\n"
        statistics.write_text(f"cpu  9 9\n{later}intr 9 9\n")
        return play(*arguments, **named)

    monkeypatch.setattr(retry, "run_once", take)
    with pytest.raises(GateFailed) as caught:
        get("testbed").run(small, [1])
    assert "the hypervisor took 25.0 % of a core's time; this machine" in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.steal == caught.value.steal == 0.25


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("refuse", "opening /dev/net/tun: no; ask nicely"),
        ("die", "ended with status 101: panicked"),
        ("chatter", "b'hello', which is not an event"),
        ("other-queue", "the router's queues read"),
        ("forever", ""),
    ],
)
def test_what_goes_wrong_is_one_line_and_leaves_nothing(fake, small, how, said):
    """Ctrl-C while the emulator runs too."""
    fake(how)

    def stop(_):
        raise KeyboardInterrupt

    with pytest.raises((TestbedError, KeyboardInterrupt)) as caught:
        get("testbed").run(small, [1], Effort(progress=stop if how == "forever" else None))
    assert said in str(caught.value) and "\n" not in str(caught.value)
    assert not list(registry.directory().glob("*.json"))


def test_without_root_it_says_how_to_get_it(monkeypatch, fake):
    monkeypatch.undo()
    monkeypatch.setattr(machine, "is_root", lambda: False)
    monkeypatch.setattr(machine, "emulator", lambda: None)
    with pytest.raises(EngineUnavailable, match="it needs root; run it as root") as caught:
        get("testbed")
    assert caught.value.exit_status == 3 and "user namespace does not suffice" in str(caught.value)


def test_without_an_emulator_it_says_how_to_build_it(monkeypatch):
    monkeypatch.setenv("FOREBAY_EMULATOR", "/nowhere/forebay-emulator")
    with pytest.raises(EngineUnavailable, match="make testbed"):
        machine.check()


def test_a_control_that_no_kernel_has_is_named(fake, small):
    with pytest.raises(EngineUnavailable, match="bbr3"):
        get("testbed").run(small.replace({"traffic.0.congestion_control": "bbr3"}), [1])


def test_the_kernels_answer_becomes_one_line():
    with pytest.raises(TestbedError) as caught, asking("testbed.furnishing", namespace="n"):
        raise PermissionError(1, "Operation not permitted")
    assert "furnishing n: Operation not permitted; run it as root" in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    with (
        pytest.raises(ZeroDivisionError),
        asking("testbed.furnishing", namespace="a bug stays a bug"),
    ):
        raise ZeroDivisionError
