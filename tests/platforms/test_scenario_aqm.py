"""A scenario's AQM is written as its answer would be, or refused; lint compares the discipline."""

from pathlib import Path

import pytest
from tests.platforms.reading import wanted

from forebay.catalogue import DISCIPLINES
from forebay.platforms import PlatformError, Port, check_discipline, emit, lint, read_target

STEP = 'min = "60 kB"\nmax = "60001 B"\nweight = 1.0\nprobability = 1.0\necn = true'
AIMS = 'target = "7 ms"\ninterval = "90 ms"'


def scenario(folder: Path, queue: str, rate: str = "50 Mbit/s") -> str:
    """Write a scenario with this discipline and 1000 packets; return its path."""
    path = folder / "link.toml"
    traffic = '[[traffic]]\nflows = 10\nrtt = "20 ms"\n'
    sized = f'[queue]\nsize = "1000 packets"\ndiscipline = {queue}\n'
    path.write_text(f'[link]\nrate = "{rate}"\n{sized}{traffic}')
    return str(path)


@pytest.mark.parametrize(
    ("platform", "queue", "words"),
    [
        ("linux-tc", '"fq_codel"\ntarget = "5 ms"',
         "root fq_codel limit 1000 target 5000us interval 100000us ecn"),
        ("linux-tc", '"codel"\ntarget = "7 ms"',
         "root codel limit 1000 target 7000us interval 100000us"),
        ("linux-tc", '"pie"', "root pie limit 1000 target 15000us"),
        ("linux-tc", '"red"\nmin = "30 kB"\nmax = "90 kB"\nprobability = 0.1',
         "root red limit 1514000 min 30280 max 90840 avpkt 1514 burst 34 probability 0.1"),
        ("linux-tc", f'"red"\n{STEP}',
         "root red limit 1514000 min 60560 max 60562 avpkt 1514 burst 41 probab"),
        ("systemd-networkd", f'"fq_codel"\n{AIMS}', "[FairQueueingControlledDelay] Parent=root "
         "PacketLimit=1000 TargetSec=7000us IntervalSec=90000us ECN=yes"),
        ("systemd-networkd", f'"codel"\n{AIMS}', "[ControlledDelay] Parent=root "
         "PacketLimit=1000 TargetSec=7000us IntervalSec=90000us ECN=no"),
        ("mikrotik", f'"fq_codel"\n{AIMS}', "kind=fq-codel name=forebay fq-codel-limit=1000 "
         "fq-codel-target=7000us fq-codel-interval=90000us fq-codel-ecn=yes"),
        ("vyos", f'"fq_codel"\n{AIMS}', "set qos policy fq-codel FOREBAY queue-limit '1000' set "
         "qos policy fq-codel FOREBAY target '7' set qos policy fq-codel FOREBAY interval '90'"),
    ],
)  # fmt: skip
def test_the_discipline_is_written_with_its_aims(tmp_path, platform, queue, words):
    asked, port = read_target(scenario(tmp_path, queue))
    check_discipline(asked.discipline, platform)
    made = emit(asked, port, platform)
    assert words in " ".join(made.lines)
    found = lint(made.text, port, platform=platform, wanted=asked)
    assert (found.exit_status, found.unread) == (0, ())
    fifo = lint("tc qdisc add dev eth0 root bfifo limit 1514000\n", port, wanted=asked)
    assert fifo.exit_status == 1 and "and" in fifo.text and "is wanted" in fifo.text
    if "7 ms" in queue:
        other, _ = read_target(scenario(tmp_path, queue.replace("7 ms", "20 ms")))
        assert lint(made.text, port, platform=platform, wanted=other).exit_status == 1


def test_vyos_says_what_it_cannot_have(tmp_path):
    asked, port = read_target(scenario(tmp_path, '"fq_codel"\ntarget = "1.5 ms"'))
    made = emit(asked, port, "vyos")
    said = "\n".join(made.comments)
    assert "rounded up to whole milliseconds" in said and "noecn" in said
    assert made.given.aims == (0.002,)
    shaped = port.served_at(1e7)
    with pytest.raises(PlatformError, match="below a shaper VyOS"):
        emit(asked, shaped, "vyos")
    path = tmp_path / "link.toml"
    path.write_text(path.read_text().replace("1000 packets", "11000 packets"))
    with pytest.raises(PlatformError, match="queue-limit of 11000 is not from 2 to 10999"):
        emit(read_target(str(path))[0], port, "vyos")


@pytest.mark.parametrize("name", ["nx-os", "sonic", "eos", "linux-tc"])
def test_a_scenarios_step_of_marks_is_written(tmp_path, name):
    asked, port = read_target(scenario(tmp_path, f'"red"\n{STEP}', "10 Gbit/s"))
    made = emit(asked, port, name)
    assert made.given.marks_bytes == 60_000
    assert lint(made.text, port, platform=name, wanted=asked).exit_status == 0
    assert "what is not written" not in "\n".join(made.comments)


@pytest.mark.parametrize("name", ["ios-xr", "ios-xe", "junos", "sros", "openconfig", "vyos"])
def test_others_refuse_it_in_one_line(tmp_path, name):
    asked, port = read_target(scenario(tmp_path, f'"red"\n{STEP}'))
    with pytest.raises(
        PlatformError, match=f"the queue is red, which cannot be written for {name}"
    ):
        emit(asked, port, name)


def test_what_no_line_has_is_said(tmp_path):
    queue = '"fq_codel"\nquantum = "300 B"\nbuckets = 16\necn = false'
    asked, port = read_target(scenario(tmp_path, queue))
    comments = "\n".join(emit(asked, port, "linux-tc").comments)
    assert "what is not written: quantum, buckets, ecn = false" in comments
    asked, port = read_target(scenario(tmp_path, '"pfifo_head_drop"'))
    assert "not written: pfifo_head_drop" in "\n".join(emit(asked, port, "linux-tc").comments)


def test_a_red_without_thresholds_is_refused(tmp_path):
    with pytest.raises(PlatformError, match="red has no min and no max, and nobody chose"):
        read_target(scenario(tmp_path, '"red"'))
    for given, ends in (('min = "30 kB"', (30_000, 90_000)), ('max = "30 kB"', (10_000, 30_000))):
        asked, _ = read_target(scenario(tmp_path, f'"red"\n{given}'))
        assert asked.aqm.parameter == "min"
        assert (asked.aqm.min_bytes, asked.aqm.max_bytes) == ends


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("tc qdisc add dev e root fq_codel limit 1000 target 5ms", "as asked"),
        ("tc qdisc add dev e root fq_codel limit 1000", "as asked"),
        ("tc qdisc add dev e root fq_codel limit 1000 target 20ms", "other parameters"),
        ("tc qdisc add dev e root codel limit 1000 target 5ms", "other discipline"),
        ("tc qdisc add dev e root cake bandwidth 50mbit", "other discipline"),
        ("tc qdisc add dev e root pfifo limit 1000", "other discipline"),
        ("/queue type add kind=fq-codel name=f fq-codel-limit=1000", "as asked"),
        ("/queue type add kind=pfifo name=f pfifo-limit=1000", "other discipline"),
        ("set qos policy fq-codel F queue-limit 1000", "as asked"),
        ("set qos policy drop-tail F queue-limit 1000", "other discipline"),
        ("policy-map P\n class class-default\n  queue-limit 1000 packets", "unknown"),
    ],
)
def test_lint_compares_the_discipline_and_its_target(tmp_path, text, verdict):
    asked, port = read_target(scenario(tmp_path, '"fq_codel"\ntarget = "5 ms"'))
    platform = "ios-xe" if text.startswith("policy-map") else None
    found = lint(f"{text}\n", port, platform=platform, wanted=asked)
    assert found.verdict(found.readings[0]) == verdict
    assert found.exit_status == (0 if verdict == "as asked" else 1)


def test_an_aqm_is_not_the_drop_tail_queue_that_was_asked_for():
    port = Port(1e9)
    text = "tc qdisc add dev e root codel limit 129\n"
    found = lint(text, port, wanted=wanted(129, port))
    assert found.exit_status == 1
    assert "other discipline: codel, and drop-tail is wanted" in found.text


@pytest.mark.parametrize("platform", ["linux-tc", "junos", "eos"])
@pytest.mark.parametrize("discipline", DISCIPLINES)
def test_what_cannot_be_written_at_any_size_is_refused_before_the_sizing(discipline, platform):
    """What is not refused here, `emit` writes."""
    red = discipline == "red" and platform == "eos"
    kind = DISCIPLINES[discipline].sized
    fits = kind == "limit" or (platform == "linux-tc" and discipline not in ("cake", "cobalt"))
    if fits or red:
        check_discipline(discipline, platform)
    else:
        with pytest.raises(PlatformError) as refused:
            check_discipline(discipline, platform)
        assert refused.value.code == "managed"
