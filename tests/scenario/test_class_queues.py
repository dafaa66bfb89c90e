"""Several class queues before a wire, as a scenario writes them."""

import re

import pytest
from tests.cases import rows
from tests.refused import refused

from forebay.scenario import DataSize, loads

PORT = """
link.rate = "100 Mbit/s"
[queue]
discipline = "classes"
size = "300 packets"
classes = [
  { name = "voice", traffic = ["voip"], priority = 1, size = "20 packets" },
  { name = "business", traffic = ["erp"], weight = 3.0, share = 0.5 },
  { name = "rest", default = true, red = { min = "30 kB", max = "90 kB" } },
]
[[traffic]]
name = "voip"
kind = "udp"
flows = 10
rate = "80 kbit/s"
packet = "200 B"
[[traffic]]
name = "erp"
flows = 5
[[traffic]]
flows = 10
"""


def test_traffic_finds_its_queue_by_name_else_in_the_default() -> None:
    scenario = loads(PORT)
    assert scenario.class_queue_of() == [0, 1, 2]
    renamed = loads(PORT, overrides=["queue.classes.1.traffic=['erp', 'long-2']"])
    assert renamed.class_queue_of() == [0, 1, 1]


def test_a_limit_is_its_own_or_a_share_of_the_size_or_the_size() -> None:
    scenario = loads(PORT)
    assert scenario.class_limits() == [
        (20, DataSize(200)), (150, DataSize(1500)), (300, DataSize(1500)),
    ]  # fmt: skip
    assert scenario.queue_packets("bottleneck") == 470
    grown = scenario.with_buffer(1000).class_limits()
    assert [packets for packets, _ in grown] == [20, 500, 1000]


def test_an_own_limit_counts_the_packets_of_its_own_traffic() -> None:
    def limit(size: str) -> int:
        return loads(PORT, overrides=[f'queue.classes.0.size="{size}"']).class_limits()[0][0]

    assert limit("20 kB") == 100
    assert limit("10 ms") == 625  # of 200 B at 100 Mbit/s
    assert limit("64 packets") == 64


def test_red_is_said_by_its_table_alone() -> None:
    scenario = loads(PORT)
    assert [each.discipline for each in scenario.queue.classes] == ["drop-tail"] * 2 + ["red"]
    assert scenario.queue.classes[2].parameters == {"min": 30_000, "max": 90_000}


WRONG = """
1.traffic=['erb'] | queue.classes.1.traffic: there is no traffic "erb" (did you mean "erp"?)
1.traffic=['voip'] | "voip" is named here and in class queue "voice"
1.traffic=['erp', 'erp'] | "erp" is named here and in class queue "business"
1.name=voice | another class queue has this name
1.default=true | class queue "business" is the default too
2.default=false | no class queue has traffic "long-2"
1.weight=0 | 0 is below the least, 0.001
1.weight=-1.5 | -1.5 is below the least, 0.001
1.priority=-1 | -1 is below the least, 0
1.share=0.0 | queue.classes.1.share: 0.0 is not above
1.size=10 packets | size and share are both set
0.size=100 B | "100 B" is 0 packets of 200 B
2.discipline=bfifo | "bfifo" has no thresholds
1.discipline=codel | "codel" is not known
2.red={min='90 kB', max='30 kB'} | min, 90000 B, is not below max, 30000 B
"""


@pytest.mark.parametrize(("change", "said"), rows(WRONG))
def test_what_cannot_be_is_refused_in_one_line(change: str, said: str) -> None:
    with refused(re.escape(said)):
        loads(PORT, overrides=[f"queue.classes.{change}"])


BARE = 'link.rate = "1 Mbit/s"\nqueue.discipline = "classes"\n[[traffic]]\nflows = 1\n'
EDGE = """
link.rate = "1 Mbit/s"
traffic = [{ kind = "udp", flows = 1, rate = "1 kbit/s" }]
[[links]]
name = "edge"
rate = "1 Mbit/s"
[links.queue]
discipline = "classes"
size = "1 bdp/sqrt(n)"
classes = [{ name = "all", default = true, size = "9 packets" }]
"""
ALONE = PORT[: PORT.index('[[traffic]]\nname = "erp"')].replace('traffic = ["erp"], ', "")


@pytest.mark.parametrize(
    ("text", "sets", "said"),
    [
        (PORT, ["queue.discipline=red"], '"red" has one queue'),
        (PORT, ["queue.ecn=true"], '"classes" has no such parameter'),
        (PORT + "[topology.fat_tree]\nk = 4\n", [], "classes: cannot be set with a topology"),
        (BARE, [], "lists no class queue"),
        # A size over the root of n needs flows that last, also that of a port, whoever reads it.
        (ALONE, ["queue.classes.0.size=1 bdp/sqrt(n)"],
         'overrides: queue.classes.0.size: "1 bdp/sqrt(n)" without flows'),
        (EDGE, [], 'links.0.queue.size: "1 bdp/sqrt(n)" without flows'),
    ],
)  # fmt: skip
def test_where_class_queues_cannot_be(text: str, sets: list[str], said: str) -> None:
    with refused(re.escape(said)):
        loads(text, overrides=sets)


def test_each_link_has_class_queues_of_its_own() -> None:
    text = """
    link.rate = "100 Mbit/s"
    [[links]]
    name = "edge"
    rate = "50 Mbit/s"
    queue = { discipline = "classes", classes = [{ name = "all", traffic = ["long-0"] }] }
    [[traffic]]
    flows = 4
    route = ["edge", "bottleneck"]
    [[traffic]]
    flows = 4
    """
    scenario = loads(text)
    # The second class never crosses the edge: nobody need hold it there.
    assert scenario.class_queue_of("edge") == [0, 0]
    assert scenario.queue_packets("edge") == scenario.at_link("edge").bdp_packets.__round__()
    with refused('links.0.queue.classes: no class queue has traffic "long-1"'):
        loads(text, overrides=["traffic.1.route=['edge']"])


def test_acks_are_in_the_queue_of_their_class() -> None:
    reverse = ['traffic.1.direction="reverse"', "queue.classes.1.traffic=[]"]
    scenario = loads(PORT, overrides=reverse)
    assert scenario.class_queue_of("reverse") == [0, 2, 2]
    only = ["queue.classes.2.default=false", "queue.classes.2.traffic=['long-2']"]
    with refused('no class queue has traffic "erp"'):
        loads(PORT, overrides=[*reverse, *only])


def test_a_size_that_nobody_reads_may_be_any() -> None:
    text = PORT.replace("share = 0.5", 'size = "9 packets"').replace(
        "red = {", 'size = "90 kB", red = {'
    )
    assert not loads(text, overrides=["queue.size=1 B"]).queue.reads_size
