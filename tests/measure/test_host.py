"""`ss -tin` and `nstat` as text."""

import pytest

from forebay import measure

SS = """State  Recv-Q Send-Q Local Address:Port Peer Address:Port
ESTAB  0 0 10.0.0.1:22 10.0.0.2:50000
\t cubic wscale:7,7 rto:204 rtt:3.5/0.5 ato:40 mss:1448 cwnd:10 bytes_acked:1 minrtt:3.1
ESTAB  0 9 10.0.0.1:80 10.0.0.2:50001
\t cubic wscale:7,7 rto:304 rtt:103/8 mss:1448 cwnd:40 ssthresh:30 unacked:40 minrtt:80
ESTAB  0 9 10.0.0.1:80 10.0.0.2:50002
\t reno wscale:7,7 rto:304 rtt:93/8 mss:1448 cwnd:20 ssthresh:30 unacked:20 minrtt:70
"""
NSTAT = """#kernel
TcpOutSegs                      10000              0.0
TcpRetransSegs                  200                0.0
TcpExtTCPTimeouts               7                  0.0
"""


def test_sockets_and_counters(tmp_path):
    ss, nstat = tmp_path / "ss.txt", tmp_path / "nstat.txt"
    ss.write_text(SS)
    nstat.write_text(NSTAT)
    told = measure.host(ss=ss, nstat=nstat)
    values = {name: told.estimates[name].value for name in ("connections", "sending")}
    assert values == {"connections": 3, "sending": 2}
    assert told.estimates["in_avoidance"].value == 1
    assert told.estimates["rtt_s"]["p50"]["value"] == pytest.approx(0.093)
    assert told.estimates["min_rtt_s"]["p50"]["value"] == pytest.approx(0.070)
    assert told.estimates["retransmitted_share"].value == 0.02
    assert told.estimates["timeouts"].value == 7
    assert told.notes == ["congestion control: cubic 2, reno 1"]


def test_text_of_something_else_is_told(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("nothing")
    with pytest.raises(measure.MeasureError, match="no line has a cwnd"):
        measure.host(ss=path)
    with pytest.raises(measure.MeasureError, match="no TcpOutSegs"):
        measure.host(nstat=path)
