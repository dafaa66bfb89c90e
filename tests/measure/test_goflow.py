"""goflow2's JSON says what the routers' own datagrams say."""

import json

import pytest
from tests.measure.test_exports import BYTES, FLOWS, LOAD, PACKETS, SECONDS

from forebay import measure

AT_S = 1772359200


def version_2(k):
    return {
        "type": "IPFIX", "time_received_ns": 1, "sampling_rate": 0, "etype": "IPv4", "proto": "TCP",
        "time_flow_start_ns": AT_S * 10**9, "time_flow_end_ns": (AT_S + SECONDS) * 10**9,
        "src_addr": f"10.0.0.{k}", "dst_addr": f"11.0.0.{k}", "src_port": 1000 + k, "dst_port": 80,
        "bytes": BYTES, "packets": PACKETS,
    }  # fmt: skip


def version_1(k):
    return {
        "Type": "NETFLOW_V9", "SamplingRate": 1, "Proto": 6, "TimeFlowStart": AT_S,
        "TimeFlowEnd": AT_S + SECONDS, "SrcAddr": f"2001:db8::{k}", "DstAddr": "2001:db8::ffff",
        "SrcPort": 1000 + k, "DstPort": 80, "Bytes": BYTES, "Packets": PACKETS,
    }  # fmt: skip


def in_milliseconds(k):
    row = {name: value for name, value in version_1(k).items() if "TimeFlow" not in name}
    return row | {"TimeFlowStartMs": 1000 * AT_S, "TimeFlowEndMs": 1000 * (AT_S + SECONDS)}


def read(tmp_path, rows, name="flows.json"):
    path = tmp_path / name
    path.write_text("\n".join(each if isinstance(each, str) else json.dumps(each) for each in rows))
    return measure.exports([path], rate="100 Mbit/s")


@pytest.mark.parametrize("row", [version_2, version_1, in_milliseconds])
@pytest.mark.parametrize("name", ["flows.json", "flows.jsonl", "flows.ndjson"])
def test_every_version_says_what_the_datagrams_say(tmp_path, row, name):
    told = read(tmp_path, [row(k) for k in range(1, FLOWS + 1)], name)
    assert told.packets == FLOWS * PACKETS and told.seconds == pytest.approx(SECONDS)
    assert told.estimates["load"].value == pytest.approx(LOAD, rel=1e-3)
    assert told.estimates["tcp_share"].value == 1.0
    assert told.estimates["concurrent_flows"].value == pytest.approx(FLOWS, rel=0.02)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([version_2(1), "{not json"], "line 2: .* is not a flow"),
        (["[1, 2]"], "line 1: .* is not a flow"),
        ([version_2(1) | {"src_addr": "a.host"}], "line 1: .* is not a flow"),
        ([version_2(1) | {"bytes": -1}], "line 1: .* is not a flow"),
        ([version_2(1) | {"time_flow_end_ns": 0}], "line 1: .* is not a flow"),
        ([version_2(1) | {"sampling_rate": 1000}], "one packet of 1000 was sampled"),
        ([], "no flow record"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(tmp_path, rows, words):
    with pytest.raises(measure.MeasureError, match=words):
        read(tmp_path, rows)
