"""Tables of flow records say what the routers' own datagrams say: nfdump's CSV, goflow2's JSON."""

import json

import pytest
from tests.measure.test_exports import BYTES, FLOWS, PACKETS, SECONDS, agrees

from forebay import measure

OLD = "ts,te,td,sa,da,sp,dp,pr,flg,fwd,stos,ipkt,ibyt,opkt,obyt"
NEW = "firstSeen,duration,proto,srcAddr,srcPort,dstAddr,dstPort,packets,bytes,flows"
FIRST, LAST = "2026-03-01 10:00:00.000", "2026-03-01 10:01:40.000"


def old(k):
    ends = f"10.0.0.{k},11.0.0.{k},{1000 + k},80,TCP"
    return f"{FIRST},{LAST},{SECONDS}.000,{ends},.AP...,0,0,{PACKETS},{BYTES},0,0"


def new(k):
    return f"{FIRST},{SECONDS}.000,6,2001:db8::{k},{1000 + k},2001:db8::1,80,{PACKETS},{BYTES},1"


SUMMARY = ["Summary", "flows,bytes,packets,avg_bps,avg_pps,avg_bpp", "40,1,1,1,1,1"]
FAST = "cnt,af,firstSeen,lastSeen,proto,srcAddr,srcPort,dstAddr,dstPort,input,packets,bytes"
AT_MS = 1772359200000


def fast(k, *, number=False):
    ends = f"{(10 << 24) + k if number else f'10.0.0.{k}'},{1000 + k},11.0.0.{k},80"
    return f"{k},2,{AT_MS},{AT_MS + 1000 * SECONDS},6,{ends},3,{PACKETS},{BYTES}"


def numbered(k):
    return fast(k, number=True)


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


def read(tmp_path, rows, name="flows.csv"):
    path = tmp_path / name
    lines = (each if isinstance(each, str) else json.dumps(each) for each in rows)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return measure.exports([path], rate="100 Mbit/s")


@pytest.mark.parametrize(
    ("header", "row"),
    [(OLD, old), (NEW, new), (FAST, fast), (FAST, numbered), (f"# made at night\n{FAST}", fast)],
)
def test_every_form_of_nfdump_says_what_the_datagrams_say(tmp_path, header, row):
    told = read(tmp_path, [header, *(row(k) for k in range(1, FLOWS + 1)), *SUMMARY])
    agrees(told)
    (note,) = told.notes
    assert note.startswith("nfdump's CSV has no sequence numbers: records that were lost")
    assert told.sources == [str(tmp_path / "flows.csv")]


@pytest.mark.parametrize("row", [version_2, version_1, in_milliseconds])
@pytest.mark.parametrize("name", ["flows.json", "flows.jsonl", "flows.ndjson"])
def test_every_version_of_goflow_says_what_the_datagrams_say(tmp_path, row, name):
    agrees(read(tmp_path, [row(k) for k in range(1, FLOWS + 1)], name))


def test_icmp_has_a_type_where_others_have_a_port(tmp_path):
    icmp = old(1).replace(",80,TCP,", ",8.0,ICMP,")
    assert read(tmp_path, [OLD, icmp]).estimates["tcp_share"].value == 0.0


BAD = {
    "another table": (["time_s,octets", "1,2"], "has no column ts or firstSeen"),
    "no address": ([OLD, old(1), old(2).replace("10.0.0.2", "a.host")], "line 3: .* is not a flow"),
    "no number": ([OLD, old(1).replace(str(BYTES), "2.5 M")], "line 2: .* is not a flow"),
    "a row cut short": ([OLD, old(1)[:60]], "line 2: .* is not a flow"),
    "negative": ([OLD, old(1).replace(str(BYTES), "-1")], "line 2: .* is not a flow"),
    "ends before it starts": ([NEW, new(1).replace(f",{SECONDS}.", ",-5.")], "line 2: .* is not"),
    "hours": ([NEW, new(1), new(2).replace(f",{SECONDS}.", ",0:01:40.")],
              "line 3: .* is not a flow"),
    "semicolons": ([NEW.replace(",", ";"), new(1).replace(",", ";")], "has no column"),
    "no flow at all": ([OLD, *SUMMARY], "no flow record"),
    "nothing": ([], "has no column"),
}  # fmt: skip
BAD_JSON = [
    ([version_2(1), "{not json"], "line 2: .* is not a flow"),
    (["[1, 2]"], "line 1: .* is not a flow"),
    ([version_2(1) | {"src_addr": "a.host"}], "line 1: .* is not a flow"),
    ([version_2(1) | {"bytes": -1}], "line 1: .* is not a flow"),
    ([version_2(1) | {"time_flow_end_ns": 0}], "line 1: .* is not a flow"),
    ([version_2(1) | {"sampling_rate": 1000}], "one packet of 1000 was sampled"),
    ([], "no flow record"),
]


@pytest.mark.parametrize(
    ("name", "rows", "words"),
    [("flows.csv", *each) for each in BAD.values()] + [("flows.json", *each) for each in BAD_JSON],
)
def test_what_cannot_be_read_is_told_with_its_line(tmp_path, name, rows, words):
    with pytest.raises(measure.MeasureError, match=words):
        read(tmp_path, rows, name)


def test_a_table_that_is_not_there_is_told(tmp_path):
    with pytest.raises(measure.MeasureError, match="cannot be read"):
        measure.exports([tmp_path / "none.csv"], rate="1 Gbit/s")
