"""nfdump's CSV of both its generations says what the routers' own datagrams say."""

import pytest
from tests.measure.test_exports import BYTES, FLOWS, LOAD, PACKETS, SECONDS

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


def read(tmp_path, lines):
    path = tmp_path / "flows.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return measure.exports([path], rate="100 Mbit/s")


FAST = "cnt,af,firstSeen,lastSeen,proto,srcAddr,srcPort,dstAddr,dstPort,input,packets,bytes"
AT_MS = 1772359200000


def fast(k, *, number=False):
    ends = f"{(10 << 24) + k if number else f'10.0.0.{k}'},{1000 + k},11.0.0.{k},80"
    return f"{k},2,{AT_MS},{AT_MS + 1000 * SECONDS},6,{ends},3,{PACKETS},{BYTES}"


def numbered(k):
    return fast(k, number=True)


@pytest.mark.parametrize(
    ("header", "row"),
    [(OLD, old), (NEW, new), (FAST, fast), (FAST, numbered), (f"# made at night\n{FAST}", fast)],
)
def test_either_form_says_what_the_datagrams_say(tmp_path, header, row):
    told = read(tmp_path, [header, *(row(k) for k in range(1, FLOWS + 1)), *SUMMARY])
    assert told.packets == FLOWS * PACKETS
    assert told.seconds == pytest.approx(SECONDS)
    assert told.estimates["load"].value == pytest.approx(LOAD, rel=1e-3)
    assert told.estimates["tcp_share"].value == 1.0
    assert told.estimates["concurrent_flows"].value == pytest.approx(FLOWS, rel=0.02)
    (note,) = told.notes
    assert note.startswith("nfdump's CSV has no sequence numbers: records that were lost")
    assert told.sources == [str(tmp_path / "flows.csv")]


def test_icmp_has_a_type_where_others_have_a_port(tmp_path):
    icmp = old(1).replace(",80,TCP,", ",8.0,ICMP,")
    assert read(tmp_path, [OLD, icmp]).estimates["tcp_share"].value == 0.0


BAD = {
    "no such file": (None, "cannot be read"),
    "another table": (["time_s,octets", "1,2"], "has no column ts or firstSeen"),
    "no address": ([OLD, old(1), old(2).replace("10.0.0.2", "a.host")], "line 3: .* is not a flow"),
    "no number": ([OLD, old(1).replace(str(BYTES), "2.5 M")], "line 2: .* is not a flow"),
    "a row cut short": ([OLD, old(1)[:60]], "line 2: .* is not a flow"),
    "negative": ([OLD, old(1).replace(str(BYTES), "-1")], "line 2: .* is not a flow"),
    "ends before it starts": ([NEW, new(1).replace(f",{SECONDS}.", ",-5.")], "line 2: .* is not"),
    "hours": (
        [NEW, new(1), new(2).replace(f",{SECONDS}.", ",0:01:40.")],
        "line 3: .* is not a flow",
    ),
    "semicolons": ([NEW.replace(",", ";"), new(1).replace(",", ";")], "has no column"),
    "no flow at all": ([OLD, *SUMMARY], "no flow record"),
    "nothing": ([], "has no column"),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_cannot_be_read_is_told_with_its_line(tmp_path, kind):
    lines, words = BAD[kind]
    with pytest.raises(measure.MeasureError, match=words):
        if lines is None:
            measure.exports([tmp_path / "none.csv"], rate="1 Gbit/s")
        else:
            read(tmp_path, lines)
