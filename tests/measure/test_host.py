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
    assert values == {"connections": 2, "sending": 2}  # the first is idle
    assert told.estimates["in_avoidance"].value == 1
    assert told.estimates["rtt_s"]["p50"]["value"] == pytest.approx(0.093)
    assert told.estimates["min_rtt_s"]["p50"]["value"] == pytest.approx(0.070)
    assert told.estimates["retransmitted_share"].value == 0.02
    assert told.estimates["timeouts"].value == 7
    assert told.notes == [
        "congestion control: cubic 1, reno 1", "1 idle or loopback socket left out"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "nothing",
        "ESTAB 0 9 192.0.2.7:50001 198.51.100.9:443\n\t cubic rto:204 cwnd:x unacked:9\n",
        f"ESTAB 0 9 192.0.2.7:1 198.51.100.9:443\n\t cwnd:{'9' * 400}\nTcpOutSegs {'9' * 5000} 0.0",
    ],
)
def test_text_of_something_else_is_told(tmp_path, text):
    path = tmp_path / "x.txt"
    path.write_text(text)
    with pytest.raises(measure.MeasureError, match="no line has a cwnd"):
        measure.host(ss=path)
    with pytest.raises(measure.MeasureError, match="no TcpOutSegs"):
        measure.host(nstat=path)


HEAD = "ESTAB 0 9 {local} 198.51.100.9:443"
INFO = "wscale:8,7 rto:230 rtt:{rtt}/1 mss:1448 cwnd:{cwnd} ssthresh:20 unacked:3 minrtt:11"


def seen(tmp_path, *lines):
    path = tmp_path / "ss.txt"
    path.write_text("\n".join(lines) + "\n")
    told = measure.host(ss=path)
    return told, {name: getattr(each, "value", None) for name, each in told.estimates.items()}


@pytest.mark.parametrize(
    "before",
    [
        "cubic ",
        "ts sack bbr ",
        "skmem:(r0,rb131072,t0,tb87040,f0,w0,o0,bl0,d0) ts sack ecn cubic ",
        "timer:(on,220ms,0) uid:1000 ino:4711 sk:2a cgroup:/x <-> ts sack ecnseen dctcp ",
        'users:(("a b",pid=3,fd=4)) timer:(keepalive,1min,0) reno ',
    ],
)
@pytest.mark.parametrize("joint", [" ", "\n\t "])
def test_options_and_one_line_change_nothing(tmp_path, before, joint):
    head = HEAD.format(local="192.0.2.7:50001")
    told, values = seen(tmp_path, head + joint + before + INFO.format(rtt=31.5, cwnd=40))
    control = before.split()[-1]
    assert told.notes == [f"congestion control: {control} 1"]
    assert (values["connections"], values["in_avoidance"]) == (1, 1)
    assert told.estimates["rtt_s"]["p50"]["value"] == pytest.approx(0.0315)


def test_one_socket_sampled_often_is_one_connection(tmp_path):
    heads = [HEAD.format(local=f"192.0.2.7:5000{port}") for port in (1, 2, 1, 2, 1)]
    windows = (10, 40, 12, 50, 30)
    lines = [f"{head}\n\t cubic {INFO.format(rtt=20 + w, cwnd=w)}"
             for head, w in zip(heads, windows, strict=True)]  # fmt: skip
    told, values = seen(tmp_path, *lines)
    assert (values["connections"], values["in_avoidance"]) == (2, 2)  # as they were seen last
    assert "5 samples of 2 sockets" in told.notes[-1]
    assert told.estimates["rtt_s"]["p50"]["value"] == pytest.approx(0.05, abs=0.011)


@pytest.mark.parametrize(
    ("local", "peer"),
    [
        ("[fe80::1]%eth0:5000{}", "[fe80::2]%eth0:443"),
        ("[fe80::1%wg-1]:5000{}", "[fe80::2]:https"),
        ("192.0.2.7%bond0.12:5000{}", "198.51.100.9:443"),
        ("web-1.example:5000{}", "cache.example:https"),
    ],
)
def test_a_socket_is_known_by_its_ends_with_an_interface_too(tmp_path, local, peer):
    lines = [f"ESTAB 0 9 {local.format(port)} {peer}\n\t cubic {INFO.format(rtt=9, cwnd=30)}"
             for port in (1, 2, 1, 1)]  # fmt: skip
    told, values = seen(tmp_path, *lines)
    assert values["connections"] == 2
    assert "4 samples of 2 sockets" in told.notes[-1]


@pytest.mark.parametrize(
    "local", ["127.0.0.1:9000", "[::1]:9000", "[::ffff:127.0.0.1]:9000", "localhost:http"]
)
def test_loopback_and_listeners_are_left_out(tmp_path, local):
    away = f"{HEAD.format(local='[2001:db8::7]:50001')}\n\t cubic {INFO.format(rtt=9, cwnd=9)}"
    near = f"{HEAD.format(local=local)}\n\t cubic {INFO.format(rtt=0.02, cwnd=9)}"
    waits = "LISTEN 0 4096 0.0.0.0:443 0.0.0.0:*\n\t cubic cwnd:10"
    told, values = seen(tmp_path, away, near, waits)
    assert values["connections"] == 1
    assert told.estimates["rtt_s"]["p50"]["value"] == pytest.approx(0.009)


@pytest.mark.parametrize(
    ("more", "share"),
    [
        ("bytes_sent:2000000 bytes_retrans:30000", 0.015),
        ("data_segs_out:4000 retrans:0/100", 0.025),
        ("retrans:1/7", None),
    ],
)
def test_the_share_that_was_sent_again(tmp_path, more, share):
    line = f"{HEAD.format(local='192.0.2.7:50001')}\n\t cubic {INFO.format(rtt=9, cwnd=9)} {more}"
    told, values = seen(tmp_path, line)
    assert values.get("socket_retransmitted_share") == share
    assert ("socket_retransmitted_share" in [each.name for each in told.refused]) is (share is None)


IDLE = """ESTAB 0 0 192.0.2.10:3306 198.51.100.1:4848
\t cubic wscale:8,7 rto:233 rtt:32.4/2.9 cwnd:11 ssthresh:8 bytes_sent:108000000 data_segs_out:9
"""


def test_idle_sockets_are_no_lack_of_counters(tmp_path):
    busy = IDLE.replace("bytes_sent:108000000 data_segs_out:9", "unacked:3")
    for text, why in ((IDLE, "has idle sockets alone"), (busy, "has neither bytes_sent nor")):
        told, _ = seen(tmp_path, text)
        assert why in {each.name: each.why for each in told.refused}["socket_retransmitted_share"]
