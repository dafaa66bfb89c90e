"""What a text says of its queue, by hand: size, time, rate, and what is said of them.

A queue's time is counted at the rate that the same text gives it. A statement belongs to the block
that it stands in, and is read, or listed as not understood.
"""

import json
import textwrap
from typing import Any

import pytest
from tests.platforms.reading import TEN_GBIT_S, Case
from tests.platforms.test_texts_of_operators import (
    BE,
    COS,
    HTB,
    MAP,
    QOS,
    TC,
    TYPE,
    md,
    nx,
    oc,
    sonic,
    sros,
    xe,
)  # fmt: skip

from forebay.platforms import Port

OC3, TEN, SLOW = Port(155e6), TEN_GBIT_S, Port(1e6)
POOL = Port(1e9, pool_bytes=32_000_000)
DEFAULT = "policy-map P\n class class-default\n"


def policy(limit: str, *, name: str = "class-default", beside: str = "") -> str:
    return f"policy-map P\n class {name}\n  {beside}\n  {limit}\n !\n end-policy-map\n"


BUNDLE = "interface Bundle-Ether1\n service-policy output P\n"
CHILD = policy("{}").replace("P\n", "CHILD\n", 1)
PARENT = "policy-map PARENT\n class class-default\n  shape average {}\n  service-policy CHILD\n"
LIMITS = "".join(f"  queue-limit dscp af1{n} {n}0 packets\n" for n in (1, 2, 3))
CATALYST = ("a Catalyst", "softmax")
EARLY = "random-detect minimum-threshold {} kbytes maximum-threshold {} kbytes"
WRED = f"{DEFAULT}  queue-limit 4000 packets\n  random-detect"
UNKNOWN = "is not understood: the queue may drain more slowly"

CISCO = {
    # IOS XR QoS command reference: "packets are assumed to be 256 bytes in size"
    "xr counts packets of 256 B": Case(policy("queue-limit 129 packets"), "ios-xr", bytes=33_024,
                                       packets=22, trap="256 B"),
    "xr counts packets without a unit": Case(policy("queue-limit 129"), "ios-xr", bytes=33_024),
    "xr bytes": Case(policy("queue-limit 193500 bytes"), "ios-xr", bytes=193_500),
    "xr needs scheduling beside it": Case(policy("queue-limit 10 ms", name="C"), "ios-xr",
                                          trap="bandwidth, shape, priority"),
    "xr with bandwidth": Case(policy("queue-limit 10 ms", name="C", beside="bandwidth percent 30"),
                              "ios-xr", bytes=375_000, silent="refused",
                              trap="times count at the class's own 300 Mbit/s"),
    "xr with priority": Case(policy("queue-limit 10 ms", name="C", beside="priority level 1"),
                             "ios-xr", silent="refused"),
    "xr with a ratio": Case(
        policy("queue-limit 10 ms", name="C", beside="bandwidth remaining ratio 3"), "ios-xr",
        bytes=None, silent="refused"),
    "xr percent above 100": Case(policy("queue-limit percent 101"), "ios-xr", bytes=None,
                                 trap="from 1 to 100"),
    "xr above 1 GB": Case(policy("queue-limit 2000 mbytes"), "ios-xr", trap="more than the 1 GB"),
    "xe needs scheduling beside it": Case(xe("queue-limit 3000000"), "ios-xe", trap=(
        "likely refused: a class needs bandwidth", "refused on an ASR 1000")),
    "xe without a known unit": Case(f"{DEFAULT}  queue-limit 9 cells\n", "ios-xe", bytes=None,
                                    uncertain="this form of queue-limit is not understood"),
    "xe priority has 512 packets": Case(xe("priority 9"), "ios-xe", packets=512),
    "me3600x without a limit": Case(DEFAULT, "ios-xe", "me3600x", bytes=None,
                                    uncertain="was not verified"),
    "nexus beyond its alphas": Case(nx("queue-limit dynamic 11"), bytes=None, trap="from 0 to 10"),
    "nexus without a known unit": Case(nx("queue-limit 9 cells"), bytes=None,
                                       uncertain="not understood"),
    "xr bytes on a bundle": Case(policy("queue-limit 100000 bytes") + BUNDLE, trap="bundle"),
    "xr time on a bundle": Case(policy("queue-limit 10 ms") + BUNDLE, silent="bundle"),
    "a parent that shapes has no queue": Case(
        CHILD.format("queue-limit 10 ms") + PARENT.format("500 mbps") + " end-policy-map\n",
        queue="policy-map CHILD, class class-default", bytes=625_000, served=5e8),
    "the lowest shape of two above it": Case(
        CHILD.format("queue-limit 100 packets") + PARENT.format(50_000_000)
        + PARENT.replace("CHILD", "PARENT").replace("PARENT", "TOP", 1).format(10_000_000),
        "ios-xe", queue="policy-map CHILD", ms=120.0),
    "xe counts real packets": Case(f"{DEFAULT}  queue-limit 129 packets\n", "ios-xe",
                                   bytes=193_500),
    "me3600x counts 200 B": Case(f"{DEFAULT}  queue-limit 129 packets\n", "ios-xe", "me3600x",
                                 bytes=25_800, packets=17),
    "each class is read": Case(
        policy("queue-limit 1 ms", name="A", beside="bandwidth percent 10").replace(
            " end-policy-map\n", " class class-default\n  queue-limit 2 ms\n"), "ios-xr",
        sizes=[12_500, None]),
    "wred above the limit ends at the limit": Case(
        f"{DEFAULT}  random-detect\n  random-detect dscp 10 100 200 10\n"
        "  queue-limit 128 packets\n", "ios-xe", bytes=192_000,
        trap="300000 B, is above it: every packet is dropped at 192000 B"),
    "one class has one queue": Case(
        f"policy-map P\n class A\n  bandwidth percent 5\n{LIMITS}  queue-limit 200 packets\n",
        "ios-xe", packets=200, note="dscp af13 30 packets"),
    "a class of a catalyst has one queue": Case(
        xe("bandwidth remaining percent 10", "queue-buffers ratio 10",
           "queue-limit dscp af43 percent 80", "queue-limit dscp af41 percent 100"), "ios-xe",
        bytes=None, trap="10 % of the port's buffer units",
        note="dscp af43 percent 80 is of these packets alone"),
    "fair-queue with a limit of its own": Case(
        f"{DEFAULT}  fair-queue queue-limit 64\n  fair-queue\n  queue-limit 100 packets\n",
        "ios-xe", packets=100, unread=("fair-queue queue-limit 64",)),
    "catalyst: ratio": Case(f"{DEFAULT}  queue-buffers ratio 15\n", bytes=None, trap=CATALYST),
    "catalyst: of two": Case(
        "policy-map P\n class GOLD\n  priority level 1 percent 20\n class class-default\n"
        "  bandwidth remaining percent 50\n  queue-buffers ratio 40\n", sizes=[None, None]),
    "catalyst: softmax": Case(
        "policy-map P\n class A\n  bandwidth percent 30\n!\nqos queue-softmax-multiplier 400\n",
        bytes=None, trap=(*CATALYST, "softmax 400 %")),
    "nexus alpha is two, of a pool": Case(nx("queue-limit dynamic 8"), bytes=21_333_333, port=POOL),
    "nexus marks from its minimum on": Case(
        nx(f"{EARLY.format(100, 2000)} drop-probability 3 weight 0 ecn", "queue-limit 3000 kbytes"),
        bytes=3_000_000, marks=None, note="rising probability from 100000 to 2000000 B"),
    "nexus marks limit nothing": Case(
        nx(f"{EARLY.format(60, 60)} drop-probability 100 weight 0 ecn", "queue-limit dynamic 8"),
        bytes=None, marks=60_000),
    "nexus without ecn drops there": Case(
        nx(f"{EARLY.format(60, 60)} drop-probability 100 weight 0", "queue-limit dynamic 8"),
        bytes=60_000),
    "nexus marks, without a limit": Case(nx("random-detect ecn", EARLY.format(150, 1500)),
                                         bytes=None, note="ECN-capable packets are marked"),
    "nexus drops, without a limit": Case(nx(EARLY.format(150, 1500)), bytes=1_500_000,
                                         trap="every packet once"),
    "nexus marks that rise are no step": Case(
        nx(f"{EARLY.format(100, 300)} ecn", "queue-limit 1000 kbytes"), marks=None),
    "xr wred without thresholds": Case(f"{WRED} dscp-based\n", "ios-xr", bytes=None,
                                       trap="random-detect drops before the limit"),
    "nexus wred without thresholds": Case(nx("random-detect"), bytes=None,
                                          trap="thresholds that this text does not give"),
    "nexus wred by packets": Case(
        nx("random-detect minimum-threshold 20 packets maximum-threshold 200 packets"),
        bytes=300_000, served=None),
    "nexus wred above the limit": Case(
        nx("queue-limit 100 kbytes", "random-detect minimum-threshold 1 mbytes maximum-threshold 2 "
           "mbytes"), bytes=100_000, served=None),
    "nexus times at its shape": Case(nx("shape 400 mbps", "queue-limit 10 ms"), port=TEN,
                                     bytes=500_000, served=4e8),
    "nexus wred by time": Case(
        nx("shape min 1 gbps max 2 gbps",
           "random-detect minimum-threshold 100 us maximum-threshold 400 us"), port=TEN,
        bytes=100_000, served=2e9),
} | {
    f"{platform} drops all {of} above the threshold of WRED": case
    for platform, packet in (("ios-xe", 1500), ("ios-xr", 256))
    for of, case in (
        ("", Case(f"{WRED} 100 packets 200 packets\n", platform, bytes=200 * packet)),
        ("of some", Case(f"{WRED} dscp af11 100 packets 200 packets\n", platform,
                         bytes=4000 * packet, trap=f"alone: dropped from {100 * packet} B on")),
    )
} | {
    f"nexus shape {shape}": Case(nx(f"shape {shape}", "queue-limit 3000 kbytes"), served=rate,
                                 trap=UNKNOWN if rate is None else ())
    for shape, rate in (("average 500 mbps", 5e8), ("average percent 10", 1e8),
                        ("min 1 mbps max 5 mbps", 5e6), ("x", None))
} | {
    f"xr {model} without a limit has {ms} ms": Case(
        policy(""), "ios-xr", model, bytes=ms * 125_000, trap="nobody chose this")
    for model, ms in (("asr9000", 100), ("crs", 100), ("ncs5500", 10))
} | {
    "xr priority has 10 ms": Case(policy("", name="V", beside="priority level 1"), "ios-xr",
                                  bytes=1_250_000),
    "asr1000 has 50 ms": Case(policy(""), "ios-xe", "asr1000", packets=4166),
    "esp40 has 25 ms": Case(policy(""), "ios-xe", "esp40", packets=2083),
    "at least 64 packets": Case(policy(""), "ios-xe", "asr1000", SLOW, packets=64),
} | {
    f"xe {limit} below a shape of {shape}": Case(
        CHILD.format(limit).replace(" end-policy-map\n", "") + PARENT.format(shape), "ios-xe",
        port=TEN, bytes=size, ms=ms)
    for limit, shape, size, ms in (
        ("queue-limit 50 ms", "200000000", 1_250_000, 50.0),
        ("queue-limit 20 ms", "percent 30", 7_500_000, 20.0),
        ("queue-limit 400 packets", "48m", 600_000, 100.0),
        ("queue-limit 125000 bytes", "10000000 40000 0", 125_000, 100.0),
        ("", "96000000", 600_000, 50.0),  # 50 ms, the default, at the parent's rate
    )
} | {
    f"xr {limit} beside {beside}": Case(policy(limit, name="C", beside=beside), "ios-xr", port=TEN,
                                        bytes=size, ms=10.0)
    for beside, limit, size in (
        ("shape average 300 mbps", "queue-limit 10 ms", 375_000),
        ("shape average percent 5", "queue-limit 625 kbytes", 625_000),
        ("shape average 80000 kbps 20 ms", "queue-limit 100000 bytes", 100_000),
    )
}  # fmt: skip

WAN = COS + "schedulers wan buffer-size {}\n"
PROFILE = COS + "traffic-control-profiles t {}\n"
OF_WAN = MAP.replace(" be\n", " wan\n")
BRACES = """class-of-service {
 schedulers {
  A {
   buffer-size temporal 8k;
  }
  inactive: B {
   buffer-size temporal 1k;
  }
  C {
   transmit-rate 1g;
   inactive: buffer-size temporal 1k;
  }
 }
}
"""
SWITCHED = f"""{COS}schedulers A buffer-size temporal 8000
{COS}schedulers B buffer-size temporal 1000
deactivate class-of-service schedulers B
{COS}schedulers C inactive: buffer-size temporal 1000
"""
CURLY = "class-of-service {\n schedulers {\n  BE {\n   buffer-size { temporal 5k; }\n }}}"

JUNOS = {
    "temporal is microseconds": Case(f"{BE}buffer-size temporal 5000", bytes=625_000,
                                     uncertain=("256 sizes", "releases")),
    "k is a thousand of them": Case(CURLY, queue="scheduler BE", bytes=625_000),
    "no space before k": Case(CURLY.replace("5k", "5 k"), bytes=None),
    "percent of 500 ms below 1 Gbit/s": Case(f"{BE}buffer-size percent 10", port=OC3, bytes=968_750,
                                             trap="500 ms"),
    "longer than the hardware": Case(f"{BE}buffer-size temporal 200000", trap="100 ms"),
    "larger than the hardware": Case(f"{BE}buffer-size temporal 50000", port=Port(1e11),
                                     trap="more than the largest size"),
    "smaller than the hardware": Case(f"{BE}buffer-size temporal 20", trap="smallest"),
    "remainder": Case(f"{BE}buffer-size remainder", bytes=None, trap="no size of its own"),
    "switched off in braces": Case(BRACES, sizes=[1_000_000, None, None]),
    "switched off by deactivate": Case(SWITCHED, sizes=[1_000_000, None, None]),
    "inactive is said": Case(SWITCHED, queue="scheduler B", bytes=None, trap="not in force"),
    "activate switches on again": Case(f"{SWITCHED}activate class-of-service schedulers B\n",
                                       sizes=[1_000_000, 125_000, None]),
    "its own shaping-rate": Case(f"{BE}buffer-size temporal 8000\n{BE}shaping-rate 100m\n",
                                 served=1e8),
    "an inactive shaping-rate": Case(
        f"{BE}buffer-size temporal 8000\n{BE}shaping-rate 100m\n"
        "deactivate class-of-service schedulers be shaping-rate", served=None),
    "beside a dynamic threshold": Case(
        f"{COS}schedulers a buffer-size percent 15\n"
        f"{COS}schedulers b buffer-dynamic-threshold 10\n", bytes=None,
        unread=("buffer-dynamic-threshold",)),
    "of two ports": Case(
        f"{BE}buffer-size temporal 10k\n{MAP}" + "".join(
            f"{COS}interfaces ge-0/0/{n} scheduler-map m\n"
            f"{COS}interfaces ge-0/0/{n} shaping-rate {rate}\n"
            for n, rate in enumerate(("100m", "1g"))), port=TEN, sizes=[125_000, 1_250_000]),
    "at the profile's": Case(
        WAN.format("percent 20 exact") + OF_WAN + PROFILE.format("scheduler-map m")
        + PROFILE.format("shaping-rate 100m"), port=TEN, bytes=250_000, ms=20.0),
    "at an exact transmit-rate": Case(
        WAN.format("temporal 1000") + f"{COS}schedulers wan transmit-rate percent 25 exact\n",
        port=TEN, bytes=1_250_000, ms=4.0),
    "temporal 1m": Case(WAN.format("temporal 1m"), port=TEN, bytes=1_250_000_000,
                        trap="longer than the 100 ms"),
    "exact": Case(WAN.format("percent 10 exact"), port=TEN, bytes=12_500_000,
                  note="may not borrow"),
    "exact alone": Case("schedulers {\n bulk {\n  buffer-size { temporal 20k; exact; }\n }\n}\n",
                        "junos", port=TEN, bytes=25_000_000, note="may not borrow"),
}  # fmt: skip

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
NO_QUEUES = ("64 kilobytes", "32 kilobytes", "mbs 300")
FLAT = '/configure qos sap-egress "a" queue 1 rate pir 8000\n/configure qos sap-egress "a" queue 1 '

SROS = {
    "bytes": Case(sros("mbs 193500 bytes"), bytes=193_500),
    "no unit": Case(sros("mbs 200"), trap="no unit"),
    "no megabytes": Case(sros("mbs 2 megabytes"), "sros", bytes=None, trap="not megabytes"),
    "more than many releases have": Case(sros("mbs 132000"), uncertain="many releases stop at"),
    "network queues are percent": Case("network-queue N create\n queue 1 create\n mbs 5\n",
                                       bytes=None, trap="percent"),
    "7705 of 512 B": Case(sros("mbs 193500 bytes"), model="7705-512", packets=94),
    "7705 of 2304 B": Case(sros("mbs 193500 bytes"), model="7705-2304", packets=83),
    "a rate without its number": Case(sros("mbs 64 kilobytes", "rate pir"), "sros", served=None,
                                      trap='"rate pir" is not understood'),
    "a rule named pir is no MD-CLI": Case(sros("adaptation-rule pir max", "mbs 7"), bytes=7000),
    "a policer is no queue": Case(POLICER, "sros", port=TEN, bytes=1_200_000, served=None,
                                  unread=NO_QUEUES),
    "a policer, dedented": Case(textwrap.dedent(POLICER), "sros", bytes=1_200_000,
                                unread=NO_QUEUES),
    "a policer, flat": Case(POLICER.replace("  ", ""), "sros", bytes=1_200_000, unread=NO_QUEUES),
    "a policer of the MD-CLI": Case(
        'qos {\n sap-egress "c" {\n  policer 2 {\n   mbs 40000\n   rate { pir 2000 }\n  }\n }\n}\n',
        sizes=[], unread=("mbs 40000",)),
    "rate max is the port's": Case(sros("rate max", "mbs 500"), port=TEN, served=None,
                                   silent=UNKNOWN),
    "MD-CLI, pir first": Case(md("mbs 600000", "rate {", "pir 48000", "cir 9000", "}"), port=TEN,
                              ms=100.0),
    "MD-CLI, flat": Case(f"{FLAT}mbs 30000\n", port=TEN, bytes=30_000, ms=30.0),
} | {
    rate: Case(sros(rate, "mbs 1000 kilobytes"), served=bps, trap=(UNKNOWN,) * (bps is None))
    for rate, bps in (
        ("percent-rate 10.00 cir 5.00", 1e8), ("percent-rate 25.50", 2.55e8),
        ("percent-rate 10", 1e8), ("rate 4000 cir 2000", 4e6), ("percent-rate 100.5", None),
        ("rate 4x", None),
    )
}  # fmt: skip

PROFILE_Q = '"size": "0", "static_th": "30000"'
BYTES, PACKETS = {"pir": "1250000", "meter_type": "bytes"}, {"pir": "500", "meter_type": "packets"}


def scheduled(key: str, scheduler: dict[str, str], **more: Any) -> str:
    """Return a profile of 30 kB for a key of queues, and a scheduler."""
    tables = {
        "BUFFER_PROFILE": {"q": {"pool": "p", "size": "0", "static_th": "30000"}},
        "BUFFER_QUEUE": {key: {"profile": "q"}},
        "SCHEDULER": {"s": scheduler},
    }
    return json.dumps(tables | more)


S = {"scheduler": "s"}
NO_POOL = (
    '{"BUFFER_PROFILE": {"p": {"pool": "[BUFFER_POOL|e]", "size": "1518", "dynamic_th": "0"}}}'
)
WRED = '{"WRED_PROFILE": {"L": {"green_min_threshold": "1", "green_max_threshold": "2"%s}}}'
DYNAMIC = '"type": "egress", "mode": "dynamic", "size": "9000000"'

JSON = {
    "a pool that is given": Case(NO_POOL, port=Port(1e9, pool_bytes=4_000_000), bytes=2_001_518),
    "another mode": Case(sonic('"size": "1518", "static_th": "100000"', DYNAMIC),
                         trap="not static"),
    "wred drops": Case(WRED % "", port=TEN, note="packets are dropped"),
    "wred marks": Case(WRED % ', "ecn": "ecn_all"', port=TEN, note="are marked"),
    "scheduler of one of four": Case(
        scheduled("Ethernet0,Ethernet4|3-4", BYTES, QUEUE={"Ethernet4|3": S}), port=POOL,
        queue="in Ethernet4|3", served=1e7),
    "scheduler of many": Case(
        scheduled("Ethernet8|2", BYTES, QUEUE={"Ethernet0,Ethernet8|0-7": S}), served=1e7),
    "scheduler of the port": Case(
        scheduled("Ethernet0|3", BYTES, PORT_QOS_MAP={"Ethernet0": S}), served=1e7),
    "scheduler in packets": Case(scheduled("Ethernet0|3", PACKETS, QUEUE={"Ethernet0|3": S}),
                                 served=6e6),
    "scheduler of another": Case(scheduled("Ethernet0|3-4", BYTES, QUEUE={"Ethernet0|5": S}),
                                 served=None),
    "no range": Case(scheduled("Ethernet0|4-3", BYTES, QUEUE={"Ethernet0|3": S}), served=None),
    "dedicated and shared": Case(
        oc('"dedicated-buffer": "1000", "static-shared-buffer-limit": 50000, '
           '"use-shared-buffer": true'), bytes=51_000, trap="not guaranteed"),
    # the model's own example: 10 MB free times 2^3
    "a scaling factor is an exponent": Case(
        oc('"dynamic-limit-scaling-factor": 3, "use-shared-buffer": true'),
        port=Port(1e9, pool_bytes=90_000_000), bytes=80_000_000),
}  # fmt: skip

LEAF = """
tc qdisc add dev lan0 root handle 7: htb default 12
tc class add dev lan0 parent 7: classid 7:1 htb rate {}
tc class add dev lan0 parent 7:1 classid 7:12 htb rate {} ceil {}
tc qdisc add dev lan0 parent 7:12 handle 70: pfifo limit {}
"""
CAKE = "qdisc cake 8001: dev ppp0 root refcnt 2 bandwidth {} diffserv3 triple-isolate rtt {} raw\n"
SQM = "config queue 'wan'\n\toption interface 'pppoe-wan'\n\toption enabled '1'\n" + (
    "\toption download '{}'\n\toption upload '{}'\n\toption qdisc '{}'\n{}"
)
SHOWN = (
    "qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default 0x30 direct_qlen 1000\n"
    "qdisc fq_codel 10: dev eth0 parent 1:30 limit 1000p flows 1024 target 5ms\n"
    "class htb 1:1 root rate 95Mbit ceil 95Mbit burst 1600b cburst 1600b\n"
    "class htb 1:30 parent 1:1 leaf 10: prio 0 rate 20Mbit ceil 90Mbit burst 1600b\n"
)
SWITCH = "config queue 'wan'\n\toption enabled '{}'\n\toption upload '9500'\n"
LEAVES = "qdisc mq 0: dev e0 root\n" + "qdisc {} 0: dev e0 parent :{{}} limit {}\n" * 3

LINUX = {
    # 200 packets of 1500 B at the class's ceil, or at what is above it if that is less
    "at what is above it": Case(LEAF.format("40mbit", "10mbit", "80mbit", 200), port=TEN, ms=60.0),
    "a guaranteed rate": Case(LEAF.format("1gbit", "20mbit", "50mbit", 100), port=TEN,
                              note="60 ms while others use the rest: 20 Mbit/s is guaranteed"),
    "as tc shows a class": Case(
        "class htb 9:5 parent 9: prio 0 rate 6Mbit ceil 12Mbit burst 1599b cburst 1598b\n"
        "qdisc pfifo 95: dev dsl0 parent 9:5 limit 50p\n", port=TEN, ms=50.0),
    "hfsc": Case(
        "tc qdisc add dev u0 root handle 1: hfsc default 1\n"
        "tc class add dev u0 parent 1: classid 1:1 hfsc sc rate 5mbit ul rate 30mbit\n"
        "tc qdisc add dev u0 parent 1:1 pfifo limit 100\n", port=TEN, ms=40.0),
    "below a tbf": Case(
        "tc qdisc add dev w0 root handle 3: tbf rate 60mbit burst 20kb limit 1mb\n"
        "tc qdisc add dev w0 parent 3:1 pfifo limit 250\n", port=TEN, ms=50.0),
    "netem's own rate; 10 ms fly": Case(f"{TC}root netem rate 12112kbit delay 10ms limit 110",
                                        port=TEN, ms=99.07),
    # 10 ms at 1 Gbit/s of 1514-B frames: 825 fly; 175 of the default 1000 may queue
    "netem holds what flies": Case(f"{TC}root netem delay 10ms", packets=175,
                                   trap=("in flight", "nobody chose")),
    "netem overflows": Case(f"{TC}root netem delay 50ms limit 1000", packets=0, trap="overflows"),
    "netem above a leaf": Case(
        "tc qdisc add dev e root handle 1: netem delay 40ms limit 300\n"
        "tc qdisc add dev e parent 1: pfifo limit 77\n",
        trap="netem above it holds at most 300 packets"),
    "bfifo counts the header": Case(f"{TC}root bfifo limit 193500", packets=127),
    "bfifo without a header": Case(f"{TC}root bfifo limit 193500", port=Port(1e9, header_bytes=0),
                                   packets=129),
    "kilobytes are 1024": Case(f"{TC}root bfifo limit 100kb", port=Port(1e9, header_bytes=0),
                               bytes=102_400, trap="1024"),
    "pfifo counts super-packets": Case(f"{TC}root pfifo limit 129", packets=129, bytes=193_500,
                                       trap="GSO"),
    "tbf's latency is a limit": Case(f"{TC}root tbf rate 100mbit burst 15140 latency 10ms",
                                     packets=(125_000 + 15_140) // 1514),
    "fq_codel as shown": Case(
        "qdisc fq_codel 0: root refcnt 2 limit 10240p flows 1024 quantum 1514 target 5ms\n",
        packets=10240, trap="last resort"),
    "show commands without devices": Case(SHOWN, port=TEN, bytes=1_500_000, ms=1.2e4 / 90),
    "gred is not the prio in its options": Case(
        "tc qdisc change dev e root gred DP 1 limit 60KB min 15KB max 45KB burst 20 prio 2\n",
        sizes=[], unread=("gred DP 1",)),
    "noqueue": Case("qdisc noqueue 0: dev lo root refcnt 2", trap="holds no packet"),
    "leaves without a handle": Case(LEAVES.format(*("pfifo", "40p") * 3).format(3, 2, 1),
                                    sizes=[None, 60_000, 60_000, 60_000]),
    "leaves of bfifo without a handle": Case(
        LEAVES.format(*("bfifo", "9Kb") * 3).format(3, 2, 1), sizes=[None, 9130, 9130, 9130]),
    "memory_limit comes first": Case(
        f"{TC}root fq_codel limit 10240p flows 1024 memory_limit 4Mb ecn", bytes=4 << 20,
        trap="memory_limit comes first"),
    "memory_limit above the limit": Case(f"{TC}root fq_codel limit 100 memory_limit 32Mb",
                                         bytes=150_000, silent="memory_limit"),
    "memory_limit alone": Case(f"{TC}root fq_codel memory_limit 90000", bytes=90_000,
                               trap="memory_limit comes first"),
    "cake as -s shows it": Case(
        CAKE.format("190Mbit", "100ms") + " memory used: 98304b of 9500000b\n", bytes=9_500_000,
        served=190e6, note="target 5 ms"),
    "cake of 4 MiB": Case(
        CAKE.format("18Mbit", "30ms") + " Sent 1 bytes\n memory used: 7b of 4Mb\n", bytes=1 << 22,
        note="target 1.5 ms"),
    # without what -s shows: 4 x rate x rtt, at least 4 MiB
    "cake by its rate": Case(f"{TC}root cake bandwidth 400mbit rtt 50ms", bytes=10_000_000,
                             note="target 2.5 ms"),
    "cake by a name": Case(f"{TC}root cake bandwidth 20mbit metro", bytes=1 << 22,
                           note="target 500 us"),
    "cake's memlimit": Case(f"{TC}root cake bandwidth 20mbit memlimit 32mb", bytes=32 << 20,
                            served=20e6, note="target 5 ms"),
    "cake without a rate": Case(f"{TC}root cake", bytes=None),
    "sqm upward": Case(SQM.format(50_000, 10_000, "fq_codel", ""), port=TEN, queue="egress",
                       packets=1001, ms=1201.2),
    "sqm downward": Case(SQM.format(50_000, 10_000, "fq_codel", ""), port=TEN, queue="ingress",
                         ms=240.24),
    "sqm with a limit": Case(
        SQM.format(0, 12_000, "pfifo", "\toption qdisc_advanced '1'\n\toption elimit '60'\n"),
        bytes=90_000),
    "sqm with a gated limit": Case(SQM.format(0, 9_000, "fq_codel", "\toption elimit '600'\n"),
                                   bytes=900_000, uncertain="qdisc_advanced is not 1"),
    "sqm of cake": Case(SQM.format(0, 800_000, "cake", ""), bytes=40_000_000),
    "sqm by uci show": Case(
        "sqm.wan=queue\nsqm.wan.upload='6000'\nsqm.wan.qdisc='fq_codel'\n", bytes=1_501_500),
    "sqm by uci set": Case(
        "uci set sqm.wan=queue\nuci set sqm.wan.upload='9000'\nuci set sqm.wan.qdisc='cake'\n",
        bytes=1 << 22),
    "sqm that is off": Case(SWITCH.format(0), trap="nothing of it is set up"),
    "sqm that is on": Case(SWITCH.format(1), silent="nothing of it"),
} | {
    f"tbf {options}": Case(f"{TC}root tbf {options}", port=TEN, ms=ms)
    for options, ms in (
        ("rate 100mbit burst 32kbit latency 400ms", 400.0),
        ("rate 25mbit burst 5kb latency 30ms", 30.0), ("rate 2mbit burst 1600 lat 1s", 1000.0),
        ("rate 512kbit burst 1540 limit 384k", 6120.0),  # 384 KiB less the burst
        ("rate 10mbit burst 10000 limit 135000", 100.0),
        ("rate 1gbit buffer 500kb limit 1500kb", 8.192),
    )
} | {
    f"tbf of {text}": Case(f"{TC}root tbf rate {text} burst 32kbit limit 1mb", served=rate)
    for text, rate in (("100mibit", 104_857_600), ("3kibps", 24_576), ("2.5Gibit", 2_684_354_560))
} | {
    f"{kind} of {rate}": Case(text, served=None, trap=f'the rate "{rate}" is not known')
    for rate in ("20%", "$RATE", "50mbits", "${DOWN}kbit")
    for kind, text in (
        ("htb", f"{HTB}{rate}\n{TC}parent 1:10 pfifo limit 100\n"),
        ("tbf", f"{TC}root tbf rate {rate} burst 5k limit 1mb"),
    )
}  # fmt: skip

OUT = f"{QOS}shaper OUT "
BARE = "/queue type add kind=pfifo name=w pfifo-limit=100\n/queue tree\n"


def vyos(*words: str) -> str:
    return "".join(f"{OUT}{each}\n" for each in words)


OTHERS = {
    "vyos before 1.4": Case("set traffic-policy drop-tail N queue-limit 129", "vyos", packets=129,
                            queue="drop-tail N"),
    "vyos in braces": Case('qos {\n policy {\n  drop-tail N {\n   queue-limit "129"\n  }\n }\n}',
                           packets=129, queue="drop-tail N"),
    "vyos class": Case(
        vyos("bandwidth '200mbit'", "class 4 bandwidth '20%'", "class 4 queue-limit '500'",
             "class 4 queue-type 'drop-tail'"), port=TEN, ms=150.0, silent="not drop-tail"),
    "vyos ceiling": Case(
        vyos("bandwidth '90mbit'", "default bandwidth '10%'", "default ceiling '100%'",
             "default queue-limit '300'", "default queue-type 'drop-tail'"), port=TEN, ms=40.0,
        silent="not drop-tail"),
    "vyos fq-codel": Case(
        vyos("bandwidth '1gbit'", "class 7 bandwidth '24mbit'", "class 7 queue-limit '100'",
             "class 7 queue-type 'fq-codel'"), port=TEN, ms=50.0, trap="not drop-tail"),
    "vyos shaper in braces": Case(
        "qos {\n policy {\n  shaper OUT {\n   bandwidth 12mbit\n   default {\n    queue-limit 40\n"
        "    queue-type drop-tail\n   }\n  }\n }\n}\n", port=TEN, ms=40.0, silent="not drop-tail"),
    "vyos is recognised by its braces": Case(
        "qos {\n policy {\n  rate-control RC {\n   latency 250\n  }\n }\n}\n", sizes=[],
        unread=("latency 250",)),
    "mikrotik's default is ten packets": Case("/queue type add kind=bfifo name=x", bytes=15_000,
                                              packets=10, trap="ten packets"),
    "mikrotik over two lines": Case(
        "/queue type\nadd kind=bfifo name=x \\\n    bfifo-limit=193500\n", bytes=193_500),
    "mikrotik's memory": Case(
        "/queue type add kind=fq-codel name=f fq-codel-limit=500 fq-codel-memlimit=64.0KiB\n",
        trap="its memory ends at 64.0KiB too"),
    "mikrotik set by find": Case("/queue type\nset [ find name=lan ] pfifo-limit=80\n", "mikrotik",
                                 bytes=120_000, served=None),
    "mikrotik set by name": Case("/queue type set default-small pfifo-limit=20\n", "mikrotik",
                                 bytes=30_000, served=None),
    "mikrotik simple, the other way": Case(
        f"{TYPE}pfifo pfifo-limit=40\n/queue simple add target=a queue=x/w max-limit=8M/90M\n",
        served=90e6),
    "mikrotik simple": Case(
        f"{TYPE}pfifo pfifo-limit=40\n/queue simple add target=a queue=w/x max-limit=8M/90M\n",
        bytes=60_000, served=8e6),
} | {
    f"mikrotik {tree}": Case(f"{BARE}{tree}\n", "mikrotik", served=rate)
    for tree, rate in (
        ("add name=top parent=ether1 max-limit=20M\nadd name=leaf parent=top queue=w max-limit=90M",
         20e6),
        ("add name=top parent=ether1 max-limit=20M\nadd name=leaf parent=top queue=w", 20e6),
        ("add name=top parent=ether1 max-limit=700M\nadd name=mid parent=top max-limit=30M\n"
         "add name=leaf parent=mid queue=w max-limit=90M", 30e6),
        ("add name=leaf parent=ether1 queue=w", None),
        ("add name=a parent=b queue=w max-limit=5M\nadd name=b parent=a max-limit=3M", 3e6),
    )
} | {
    f"not read: {platform} {text[-30:]}": Case(text, platform, sizes=[], unread=(text.strip(),))
    for platform, text in (
        ("vyos", "set qos policy rate-control RC burst 16kb"),
        ("vyos", "set qos policy rate-control RC latency 250"),
        ("vyos", "set qos policy cake C rtt 100"),
        ("vyos", "set traffic-policy fq-codel F target 5"),
        ("vyos", "set interfaces ethernet eth0 ring-buffer tx 4096"),
        ("eos", "platform trident mmu queue profile Q"),
        ("eos", "   egress unicast queue 1 threshold 1/64"),
        ("eos", "   egress unicast queue 1 reserved bytes 5000"),
        ("nx-os", "  hardware N2248T queue-limit 83000 rx"),
        ("nx-os", "qos ns-buffer-profile mesh"),
        ("nx-os", "hardware profile buffer info interval 5"),
        ("ios-xe", "platform hardware queue-limit 5"), ("ios-xe", "platform qos wred-threshold 1"),
        ("linux-tc", "tc qdisc add dev a root choke limit 1000 bandwidth 10mbit"),
        ("mikrotik", "/queue type add kind=sfq name=s"),
    )
} | {
    f"not read beside a limit: {text[-30:]}": Case(text, platform, unread=(statement,))
    for platform, text, statement in (
        ("ios-xe", f"{DEFAULT}  queue-limit 9 packets\ninterface Gi1\n hold-queue 4096 out\n",
         "hold-queue 4096 out"),
        ("ios-xr", f"{DEFAULT}  queue-limit 9 ms\n  random-detect dscp 10 percent 20 40\n",
         "percent 20 40"),
        ("nx-os", nx("queue-limit 9 kbytes", "random-detect burst-optimized"), "burst-optimized"),
        ("junos", WAN.format("temporal 9") + f"{COS}drop-profiles d fill-level 5",
         "drop-profiles d"),
        ("sros", sros("slope-policy gold", "mbs 9"), "slope-policy gold"),
        ("linux-tc", f"{TC}root pfifo limit 9\nip link set a txqueuelen 10000", "txqueuelen 10000"),
    )
} | {
    "not read: wred of vyos": Case(f"{QOS}random-detect R precedence 1 maximum-threshold '9'\n",
                                   "vyos", sizes=[], unread=("maximum-threshold",)),
    "not read: wred of sonic": Case('{"WRED_PROFILE": {"AZURE": {}}, "BUFFER_PROFILE": {}}',
                                    "sonic", sizes=[], unread=("WRED_PROFILE",)),
    "not read: openconfig": Case('{"openconfig-qos:qos": {"max-queue-depth-packets": 9}}',
                                 "openconfig", sizes=[], unread=("max-queue-depth-packets",)),
}  # fmt: skip

STEP = "qos profile R\n   uc-tx-queue 3\n      random-detect ecn minimum-threshold {} " + (
    "maximum-threshold {} max-mark-probability 100\n"
)
EOS = {
    f"eos marks from {least} to {most}": Case(STEP.format(least, most), "eos", bytes=None,
                                              marks=marks, queue="qos profile R, uc-tx-queue 3")
    for least, most, marks in (
        ("30000 bytes", "30000 bytes", 30_000), ("320 kbytes", "320 kbytes", 320_000),
        ("1 mbytes", "1 mbytes", 1_000_000), ("1000 kbytes", "1 mbytes", 1_000_000),
        ("256000000 bytes", "256000000 bytes", 256_000_000),
        ("256000001 bytes", "256000001 bytes", None),  # beyond the data model
        ("150 kbytes", "1500 kbytes", None),  # a slope is no step
        ("40 cells", "40 cells", None),  # a cell's size hangs on the chip
        ("5 segments", "9 segments", None), ("0 bytes", "0 bytes", None),
    )
} | {
    "eos says where marks rise": Case(STEP.format("150 kbytes", "1500 kbytes"), marks=None,
                                      note="from 150000 to 1500000 B"),
    "eos says what hangs on the chip": Case(STEP.format("9 segments", "9 segments"),
                                            uncertain="depend on the chip"),
    "eos without marks": Case(
        "qos profile R\n   uc-tx-queue 3\n      random-detect ecn count\nqueue-monitor length\n",
        sizes=[], unread=("ecn count", "queue-monitor length")),
}  # fmt: skip

TABLES = {
    "cisco": CISCO, "junos": JUNOS, "sros": SROS, "json": JSON, "linux": LINUX, "other": OTHERS,
    "marks": EOS,
}  # fmt: skip
CASES = {f"{of}: {name}": case for of, table in TABLES.items() for name, case in table.items()}


@pytest.mark.parametrize("name", CASES)
def test_a_text_is_read_as_it_says(name: str) -> None:
    CASES[name].check()
