"""A shaper's burst is written or said, and a bundle's size is a time where only that is taken."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.platforms.reading import one, said, wanted

from forebay.cli.program import call
from forebay.platforms import PlatformError, Port, emit, lint, names

SHAPED = Port(350e6, line_bps=4e10, burst_bytes=32_000)


@pytest.mark.parametrize(
    ("platform", "form", "line"),
    [
        ("ios-xe", None, "  shape average 350000000 256000"),
        ("ios-xr", None, "  shape average 350000000 bps 32000 bytes"),
        ("junos", None, "set class-of-service traffic-control-profiles FOREBAY shaping-rate "
         "350000000 burst-size 32000"),
        ("sros", None, "        burst-limit 32000 byte"),
        ("sros", "md-cli", '/configure qos sap-egress "100" queue 1 burst-limit 32000'),
        ("mikrotik", None, "/queue tree add name=forebay parent=ether1 queue=forebay "
         "max-limit=350000000 bucket-size=0.001"),
    ],
)  # fmt: skip
def test_the_burst_is_written(platform: str, form: str | None, line: str) -> None:
    made = emit(wanted(217, SHAPED), SHAPED, platform, form=form)
    assert line in made.lines
    found = lint(made.text, Port(4e10), platform=platform, wanted=made.wanted)
    assert found.exit_status == 0 and not found.unread
    served = found.readings[0].served
    assert served is not None and served.rate_bps == 350e6


@pytest.mark.parametrize("platform", names())
def test_a_burst_that_is_not_written_is_said(platform: str) -> None:
    made = emit(wanted(217, SHAPED), SHAPED, platform)
    text = "\n".join(made.lines)
    has = any(size in text for size in ("32000", "256000", "bucket-size"))
    assert ("burst of 32000 B is not written" in "\n".join(made.comments)) != has


def test_a_7705_and_a_large_bucket_of_routeros_have_none() -> None:
    comments = emit(wanted(217, SHAPED), SHAPED, "sros", model="7705-512").comments
    assert any("no burst-limit of a 7705" in line for line in comments)
    deep = Port(1e6, line_bps=1e9, burst_bytes=2_000_000)
    comments = emit(wanted(217, deep), deep, "mikrotik").comments
    assert any("bucket-size goes to 10 s" in line for line in comments)


def test_ios_xr_takes_a_time_on_a_bundle(ten_gigabit: Port) -> None:
    made = emit(wanted(4668, ten_gigabit), ten_gigabit, "ios-xr", interface="Bundle-Ether1")
    assert "  queue-limit 5602 us" in made.lines
    found = lint(made.text, ten_gigabit, wanted=made.wanted)
    assert found.exit_status == 0 and "refused" not in found.text
    with pytest.raises(PlatformError, match="takes only a time on Bundle-Ether1"):
        emit(wanted(9, ten_gigabit), ten_gigabit, "ios-xr", form="bytes", interface="Bundle-Ether1")


def test_a_table_with_a_bundle_writes_a_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "be.csv"
    row = "L,40 Gbit/s,400,20 ms..80 ms,ios-xr,Bundle-Ether1,4\n"
    table.write_text(f"name,rate,n,rtt,platform,interface,members\n{row}")
    assert call(["size", "--ports", str(table), "--engine", "theory"]) == 0
    out = capsys.readouterr().out
    assert "queue-limit 5602 us" in out and "only a time" not in out


def test_the_braces_of_vyos_are_recognised(gigabit: Port) -> None:
    text = "qos {\n    policy {\n        shaper S {\n            bandwidth 50mbit\n"
    text += "            default {\n                queue-type drop-tail\n"
    found = lint(
        text + "                queue-limit 100\n            }\n        }\n    }\n}\n", gigabit
    )
    assert found.platform == "vyos" and found.readings[0].packets == 100
    control = "qos {\n policy {\n  rate-control RC {\n   latency 250\n  }\n }\n}\n"
    assert lint(control, gigabit).platform == "vyos"


def test_a_classes_own_rate_is_said_in_units(gigabit: Port) -> None:
    text = "policy-map P\n class D\n  bandwidth percent 4\n  queue-limit 2 ms\n end-policy-map\n"
    assert "at the class's own 40 Mbit/s" in said(one(text, gigabit))


def test_thresholds_above_the_limit_end_at_the_limit(gigabit: Port) -> None:
    text = (
        "policy-map P\n class class-default\n  random-detect\n  random-detect dscp 10 100 200 10\n"
    )
    reading = one(f"{text}  queue-limit 128 packets\n", gigabit, "ios-xe")
    assert reading.bytes == 192_000
    assert "300000 B, is above it: every packet is dropped at 192000 B" in said(reading)
