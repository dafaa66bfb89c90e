"""A statement belongs to the block that it stands in, and to no neighbour."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import examples
from tests.platforms.reading import TEN_GBIT_S, one, said
from tests.platforms.test_texts_of_operators import ROWS

from forebay.platforms import PlatformError, lint

INDENTED = ("ios-xr", "ios-xe", "nx-os", "sros", "eos", "vrp")
BRACED = ("junos", "sros", "vyos")
WITHOUT_SECTIONS = st.sampled_from(["mystery 9 create", "mystery", "mystery block X"])


def readings(text: str, platform: str) -> int:
    try:
        return len(lint(text, TEN_GBIT_S, platform=platform).readings)
    except PlatformError as error:
        assert error.code == "no-queue"
        return 0


@settings(deadline=None, max_examples=examples(60))
@given(data=st.data(), head=WITHOUT_SECTIONS, platform=st.sampled_from(INDENTED))
def test_no_number_comes_from_an_unknown_section(
    data: st.DataObject, head: str, platform: str
) -> None:
    text, _, _ = data.draw(st.sampled_from([row for row in ROWS[platform] if "{" not in row[0]]))
    if text.startswith("/"):
        return
    inside = "\n".join(f"    {line}" for line in text.splitlines())
    assert readings(f"{head}\n{inside}\n", platform) == 0
    assert readings(text, platform) > 0


@pytest.mark.parametrize("platform", BRACED)
def test_no_number_comes_from_unknown_braces(platform: str) -> None:
    for text, _, _ in ROWS[platform]:
        if "{" in text:
            assert readings(f"mystery {{\n{text}}}\n", platform) == 0
        elif text.startswith("set "):
            assert readings(text.replace("set ", "set mystery "), platform) == 0


POLICER = """
    qos
        sap-ingress 9 create
            queue 2 create
                mbs 1200 kilobytes
            exit
            policer 1 create
                rate 10000 cir 10000
                mbs 64 kilobytes
                cbs 32 kilobytes
            exit
        exit
        atm-td-profile 5 create
            traffic sir 1000 pir 2000 mbs 300
        exit
    exit
"""


@pytest.mark.parametrize("text", [POLICER, textwrap.dedent(POLICER), POLICER.replace("  ", "")])
def test_a_policer_and_an_atm_profile_are_no_queues(text: str) -> None:
    found = lint(text, TEN_GBIT_S, platform="sros")
    (reading,) = found.readings
    assert (reading.bytes, reading.served) == (1_200_000, None)
    assert [each.written.split()[-2:] for each in found.unread] == [
        ["64", "kilobytes"], ["32", "kilobytes"], ["mbs", "300"]
    ]  # fmt: skip


def test_a_policer_of_the_model_driven_cli_is_no_queue() -> None:
    text = (
        'qos {\n sap-egress "c" {\n  policer 2 {\n   mbs 40000\n   rate { pir 2000 }\n  }\n }\n}\n'
    )
    found = lint(text, TEN_GBIT_S)
    assert not found.readings and [each.line for each in found.unread] == [4]


CHILD = """policy-map CHILD
 class class-default
  queue-limit 100 packets
policy-map A
 class class-default
  shape average 10000000
   service-policy CHILD
policy-map B
 class SITE
  shape average 20000000
  service-policy CHILD
 class OTHER
  shape average 20000000
  service-policy CHILD
"""


def test_a_child_of_two_parents_has_the_time_of_each() -> None:
    found = lint(CHILD, TEN_GBIT_S, platform="ios-xe").readings
    assert [each.seconds(TEN_GBIT_S) for each in found] == [0.12, 0.06]
    assert "in policy-map A, class class-default" in found[0].queue
    assert "class SITE, policy-map B, class OTHER" in found[1].queue


def test_one_scheduler_of_two_ports_has_the_time_of_each() -> None:
    text = "set class-of-service schedulers be buffer-size temporal 10k\n"
    text += "set class-of-service scheduler-maps m forwarding-class be scheduler be\n"
    for port, rate in (("ge-0/0/0", "100m"), ("ge-0/0/1", "1g")):
        text += f"set class-of-service interfaces {port} scheduler-map m\n"
        text += f"set class-of-service interfaces {port} shaping-rate {rate}\n"
    assert [each.bytes for each in lint(text, TEN_GBIT_S).readings] == [125_000, 1_250_000]


def test_one_class_has_one_queue() -> None:
    limits = "".join(f"  queue-limit dscp af1{n} {n}0 packets\n" for n in (1, 2, 3))
    text = f"policy-map P\n class A\n  bandwidth percent 5\n{limits}  queue-limit 200 packets\n"
    reading = one(text, TEN_GBIT_S, "ios-xe")
    assert reading.packets == 200 and "dscp af13 30 packets" in said(reading, "note")


def test_a_class_of_a_catalyst_has_one_queue() -> None:
    text = "policy-map 2P6Q3T\n class VIDEO\n  bandwidth remaining percent 10\n"
    text += "  queue-buffers ratio 10\n  queue-limit dscp af43 percent 80\n"
    reading = one(text + "  queue-limit dscp af41 percent 100\n", TEN_GBIT_S, "ios-xe")
    assert reading.bytes is None and "10 % of the port's buffer units" in said(reading)
    assert "dscp af43 percent 80 is of these packets alone" in said(reading, "note")


def test_percent_beside_a_dynamic_threshold_is_no_mxs() -> None:
    text = "set class-of-service schedulers {} buffer-size percent 15\n"
    text += "set class-of-service schedulers b buffer-dynamic-threshold 10\n"
    assert one(text.format("a"), TEN_GBIT_S).bytes is None


def test_gred_is_not_the_prio_in_its_options() -> None:
    text = "tc qdisc change dev e root gred DP 1 limit 60KB min 15KB max 45KB burst 20 prio 2\n"
    found = lint(text, TEN_GBIT_S)
    assert not found.readings and "gred DP 1" in found.unread[0].written


def test_what_marks_and_what_drops_is_said() -> None:
    text = "policy-map type queuing out\n  class type queuing q3\n    {}"
    text += "random-detect minimum-threshold 150 kbytes maximum-threshold 1500 kbytes\n"
    marks = one(text.format("random-detect ecn\n    "), TEN_GBIT_S)
    assert marks.bytes is None
    assert "ECN-capable packets are marked" in said(marks, "note")
    drops = one(text.format(""), TEN_GBIT_S)
    assert drops.bytes == 1_500_000 and "every packet once" in said(drops)
    wred = '{"WRED_PROFILE": {"L": {"green_min_threshold": "1", "green_max_threshold": "2"%s}}}'
    assert "packets are dropped" in said(one(wred % "", TEN_GBIT_S), "note")
    assert "are marked" in said(one(wred % ', "ecn": "ecn_all"', TEN_GBIT_S), "note")


def test_frr_has_no_queues() -> None:
    with pytest.raises(PlatformError, match="FRR's configuration, which sets no queue"):
        lint("frr version 9.1\nfrr defaults traditional\nrouter bgp 65001\n", TEN_GBIT_S)
