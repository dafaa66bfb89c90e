"""Small texts as operators write them, each with its size and its time counted by hand.

The port has 10 Gbit/s and packets of 1500 B; a frame of Linux has 14 B more. None is a size or a
time that the text does not tell.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import examples
from tests.platforms.reading import GIGABIT, wanted
from tests.platforms.reading import TEN_GBIT_S as PORT

from forebay.platforms import PlatformError, Wanted, lint
from forebay.platforms.registry import readable

Row = tuple[str, int | None, float | None]
"""A text, bytes, milliseconds in which they drain."""


def xr(*lines: str, name: str = "GOLD") -> str:
    body = "".join(f"  {line}\n" for line in lines)
    rest = " !\n class class-default\n  queue-limit 9 us\n !\n end-policy-map\n!\n"
    return f"policy-map CORE\n class {name}\n{body}{rest}"


def xe(*lines: str, head: str = "policy-map WAN\n class VOICE\n") -> str:
    return head + "".join(f"  {line}\n" for line in lines)


def nx(*lines: str) -> str:
    body = "".join(f"    {line}\n" for line in lines)
    head = "policy-map type queuing OUT\n  class type queuing c-out-8q-q3\n"
    return f"{head}{body}system qos\n  service-policy type queuing output OUT\n"


EARLY = "random-detect minimum-threshold 100 kbytes maximum-threshold 200 kbytes"
COS = "set class-of-service "
BE = f"{COS}schedulers be "
MAP = f"{COS}scheduler-maps m forwarding-class be scheduler be\n"


def sros(*lines: str, policy: str = "sap-egress 20 create", queue: str = "queue 3 create") -> str:
    body = "".join(f"                {line}\n" for line in lines)
    head = f"configure\n    qos\n        {policy}\n            {queue}\n{body}"
    return f"{head}            exit\n        exit\n    exit\nexit\n"


def md(*lines: str) -> str:
    body = "".join(f"                {line}\n" for line in lines)
    head = 'configure {\n    qos {\n        sap-egress "gold" {\n            queue 3 {\n'
    return f"{head}{body}            }}\n        }}\n    }}\n}}\n"


def sonic(
    profile: str, pool: str = '"type": "egress", "mode": "dynamic", "size": "12000000"'
) -> str:
    pools = f'"BUFFER_POOL": {{"p": {{{pool}}}}}'
    return f'{{{pools},\n "BUFFER_PROFILE": {{"q": {{"pool": "p", {profile}}}}}}}'


def oc(leaves: str, more: str = "") -> str:
    return f'{{"openconfig-qos:qos": {{{more}"queue": [{{"config": {{"name": "q", {leaves}}}}}]}}}}'


TC = "tc qdisc add dev eth0 "
HTB = f"{TC}root handle 1: htb default 10\ntc class add dev eth0 parent 1: classid 1:10 htb rate "
QOS = "set qos policy "
TYPE = "/queue type add name=w kind="
TREE = "\n/queue tree add name=t parent=ether1 queue=w max-limit="
NET = "[Match]\nName=wan0\n\n"

ROWS: dict[str, list[Row]] = {
    "ios-xr": [
        (xr("bandwidth percent 20", "queue-limit 10 ms"), 2_500_000, 2.0),  # 2 Gbit/s x 10 ms
        (xr("shape average 1 gbps", "queue-limit 10 ms"), 1_250_000, 10.0),
        (xr("shape average percent 10", "queue-limit 500 us"), 62_500, 0.5),
        (xr("priority level 1", "queue-limit 1 ms"), 1_250_000, 1.0),
        (xr("bandwidth remaining percent 30", "queue-limit 10 ms"), None, None),
        (xr("bandwidth remaining ratio 5", "queue-limit 2 mbytes"), 2_000_000, 1.6),
        (xr("bandwidth 2 gbps", "queue-limit 1000 packets"), 256_000, 0.2048),
        (xr("bandwidth 500 mbps", "queue-limit 100 kbytes"), 100_000, 0.08),
        (xr("bandwidth percent 10", "queue-limit percent 5"), 2_500_000, 2.0),  # of 40 ms
        (xr("bandwidth percent 50", "random-detect 100 kbytes 400 kbytes", "queue-limit 1 mbytes"),
         400_000, 0.32),
        (xr("bandwidth percent 50", "random-detect dscp af11 100 kbytes 400 kbytes",
            "queue-limit 1 mbytes"), 1_000_000, 0.8),
        (xr("bandwidth percent 50", "random-detect ecn", "random-detect 100 kbytes 400 kbytes",
            "queue-limit 1 mbytes"), 1_000_000, 0.8),
        (xr("bandwidth percent 10", "queue-limit 20 lightyears"), None, None),
        (xr("shape average $RATE", "queue-limit 800 kbytes"), 800_000, None),
    ],
    "ios-xe": [
        (xe("priority 2000", "queue-limit 256 packets"), 384_000, 0.3072),
        (xe("bandwidth percent 30", "queue-limit 128 packets"), 192_000, 0.1536),
        (xe("bandwidth 20000", "queue-limit 40 ms"), 100_000, 0.08),  # 20 Mbit/s x 40 ms
        (xe("shape average 50000000", "queue-limit 500 packets"), 750_000, 120.0),
        (xe("shape average percent 1", "queue-limit 1000000 bytes"), 1_000_000, 80.0),
        (xe("bandwidth remaining ratio 10", "queue-limit 10 ms"), 12_500_000, 10.0),
        (xe("bandwidth percent 5", "queue-limit percent 20"), None, None),
        (xe("bandwidth percent 5", "fair-queue", "queue-limit 64"), 96_000, 0.0768),
        (xe("bandwidth percent 5", "queue-limit dscp ef 100 packets",
            "queue-limit dscp af41 80 packets", "queue-limit 200 packets"), 300_000, 0.24),
        (xe("bandwidth percent 5", "queue-limit cos 5 20 packets"), None, None),
        (xe("bandwidth percent 5", "random-detect dscp-based",
            "random-detect dscp af31 32 40 10", "queue-limit 128 packets"), 192_000, 0.1536),
        (xe("bandwidth percent 5", "random-detect", "queue-limit 128 packets"), None, None),
        (xe("bandwidth percent 5", "random-detect ecn", "queue-limit 128 packets"),
         192_000, 0.1536),
        ("policy-map WAN\nclass VOICE\nbandwidth percent 5\nqueue-limit 100 packets\n"
         "interface Gi0\nservice-policy output WAN\n", 150_000, 0.12),
    ],
    "nx-os": [
        (nx("queue-limit 1000 kbytes"), 1_000_000, 0.8),
        (nx("queue-limit 2 mbytes"), 2_000_000, 1.6),
        (nx("queue-limit 150000 bytes"), 150_000, 0.12),
        (nx("queue-limit 1 ms"), 1_250_000, 1.0),
        (nx("shape min 0 mbps max 1000 mbps", "queue-limit 500 us"), 62_500, 0.5),
        (nx("shape percent 10", "queue-limit 1 mbytes"), 1_000_000, 8.0),
        (nx("queue-limit dynamic 8"), None, None),
        (nx("queue-limit percent 10"), None, None),
        (nx(EARLY), 200_000, 0.16),
        (nx(f"{EARLY} ecn"), None, None),
        (nx("random-detect ecn", EARLY), None, None),
        (nx(f"{EARLY} ecn", "queue-limit 1 mbytes"), 1_000_000, 0.8),
        (nx("shape average banana", "queue-limit 1 mbytes"), 1_000_000, None),
    ],
    "junos": [
        (f"{BE}buffer-size temporal 2000\n", 2_500_000, 2.0),
        (f"{BE}buffer-size temporal 2k\n", 2_500_000, 2.0),
        (f"{BE}buffer-size percent 20\n", 25_000_000, 20.0),  # of 100 ms
        (f"{BE}buffer-size percent 0.5\n", 625_000, 0.5),
        (f"{BE}buffer-size remainder\n", None, None),
        (f"{BE}buffer-size shared\n", None, None),
        (f"{BE}buffer-size temporal 5k\n{BE}shaping-rate 100m\n", 6_250_000, 500.0),
        (f"{BE}buffer-size temporal 5k\n{BE}transmit-rate 1g\n", 6_250_000, 5.0),
        (f"{BE}buffer-size temporal 5k\n{MAP}{COS}interfaces ge-0/0/0 scheduler-map m\n"
         f"{COS}interfaces ge-0/0/0 shaping-rate 100m\n", 62_500, 5.0),
        (f"{BE}buffer-size percent 10\n{MAP}{COS}traffic-control-profiles t scheduler-map m\n"
         f"{COS}traffic-control-profiles t shaping-rate 1g\n"
         f"{COS}traffic-control-profiles t delay-buffer-rate 500m\n", None, None),
        (f"{BE}buffer-size percent 10\n{COS}shared-buffer ingress percent 100\n", None, None),
        (f"{BE}buffer-size percent 10\nset chassis fpc 0 pic 0 q-pic-large-buffer\n", None, None),
        ("class-of-service {\n    schedulers {\n        be {\n"
         "            transmit-rate percent 40;\n"
         "            buffer-size temporal 10k;\n        }\n    }\n}\n", 12_500_000, 10.0),
        (f"{BE}buffer-size temporal 5k\n{BE}shaping-rate $shape\n", 6_250_000, None),
    ],
    "sros": [
        (sros("mbs 500 kilobytes"), 500_000, 0.4),
        (sros("mbs 500"), 500_000, 0.4),
        (sros("mbs 500000 bytes"), 500_000, 0.4),
        (sros("rate 40000 cir 10000", "mbs 250 kilobytes", "cbs 50 kilobytes"), 250_000, 50.0),
        (sros("percent-rate 25.00", "mbs 1250"), 1_250_000, 4.0),
        (sros("mbs default"), None, None),
        (sros("mbs 10", policy='network-queue "core" create'), None, None),
        (sros("mbs 300", queue="queue 1 expedite create"), 300_000, 0.24),
        ("configure qos\n queue-group-templates\n  egress\n   queue-group \"g\" create\n"
         "    queue 1 best-effort create\n     mbs 300\n    exit\n   exit\n  exit\n exit\n",
         300_000, 0.24),
        (md("mbs 40000", "rate {", "    pir 2000", "}"), 40_000, 160.0),
        (md("rate {", "    cir 1000", "    pir 2000", "}", "mbs 40000"), 40_000, 160.0),
        ('/configure qos sap-egress "g" queue 1 mbs 30000\n', 30_000, 0.024),
        (sros("rate banana", "mbs 500"), 500_000, None),
    ],
    "sonic": [
        (sonic('"size": "0", "dynamic_th": "0"'), 6_000_000, 4.8),
        (sonic('"size": "0", "dynamic_th": "3"'), 10_666_666, 8.5333328),  # 8/9
        (sonic('"size": "1518", "dynamic_th": "-1"'), 4_001_518, 3.2012144),  # 1/3
        (sonic('"size": "0", "static_th": "500000"', '"mode": "static", "size": "12000000"'),
         500_000, 0.4),
        (sonic('"size": "9000", "static_th": "91000"', '"mode": "static"'), 100_000, 0.08),
        (sonic('"size": "0", "static_th": "15000000"', '"mode": "static", "size": "12000000"'),
         12_000_000, 9.6),
        (sonic('"size": "0", "dynamic_th": "0"', '"mode": "dynamic"'), None, None),
        (sonic('"size": "0"'), None, None),
        (sonic('"size": "0", "dynamic_th": "9"'), None, None),
        (sonic('"size": "zero", "dynamic_th": "1"'), None, None),
        ('{"WRED_PROFILE": {"AZURE_LOSSLESS": {"green_min_threshold": "1048576", '
         '"green_max_threshold": "2097152", "ecn": "ecn_all"}}}', None, None),
        (sonic('"size": "0", "static_th": "500000"', '"mode": "static"')[:-1]
         + ', "BUFFER_QUEUE": {"Ethernet0|3": {"profile": "q"}}, '
         '"QUEUE": {"Ethernet0|3": {"scheduler": "s"}}, '
         '"SCHEDULER": {"s": {"type": "DWRR", "pir": "12500000"}}}', 500_000, 40.0),
        (sonic('"size": "0", "static_th": "500000"', '"mode": "static"')[:-1]
         + ', "BUFFER_QUEUE": {"Ethernet0|3": {"profile": "q"}}, '
         '"QUEUE": {"Ethernet0|3": {"scheduler": "t"}}, "SCHEDULER": {"s": {}}}', 500_000, None),
    ],
    "openconfig": [
        (oc('"dedicated-buffer": "250000", "use-shared-buffer": false'), 250_000, 0.2),
        (oc('"dedicated-buffer": 250000, "use-shared-buffer": false'), 250_000, 0.2),
        (oc('"dedicated-buffer-temporal": 1000, "use-shared-buffer": false'), 1_250_000, 1.0),
        (oc('"dedicated-buffer": "1000", "use-shared-buffer": true, '
            '"static-shared-buffer-limit": 49000'), 50_000, 0.04),
        (oc('"dedicated-buffer": "1000", "use-shared-buffer": true'), None, None),
        (oc('"dedicated-buffer": "many", "use-shared-buffer": false'), None, None),
        (oc('"use-shared-buffer": true, "dynamic-limit-scaling-factor": 2'), None, None),
        (oc('"use-shared-buffer": true, "static-shared-buffer-limit": "x"'), None, None),
        (oc('"dedicated-buffer": "250000", "use-shared-buffer": false',
            '"a": {"pir": "100000000"}, '),
         250_000, 20.0),
        (oc('"dedicated-buffer": "250000", "use-shared-buffer": false',
            '"a": {"pir": "100000000"}, "b": {"pir": "200000000"}, '), 250_000, None),
        (oc('"dedicated-buffer-temporal": 1000, "use-shared-buffer": false',
            '"a": {"pir": "100000000"}, "b": {"pir": "200000000"}, '), None, None),
        (oc('"dedicated-buffer-temporal": 1000, "use-shared-buffer": false',
            '"a": {"pir": "100000000"}, '), 12_500, 1.0),
    ],
    "linux-tc": [
        (f"{TC}root bfifo limit 151400\n", 150_000, 0.12),
        (f"{TC}root pfifo limit 100\n", 150_000, 0.12),
        (f"{HTB}10mbit\n{TC}parent 1:10 pfifo limit 50\n", 75_000, 60.0),
        (f"{HTB}10mbit ceil 20mbit\n{TC}parent 1:10 handle 10: sfq limit 50\n", 75_000, 30.0),
        (f"{TC}root handle 1: htb default 10\n{TC}parent 1:10 pfifo limit 50\n", 75_000, None),
        (f"{TC}parent 1:10 fq_codel limit 100\n", 150_000, None),
        (f"{TC}root tbf rate 10mbit burst 600 latency 50ms\n", None, None),
        (f"{TC}root tbf rate 10mbit burst 15140 limit 166540\n", 165_000, 121.12),  # less the burst
        (f"{TC}root handle 1: stab linklayer atm overhead 40 tbf rate 840kbit burst 1800 latency "
         f"300ms\n{TC}parent 1: pfifo limit 100\n", 150_000, 100 * 33 * 53 * 8 / 840),
        (f"{TC}root handle 1: stab overhead 24 htb default 1\n"
         "tc class add dev eth0 parent 1: classid 1:1 htb rate 10mbit\n"
         f"{TC}parent 1:1 pfifo limit 100\n", 150_000, 100 * 1538 * 8 / 1e4),
        (f"{TC}root handle 1: cbq bandwidth 10mbit avpkt 1000\n{TC}parent 1:1 bfifo limit 151400\n",
         150_000, None),
        (f"{HTB}10%\n{TC}parent 1:10 pfifo limit 50\n", 75_000, None),
        ("qdisc fq_codel 8001: dev eth0 root refcnt 2 limit 1000p flows 1024\n", 1_500_000, 1.2),
    ],
    "vyos": [
        (f"{QOS}drop-tail D queue-limit '100'\n", 150_000, 0.12),
        (f"{QOS}shaper S bandwidth 100mbit\n{QOS}shaper S default bandwidth 50%\n"
         f"{QOS}shaper S default queue-limit 100\n{QOS}shaper S default queue-type drop-tail\n",
         150_000, 24.0),
        (f"{QOS}shaper S bandwidth 100mbit\n{QOS}shaper S class 9 ceiling 10mbit\n"
         f"{QOS}shaper S class 9 queue-limit 100\n", 150_000, 120.0),
        (f"{QOS}priority-queue P class 1 queue-limit '100'\n", 150_000, 0.12),
        (f"{QOS}round-robin R class 2 queue-limit '200'\n", 300_000, 0.24),
        (f"{QOS}network-emulator N queue-limit '300'\n", 450_000, 0.36),
        # 1 ms at 10 Gbit/s of frames of 1514 B: 825 fly
        (f"{QOS}network-emulator N delay 1\n{QOS}network-emulator N queue-limit '925'\n",
         150_000, 0.12),
        (f"{QOS}fq-codel F queue-limit 500\n", 750_000, 0.6),
        (f"{QOS}fair-queue F queue-limit 100\n", 150_000, 0.12),
        (f"{QOS}drop-tail D queue-limit lots\n", None, None),
        (f"{QOS}shaper S class 9 queue-type fq-codel\n", None, None),
        ("qos {\n policy {\n  drop-tail D {\n   queue-limit 100\n  }\n }\n}\n", 150_000, 0.12),
        (f"{QOS}shaper S bandwidth fast\n{QOS}shaper S default queue-limit 100\n", 150_000, None),
    ],
    "mikrotik": [
        (f"{TYPE}bfifo bfifo-limit=150000\n", 150_000, 0.12),
        (f"{TYPE}pfifo pfifo-limit=100\n", 150_000, 0.12),
        (f"{TYPE}pfifo\n", 75_000, 0.06),
        (f"{TYPE}bfifo\n", 15_000, 0.012),
        (f"{TYPE}red red-limit=100\n", 150_000, 0.12),
        (f"{TYPE}mq-pfifo mq-pfifo-limit=100\n", 150_000, 0.12),
        (f"{TYPE}pcq pcq-limit=50KiB\n", None, None),
        (f"{TYPE}fq-codel fq-codel-limit=1000\n", 1_500_000, 1.2),
        (f"{TYPE}cake cake-bandwidth=400M cake-rtt=50ms\n", 10_000_000, 200.0),
        (f"{TYPE}cake\n", None, None),
        (f"{TYPE}pfifo pfifo-limit=100{TREE}10M\n", 150_000, 120.0),
        (f"{TYPE}pfifo pfifo-limit=100{TREE}$speed\n", 150_000, None),
        (f"{TYPE}pfifo pfifo-limit=none\n", None, None),
    ],
    "systemd-networkd": [
        (f"{NET}[BFIFO]\nLimitBytes=151400\n", 150_000, 0.12),
        (f"{NET}[BFIFO]\nParent=root\nLimitBytes=148K\n", 150_150, 0.12012),  # 151552 B of frames
        (f"{NET}[PFIFO]\nPacketLimit=100\n", 150_000, 0.12),
        (f"{NET}[PFIFOHeadDrop]\nPacketLimit=100\n", 150_000, 0.12),
        (f"{NET}[FairQueueingControlledDelay]\nPacketLimit=1000\n", 1_500_000, 1.2),
        (f"{NET}[ControlledDelay]\nPacketLimit=1000\n", 1_500_000, 1.2),
        (f"{NET}[FairQueueing]\nPacketLimit=1000\n", 1_500_000, 1.2),
        (f"{NET}[TokenBucketFilter]\nRate=10M\nBurstBytes=600\nLatencySec=50ms\n", None, None),
        (f"{NET}[TokenBucketFilter]\nRate=10M\nBurstBytes=15140\nLimitBytes=166540\n",
         165_000, 121.12),
        (f"{NET}[CAKE]\nBandwidth=400M\nRTTSec=50ms\n", 10_000_000, 200.0),
        (f"{NET}[CAKE]\n", None, None),
        (f"{NET}[HierarchyTokenBucket]\nHandle=1\n\n[HierarchyTokenBucketClass]\nParent=1:\n"
         "ClassId=1:1\nRate=10M\n\n[PFIFO]\nParent=1:1\nPacketLimit=50\n", 75_000, 60.0),
        (f"{NET}[HierarchyTokenBucket]\nHandle=1\n\n[PFIFO]\nParent=1:1\nPacketLimit=50\n",
         75_000, None),
    ],
    "dummynet": [
        ("ipfw pipe 1 config bw 10Mbit/s queue 50\n", 75_000, 60.0),
        ("ipfw pipe 1 config bw 10Mbit/s queue 100KBytes\n", 102_400, 81.92),
        ("ipfw pipe 1 config bw 10Mbit/s queue 50K\n", 51_200, 40.96),
        ("ipfw pipe 1 config bw 10Mbit/s\n", 75_000, 60.0),
        ("ipfw pipe 1 config bw 1MByte/s queue 10\n", 15_000, 15.0),
        ("ipfw pipe 1 config bw 512Kbit/s delay 20 queue 8\n", 12_000, 187.5),
        ("ipfw -q pipe 1 config delay 20ms queue 50\n", 75_000, 0.06),
        ("dnctl pipe 1 config bw 10Mbit/s queue 50\n", 75_000, 60.0),
        ("ipfw pipe 1 config bw 10Mbit/s\nipfw queue 2 config pipe 1 weight 5 queue 20\n",
         30_000, 24.0),
        ("ipfw queue 2 config pipe 1 queue 20\n", 30_000, None),
        ("ipfw pipe 1 config bw tun0 queue 20\n", 30_000, None),
        ("ipfw pipe 1 config bw 10Mbit/s queue many\n", None, None),
    ],
    "eos": [
        (f"qos profile R\n   {queue}\n      random-detect ecn minimum-threshold {low} "
         f"maximum-threshold {high} max-mark-probability 100\n", None, None)
        for queue in ("tx-queue 0", "uc-tx-queue 3", "mc-tx-queue 7")
        for low, high in [
            ("30000 bytes", "30000 bytes"), ("150 kbytes", "2 mbytes"),
            ("5 segments", "9 segments"), ("40 cells", "40 cells"),
        ]
    ],
    "vrp": [
        (f"sysname R\n#\n{text}", size, ms)
        for text, size, ms in [
            ("traffic behavior b\n queue-length bytes 131072\n", 131_072, 0.1048576),
            ("traffic behavior b\n queue-length packets 100\n", 150_000, 0.12),
            ("traffic behavior b\n queue-length bytes 131072 packets 64\n", 131_072, 0.1048576),
            ("traffic behavior b\n gts cir 10000\n queue-length packets 50\n", 75_000, 60.0),
            ("qos queue-profile q\n queue 3 length bytes 1000000\n", 1_000_000, 0.8),
            ("qos queue-profile q\n queue 3 length packets 100\n", 150_000, 0.12),
            ("qos queue-profile q\n queue 1 to 4 length packets 100\n", 150_000, 0.12),
            ("qos queue-profile q\n queue 3 length bytes 60000 packets 40\n", 60_000, 0.048),
            ("traffic behavior b\n queue-length percent 5\n", None, None),
            ("traffic behavior b\nqueue-length packets 100\n#\n", 150_000, 0.12),
            ("traffic behavior a\n gts cir 5000\n#\ntraffic behavior b\n"
             " queue-length packets 100\n",
             150_000, 0.12),
            ("qos queue-profile q\n queue 3 length\n", None, None),
        ]
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("platform", "row"), [(name, row) for name, rows in ROWS.items() for row in rows]
)
def test_a_text_has_the_size_and_the_time_that_it_says(platform, row):
    text, size, milliseconds = row
    reading = lint(text, PORT, platform=platform).readings[0]
    assert reading.bytes == size
    seconds = reading.seconds(PORT)
    assert seconds == (None if milliseconds is None else pytest.approx(milliseconds / 1000))
    if seconds is None:
        assert any(each.kind in ("trap", "uncertain") for each in reading.notes), "it says why"


def test_every_platform_has_twelve():
    assert {name: len(ROWS[name]) >= 12 for name in readable()} == dict.fromkeys(ROWS, True)


@pytest.mark.parametrize("platform", ROWS)
def test_most_are_recognised(platform):
    """Two of Cisco's have statements in common: a text of those alone is of neither."""
    found = []
    for text, _, _ in ROWS[platform]:
        try:
            found.append(lint(text, PORT).platform)
        except PlatformError as error:
            assert error.code == "unclear-platform"
            found.append("")
    assert found.count(platform) >= (0.5 if platform == "ios-xe" else 0.75) * len(found)


def readings(text: str, platform: str) -> int:
    try:
        return len(lint(text, PORT, platform=platform).readings)
    except PlatformError as error:
        assert error.code == "no-queue"
        return 0


INDENTED = st.sampled_from(("ios-xr", "ios-xe", "nx-os", "sros", "eos", "vrp"))
WITHOUT_SECTIONS = st.sampled_from(["mystery 9 create", "mystery", "mystery block X"])


@settings(max_examples=examples(60))
@given(data=st.data(), head=WITHOUT_SECTIONS, platform=INDENTED)
def test_no_number_comes_from_an_unknown_section(data, head, platform):
    """A statement belongs to the block that it stands in, and to no neighbour."""
    text, _, _ = data.draw(st.sampled_from([row for row in ROWS[platform] if "{" not in row[0]]))
    if text.startswith("/"):
        return
    inside = "\n".join(f"    {line}" for line in text.splitlines())
    assert readings(f"{head}\n{inside}\n", platform) == 0
    assert readings(text, platform) > 0


@pytest.mark.parametrize("platform", ["junos", "sros", "vyos"])
def test_no_number_comes_from_unknown_braces(platform):
    for text, _, _ in ROWS[platform]:
        if "{" in text:
            assert readings(f"mystery {{\n{text}}}\n", platform) == 0
        elif text.startswith("set "):
            assert readings(text.replace("set ", "set mystery "), platform) == 0


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


def test_a_child_of_two_parents_has_the_time_of_each():
    found = lint(CHILD, PORT, platform="ios-xe").readings
    assert [each.seconds(PORT) for each in found] == [0.12, 0.06]
    assert "in policy-map A, class class-default" in found[0].queue
    assert "class SITE, policy-map B, class OTHER" in found[1].queue


def test_a_text_without_queues_is_refused():
    with pytest.raises(PlatformError, match="FRR's configuration, which sets no queue"):
        lint("frr version 9.1\nfrr defaults traditional\nrouter bgp 65001\n", PORT)
    with pytest.raises(PlatformError, match="no queue's size was found in this as eos"):
        lint("interface Ethernet1\n tx-queue 3\n", PORT)


def test_a_size_of_no_whole_byte_is_compared_too():
    found = lint(f"{TC}root bfifo limit 9000\n", PORT, wanted=Wanted(0, 0, "1 ns"))
    assert found.to_dict()["queues"][0]["verdict"] == "larger" and "  larger\n" in found.text


def test_what_is_not_in_force_or_may_drop_before_is_not_what_was_asked():
    off = f"{BE}buffer-size temporal 8000\n{COS}schedulers B buffer-size temporal 1000\n"
    for text in (off, f"{off}deactivate class-of-service schedulers B\n"):
        asked = wanted(83, GIGABIT)
        assert lint(text, GIGABIT, wanted=asked).exit_status == int("deactivate" in text)
    limit = "policy-map P\n class class-default\n  queue-limit 4000 packets\n"
    early = "  random-detect dscp"
    for more in ("", f"{early}-based\n", f"{early} af11 100 packets 200 packets\n"):
        found = lint(limit + more, PORT, platform="ios-xe", wanted=wanted(4000, PORT))
        assert found.exit_status == int(more != "")
        assert ("drops before the limit" in found.text) == ("-based" in more)


def test_both_times_and_what_is_not_understood_stand_in_the_report():
    text = f"{TC}root tbf rate 100mbit burst 32kbit latency 400ms\n{TC}root choke limit 9\n"
    found = lint(text, PORT)
    document = found.to_dict()
    queue = document["queues"][0]
    assert queue["seconds"] == pytest.approx(0.4, rel=1e-4) and queue["rate_bps"] == 1e8
    assert queue["port_seconds"] == pytest.approx(0.003966, rel=1e-3)
    both = "400 ms at 100 Mbit/s (tbf's own rate), 3.966 ms at the port's 10 Gbit/s"
    assert both in found.text and document["not_understood"]
    assert "not understood, though it may touch a buffer" in found.text
