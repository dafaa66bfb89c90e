"""Bad input: one line that names file, field, value and what to write instead."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.scenario import ScenarioError, load, loads

from .build import SMALLEST


def refusal(text: str = SMALLEST, *sets: str) -> ScenarioError:
    with pytest.raises(ScenarioError) as caught:
        loads(text, source="x.toml", overrides=sets)
    assert caught.value.exit_status == 2
    assert len(str(caught.value).splitlines()) == 1
    assert "; write " in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("setting", "code", "said"),
    [
        ("link.rate=0 bit/s", "out-of-range", "below the least, 1 kbit/s"),
        ("link.rate=-5 Mbit/s", "out-of-range", "negative"),
        ("link.rate=155", "no-unit", 'such as "155 Mbit/s"'),
        ("link.rate=11 Tbit/s", "out-of-range", "above the most, 10 Tbit/s"),
        ("queue.size=3 furlongs", "unknown-unit", "packets, B, kB"),
        ("queue.size=129", "no-unit", '"129 packets"'),
        ("queue.size=0 packets", "out-of-range", "no buffer"),
        ("queue.size=1.5 packets", "out-of-range", "whole number of packets"),
        ("queue.size=100 B", "out-of-range", "0 packets of 1500 B"),
        ("queue.size=1e30 packets", "out-of-range", "1 to 1000000000 packets"),
        ("queue.size=1 packets/sqrt(n)", "wrong-dimension", "multiple of bdp"),
        ("queue.size=1 Mbit/s", "wrong-dimension", "is a rate"),
        ("queue.discipline=droptail", "unknown-name", '"drop-tail"'),
        ("traffic.0.flows=1000000000", "out-of-range", "1 to 10000000"),
        ("traffic.0.flows=0", "out-of-range", "below the least, 1"),
        ("traffic.0.flows=1.5", "wrong-type", "whole number"),
        ("traffic.0.flows=true", "wrong-type", "whole number"),
        ('traffic.0.flows="100"', "wrong-type", "whole number"),
        ("traffic.0.congestion_control=rneo", "unknown-name", 'did you mean "reno"'),
        ("traffic.0.congestion_control={reno=0.5}", "out-of-range", "sum to 0.5"),
        ("traffic.0.congestion_control={reno=-1}", "out-of-range", "not a share"),
        ('traffic.0.rtt={uniform=["90 ms", "30 ms"]}', "out-of-range", "smaller end first"),
        ('traffic.0.rtt={unifrom=["30 ms", "90 ms"]}', "unknown-key", "uniform"),
        ('traffic.0.rtt={uniform=["30 ms"]}', "wrong-type", "two ends"),
        ('traffic.0.rtt={uniform=["0 s", "1 s"]}', "out-of-range", "1 us to 60 s"),
        ("traffic.0.rtt=61 s", "out-of-range", "1 us to 60 s"),
        ("traffic.0.packet=40 B", "out-of-range", "64 B to 65535 B"),
        ("traffic.0.sack=1", "wrong-type", "true or false"),
        ("traffic.0.start=60 s", "contradiction", "no flow starts"),
        ("measure.duration=0 s", "out-of-range", "1 ms to 86400 s"),
        ("measure.duration=25 h", "out-of-range", "1 ms to 86400 s"),
        ("goals.utilization=1.2", "out-of-range", "0.001 to 1.0"),
        ("goals.utilization=nan", "out-of-range", "nan"),
        ("goals.utilization=98 %", "wrong-type", "0.98"),
        ("goals.loss_rate=-0.1", "out-of-range", "below the least"),
        ("name=3", "wrong-type", "quotes"),
        ("queue.sise=1 bdp", "unknown-key", 'write "queue.size"'),
        ("trafic.0.flows=3", "unknown-key", 'write "traffic"'),
        ("traffic.1.flows=3", "bad-override", "write traffic.0"),
        ("traffic.first.flows=3", "bad-override", "write traffic.0"),
        ("link.rate.unit=3", "bad-override", "link.rate is not a table"),
        ("link.rate", "bad-override", "PATH=VALUE"),
        ("=3", "bad-override", "PATH=VALUE"),
        ("link..rate=3", "bad-override", "PATH=VALUE"),
        ("traffic=[]", "missing", "at least one [[traffic]]"),
        ("queue=3", "wrong-type", "[queue]"),
        ("traffic.0=3", "wrong-type", "[[traffic]]"),
    ],
)
def test_bad_values(setting: str, code: str, said: str) -> None:
    error = refusal(SMALLEST, setting)
    assert error.code == code
    assert said in str(error)
    assert str(error).startswith("overrides: ")


@pytest.mark.parametrize(
    ("text", "place", "code", "said"),
    [
        ("", "x.toml: link: ", "missing", "[link]"),
        ('[lnik]\nrate = "1 Gbit/s"', "x.toml: lnik: ", "unknown-key", 'write "link"'),
        ("[link]\n[[traffic]]\nflows=1", "x.toml: link.rate: ", "missing", 'rate = "155 Mbit/s"'),
        ('[link]\nrate="1 Gbit/s"', "x.toml: traffic: ", "missing", "[[traffic]]"),
        ('[link]\nrate="1 Gbit/s"\n[[traffic]]', "x.toml: traffic.0.flows: ", "missing", "100"),
        (
            '[link]\nrate="1 Gbit/s"\n[traffic]\nflows=1',
            "x.toml: traffic: ",
            "wrong-type",
            "[[traffic]]",
        ),
        ('[link]\nrate = "1 Gbit/s\n', "x.toml: ", "toml-syntax", "line 2"),
        ("a = " + "[" * 100_000, "x.toml: ", "toml-syntax", "nested too deeply"),
        ("a = 1" + "0" * 5000, "x.toml: ", "toml-syntax", "digits"),
        (SMALLEST + "speed = 3", "x.toml: traffic.0.speed: ", "unknown-key", "write "),
        (SMALLEST + '"a\\nb" = 3', "x.toml: traffic.0.a\\nb: ", "unknown-key", "flows"),
        (SMALLEST + "[[traffic]]\nflows = 10_000_000", "x.toml: traffic: ", "out-of-range", "all"),
    ],
)
def test_bad_files(text: str, place: str, code: str, said: str) -> None:
    error = refusal(text)
    assert str(error).startswith(place)
    assert error.code == code
    assert said in str(error)


def test_goals_that_contradict_each_other() -> None:
    error = refusal(SMALLEST, "goals.queue_delay_mean=20 ms", "goals.queue_delay_p99=10 ms")
    assert (error.code, error.field) == ("contradiction", "goals.queue_delay_p99")


@pytest.mark.parametrize("limit", ["access_rate=1 Mbit/s", "max_window=10"])
def test_goals_that_contradict_the_link(limit: str) -> None:
    """100 flows at 1 Mbit/s, or with 10 packets an RTT of 100 ms, cannot fill 155 Mbit/s."""
    error = refusal(SMALLEST, "goals.utilization=0.98", f"traffic.0.{limit}")
    assert (error.code, error.field) == ("contradiction", "goals.utilization")


def test_goals_may_be_strict_or_absent() -> None:
    assert loads(SMALLEST, overrides=["goals.utilization=1"]).goals.utilization == 1.0
    assert loads(SMALLEST + "[goals]\n").goals.loss_rate is None


def test_files_that_cannot_be_scenarios(tmp_path: Path) -> None:
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b'name = "a"\n# caf\xe9\n')
    for path, code in [
        (tmp_path / "none.toml", "file-missing"),
        (tmp_path, "file-directory"),
        (latin, "not-utf8"),
        (latin / "below.toml", "file-unreadable"),
        (Path("/dev/zero"), "file-unreadable"),
        (_fifo(tmp_path), "file-unreadable"),
    ]:
        with pytest.raises(ScenarioError) as caught:
            load(path)
        assert caught.value.code == code
        assert str(caught.value).startswith(str(path))


def _fifo(folder: Path) -> Path:
    os.mkfifo(folder / "pipe.toml")
    return folder / "pipe.toml"


@pytest.mark.parametrize("name", ["\x1b[31mred", "nul \0", "two\nlines", "\u202eturned"])
def test_a_name_that_would_steer_a_terminal_is_refused(name: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        loads(f'name = {json.dumps(name)}\n[link]\nrate = "1 Mbit/s"\n[[traffic]]\nflows = 1\n')
    assert caught.value.field == "name" and str(caught.value).isprintable()


def test_overrides_are_toml_values_or_else_text() -> None:
    sets = (
        "queue.size=64 packets",
        'traffic.0.rtt={uniform=["30 ms","90 ms"]}',
        "traffic.0.rtt.uniform.1=70 ms",
        "goals.utilization=0.5",
        "name=a = b",
    )
    scenario = loads(SMALLEST, overrides=sets)
    assert scenario.buffer_packets == 64
    assert scenario.mean_rtt == pytest.approx(0.05)
    assert (scenario.goals.utilization, scenario.name) == (0.5, "a = b")


def test_an_override_mends_a_broken_file() -> None:
    broken = SMALLEST.replace("155 Mbit/s", "155")
    assert loads(broken, overrides=["link.rate=1 Gbit/s"]).link.rate == 1e9


def test_the_file_is_blamed_for_its_own_mistake() -> None:
    broken = SMALLEST.replace("155 Mbit/s", "155")
    assert refusal(broken, "traffic.0.flows=7").file == "x.toml"


_paths = st.sampled_from(
    [
        "name",
        "link",
        "link.rate",
        "queue.size",
        "queue.discipline",
        "traffic",
        "traffic.0",
        "traffic.0.flows",
        "traffic.0.rtt",
        "traffic.0.congestion_control",
        "traffic.0.sack",
        "measure.warmup",
        "goals.utilization",
        "goals.queue_delay_p99",
    ]
)


@given(_paths, st.text(max_size=20) | st.from_regex(r"-?[0-9.]{1,9} ?[a-zA-Z/]{0,6}"))
def test_any_override_is_taken_or_refused_in_one_line(path: str, value: str) -> None:
    try:
        loads(SMALLEST, overrides=[f"{path}={value}"])
    except ScenarioError as error:
        assert len(str(error).splitlines()) == 1


@given(st.text(max_size=60))
def test_any_text_is_refused_in_one_line(text: str) -> None:
    refusal(text)


def test_a_memory_that_no_queue_shares_is_refused() -> None:
    with pytest.raises(ScenarioError) as caught:
        loads('memory = "16 MB"\n[link]\nrate = "1 Mbit/s"\n[[traffic]]\nflows = 1\n')
    assert caught.value.field == "memory" and "alpha" in str(caught.value)
