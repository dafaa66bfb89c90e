"""Transfers, each with a start and a size: of a table, a list or a distribution; ideal times.

Completion times over routes of several links: the closed form of docs/reference/readings.md.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.scenarios import scenario

import forebay
from forebay import Scenario, ScenarioError, Unsupported
from forebay.engines.replication import transfer_routes
from forebay.outcome.model import FlowTable
from forebay.scenario import load, loads
from forebay.scenario.transfers import PUBLISHED, TransferSizes
from forebay.workload import draw

LINK = """
link.rate = "100 Mbit/s"
queue.size = "100 packets"
measure = { warmup = "0 s", duration = "4 s" }
[[traffic]]
kind = "transfers"
rtt = "10 ms"
"""
TREE = """
link = { rate = "100 Mbit/s", delay = "10 us" }
queue.size = "100 packets"
measure = { warmup = "0 s", duration = "2 s" }
[topology]
fat_tree.k = 4
classes = [{ name = "access" }, { name = "edge" }, { name = "core" }]
[[traffic]]
kind = "transfers"
"""
TABLE = "start_s,size_bytes,rtt_s,congestion_control\n0.5,14480,0.02,cubic\n0,100000,0.01,\n"


def on_link(more: str) -> Scenario:
    return loads(LINK + more)


def of_table(folder: Path, text: str = TABLE, name: str = "t.csv") -> Scenario:
    (folder / "t.csv").write_text(text)
    (folder / "s.toml").write_text(LINK + f'file = "{name}"\n')
    return load(folder / "s.toml")


def test_each_row_of_a_table_is_a_transfer_in_its_order(tmp_path):
    """What the table of flows says of them, fed back, has the same sizes."""
    scenario = of_table(tmp_path)
    rows = forebay.run(scenario).flows()
    assert rows["size_bytes"].tolist() == [15_000, 70 * 1500]
    assert rows["application_bytes"].tolist() == [14_480, 70 * 1448]
    assert rows["rtt_s"].tolist() == [0.02, 0.01] and rows["control"].tolist() == ["cubic", "reno"]
    assert rows["start_s"] == pytest.approx([0.5, 0.0], abs=1e-3)
    assert not rows["unfinished"].any()
    assert scenario.files == (str(tmp_path / "t.csv"),)
    again = Scenario.from_dict(scenario.to_dict())
    assert again == scenario and again.sha256() == scenario.sha256()
    told = zip(rows["start_s"].tolist(), rows["application_bytes"].tolist(), strict=True)
    lines = ("start_s,size_bytes", *(f"{start},{size:.0f}" for start, size in told))
    fed_back = forebay.run(of_table(tmp_path, "\n".join(lines) + "\n")).flows()
    for column in ("application_bytes", "size_bytes"):
        assert fed_back[column].tolist() == rows[column].tolist()


def test_a_parquet_table_is_read_as_the_csv_one(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"start_s": [0.5, 0.0], "size_bytes": [14480, 100000], "rtt_s": [0.02, 0.01],
               "congestion_control": ["cubic", None]}  # fmt: skip
    parquet.write_table(pyarrow.table(columns), tmp_path / "t.parquet")
    one, other = (of_table(tmp_path, name=name) for name in ("t.csv", "t.parquet"))
    assert one.sha256() == other.sha256()


def test_a_list_is_the_same_as_a_table(tmp_path):
    listed = on_link(
        'transfers = [{ start = "500 ms", size = "14480 B", rtt = "20 ms", '
        'congestion_control = "cubic" }, { start = "0 s", size = "100 kB" }]\n'
    )
    one, two = (forebay.run(each).classes for each in (listed, of_table(tmp_path)))
    assert one == two


def test_sizes_are_drawn_from_their_distribution_at_the_load():
    points = '{ cdf = [["1448 B", 0.25], ["2896 B", 0.5], ["28960 B", 1.0]] }'
    scenario = on_link(f"size = {points}\nload = 0.5\n")
    segments = draw(scenario, 1).segments
    n = len(segments)
    assert np.mean(segments == 1) == pytest.approx(0.25, abs=4 * (0.19 / n) ** 0.5)
    assert np.mean(segments <= 2) == pytest.approx(0.5, abs=4 * (0.25 / n) ** 0.5)
    assert segments.max() == 20
    mean = scenario.traffic[0].mean_packets  # type: ignore[union-attr]
    assert np.mean(segments) == pytest.approx(mean, rel=0.05)
    assert n * mean * 1500 * 8 / 4 / 100e6 == pytest.approx(0.5, rel=0.1)


def test_mean_packets_is_exact():
    """Whole packets of one: a size from 1 to 3 packets is 2 or 3 of them, equally likely."""
    sizes = TransferSizes.from_dict({"cdf": [["1000 B", 0.5], ["3000 B", 1.0]]})
    assert sizes.mean_packets(1000) == pytest.approx(0.5 * 1 + 0.5 * 2.5)


@pytest.mark.parametrize(("name", "mean_mb"), [("web-search", 1.6), ("data-mining", 7.4)])
def test_published_sizes_have_their_published_mean(name, mean_mb):
    """Alizadeh et al., pFabric (SIGCOMM 2013), section 5.1: 1.6 MB, and 7.4 MB of data mining."""
    found = TransferSizes(published=name).mean_packets(1460) * 1460 / 1e6  # type: ignore[arg-type]
    assert found == pytest.approx(mean_mb, rel=0.05)


def test_every_published_distribution_rises_to_one():
    for points in PUBLISHED.values():
        sizes, shares = zip(*points, strict=True)
        assert list(sizes) == sorted(set(sizes)) and list(shares) == sorted(shares)
        assert shares[-1] == 1.0


def test_slowdown_by_size_is_that_of_the_table_of_flows():
    outcome = forebay.run(on_link('size = "web-search"\nload = 0.4\n'))
    (seen,), rows = outcome.classes, outcome.flows()
    assert "empty path" in (seen.slowdown_ideal or "")
    for each in seen.slowdown.values():
        high = np.inf if each.up_to_bytes is None else each.up_to_bytes
        mine = (rows["size_bytes"] > each.above_bytes) & (rows["size_bytes"] <= high)
        assert each.transfers.value == np.count_nonzero(mine)
        slow = np.sort(rows["slowdown"][mine & ~rows["unfinished"]])
        if not rows["unfinished"][mine].any() and each.slowdown and each.slowdown.p50:
            assert each.slowdown.p50.value == pytest.approx(slow[(len(slow) + 1) // 2 - 1])
    assert sum(each.transfers.value for each in seen.slowdown.values() if each.transfers) == len(
        rows["flow"]
    )


def on_tree(*transfers: str, more: str = "") -> FlowTable:
    """Return the flows of transfers that all start at 0 s."""
    listed = ", ".join(f'{{ start = "0 s", {each} }}' for each in transfers)
    return forebay.run(loads(f"{TREE}transfers = [{listed}]\n{more}\n")).flows()


def test_a_transfer_takes_the_route_of_its_row_and_one_between_hosts_takes_any_shortest():
    way = ["edge0-1->pod0-0", "pod0-0->core1", "core1->pod2-0", "pod2-0->edge2-0"]
    route = ", ".join(f'"{link}"' for link in way)
    rows = on_tree(
        f'size = "1 MB", source = "edge0-1#2", route = [{route}]',
        'size = "20 kB", source = "edge0-0", target = "edge0-1#1"',
    )
    assert rows["route"][0] == "; ".join(way)
    assert rows["route"][1] in (
        "edge0-0->pod0-0; pod0-0->edge0-1",
        "edge0-0->pod0-1; pod0-1->edge0-1",
    )
    assert rows["rtt_s"].tolist() == pytest.approx([12e-5, 8e-5])
    assert not rows["unfinished"].any()


def test_a_lone_transfer_takes_the_ideal_time_where_its_window_fills_the_path():
    """Two of one host share its link, and two of two hosts do not."""
    first, other = (
        f'size = "100 kB", source = "edge0-0#1", target = "{target}"'
        for target in ("edge1-0#1", "edge2-1#1")
    )
    (slow,) = on_tree(first, more="initial_window = 1000")["slowdown"]
    assert slow == pytest.approx(1.0, abs=0.01)
    assert on_tree(first, other)["slowdown"].max() > 1.8
    assert on_tree(first, other.replace("edge0-0#1", "edge3-0#2"))["slowdown"].max() < 1.1


def test_drawn_transfers_load_the_hosts_links_of_a_network():
    scenario = loads(TREE + 'size = "20 kB"\nload = 0.3\n')
    outcome = forebay.run(scenario, jobs=1)
    (seen,) = outcome.classes
    assert seen.throughput_bps.value == pytest.approx(0.3 * 16 * 100e6, rel=0.05)
    assert forebay.run(scenario, jobs=2).classes == outcome.classes
    with pytest.raises(Unsupported, match=r"traffic\.0\.kind: network cannot run transfers"):
        forebay.run(scenario, "network")


@pytest.mark.parametrize(
    ("base", "more", "says"),
    [
        (LINK, "", "neither transfers, file nor size"),
        (LINK, 'size = "web-search"\n', "neither load nor arrival_rate is given"),
        (LINK, 'size = "web-searsh"\nload = 0.5\n', "web-search, data-mining, hadoop"),
        (LINK, 'size = { cdf = [["1 kB", 0.5]] }\nload = 0.5\n', "no distribution function"),
        (LINK, 'transfers=[{start="0 s",size="1 B",source="a"}]\n', "without a network"),
        (TREE, 'transfers=[{start="0 s",size="1 B",rtt="1 s"}]\n', "the topology gives"),
    ],
)
def test_what_contradicts_itself_is_refused(base, more, says):
    with pytest.raises(ScenarioError, match=says):
        loads(base + more)


def test_an_end_that_is_not_given_is_drawn():
    ends = ('source = "edge0-0#1"', 'target = "edge1-1"', 'source = "edge0-0", target = "edge1-1"')
    table = on_tree(*(f'size = "1 kB", {end}' for end in ends for _ in range(8)), 'size = "1 kB"')
    path = [route.split("; ") for route in table["route"].tolist()]
    begin, end = ([links[at].split("->")[at] for links in path] for at in (0, -1))
    assert set(begin[:8]) == {"edge0-0"} and set(end[8:16]) == {"edge1-1"}
    assert len(set(end[:8])) > 1 and len(set(begin[8:16])) > 1
    assert {(begin[row], end[row]) for row in range(16, 24)} == {("edge0-0", "edge1-1")}


def test_two_hosts_of_one_router_are_never_one(monkeypatch):
    given = ('source = "edge0-0", target = "edge0-0"', 'source = "edge0-0#2", target = "edge0-0"')
    seen = []
    columns = transfer_routes.TransferRoutes.columns

    def spied(*arguments: Any) -> Any:
        seen.append(columns(*arguments))
        return seen[-1]

    monkeypatch.setattr(transfer_routes.TransferRoutes, "columns", spied)
    slow = on_tree(*(f'size = "1 kB", {each}' for each in given for _ in range(10)))
    up, *_, down = seen[0]
    assert len(set(zip(up.tolist(), down.tolist(), strict=True))) == 2
    assert len(set(up[10:].tolist())) == 1 and slow.rows == 20


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ('source = "edge9-9", target = "edge0-0"', 'transfer 1: source: there is no router'),
        ('source = "edge0-0#3", target = "edge0-1"', "has hosts 1 to 2"),
        ('source = "edge0-0#2", target = "edge0-0#2"', "1: source and target are one host"),
        ('source = "core0"', "transfer 1: no demand begins at core0"),
        ('target = "core0"', "transfer 1: no demand goes to core0"),
        ('source = "core0", target = "edge0-1"', "no demand goes|has hosts|has no hosts"),
        ('source = "edge0-0", route = ["edge0-0->x"], target = "edge0-1"', "there is no link"),
        ('source = "edge0-0", target = "edge1-0", route = ["edge0-0->pod0-0"]', "do not lead from"),
    ],
)  # fmt: skip
def test_a_row_that_leads_nowhere_is_refused(row, says):
    with pytest.raises(ScenarioError, match=says):
        on_tree(f'size = "1 kB", {row}')


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("start_s\n1\n", "no column size_bytes"),
        ("start_s,size_bytes,color\n0,1,red\n", "column .*color"),
        ("start_s,size_bytes\n0,9\n0,x\n", 'row 2: size_bytes is "x", no number'),
        ("start_s,size_bytes,rtt_s\n0,1,1\n0,1,\n", "row 2: rtt_s is blank; a number is needed"),
        ("start_s,size_bytes\n0,0\n", "row 1: size_bytes is 0"),
        ("start_s,size_bytes,congestion_control\n0,1,renno\n", "row 1: .*renno"),
        ("start_s,size_bytes\n0,1,2\n", "row 1 has not 2 cells"),
    ],
)
def test_a_table_with_a_mistake_is_refused(tmp_path, text, says):
    with pytest.raises(ScenarioError, match=says):
        of_table(tmp_path, text)


PACKET = 1500 * 8
WIRE, SHAPED = 20e6, 5e6
PAYLOAD = 1448


def flows(shaper: Any, access: str = "1 Gbit/s") -> FlowTable:
    sizes = {"1 s": 1, "3 s": 20, "6 s": 40, "10 s": 200}
    transfers = [{"start": at, "size": f"{packets * PAYLOAD} B"} for at, packets in sizes.items()]
    changes = {
        "link.rate": "20 Mbit/s", "link.shaper": shaper, "queue.size": "5000 packets",
        "traffic.0.transfers": transfers, "traffic.0.initial_window": 1000,
        "traffic.0.access_rate": access, "measure.duration": "20 s",
    }  # fmt: skip
    one = loads(LINK + 'transfers = [{ start = "0 s", size = "1 B" }]\n')
    return forebay.run(one.replace(changes)).flows()


@pytest.mark.parametrize(
    ("shaper", "bucket"),
    [
        ({"rate": "5 Mbit/s", "burst": "50 kB"}, 400e3),
        ({"rate": "5 Mbit/s", "burst": "20 kB", "excess": "10 kB"}, 240e3),
        ({"rate": "5 Mbit/s", "refill": "deficit"}, PACKET),
    ],
)
def test_a_shaper_passes_its_bucket_at_the_rate_of_the_wire(shaper, bucket):
    table = flows(shaper)
    bits = 8 * table["size_bytes"]
    tokens = np.maximum(0.0, bits - bucket) / SHAPED + PACKET / WIRE
    by_hand = PACKET / 1e9 + 5e-3 + np.maximum(bits / WIRE, tokens)
    assert table["ideal_s"] == pytest.approx(by_hand, rel=1e-9)
    assert table["slowdown"] == pytest.approx(np.ones(4), rel=1e-9)


def test_a_slower_access_link_is_the_slowest_of_all():
    table = flows({"rate": "5 Mbit/s", "burst": "50 kB"}, access="4 Mbit/s")
    by_hand = table["size_bytes"] * 8 / 4e6 + PACKET / WIRE + 5e-3
    assert table["ideal_s"] == pytest.approx(by_hand, rel=1e-9)


def test_who_waits_for_a_refill_is_slower_than_the_ideal():
    table = flows({"rate": "5 Mbit/s", "burst": "20 kB", "refill": "interval"})
    assert min(table["slowdown"]) > 1 - 1e-9 and max(table["slowdown"]) > 1.5


RTT = 0.08
DELAYS = (0.010, 0.015, 0.005)
RATES = (100e6, 50e6, 200e6)
NAMES = ["bottleneck", "second", "third"]
BITS = 12_000.0


def completion_s(forward: int, back: int, packets: int) -> float:
    """Return the median over a route of so many links, and ACKs over so many."""
    first, *others = (
        {"name": name, "rate": f"{rate} bit/s", "delay": f"{delay} s"}
        for name, rate, delay in zip(NAMES, RATES, DELAYS, strict=True)
    )
    short = {
        "kind": "short", "load": 0.002, "length": f"{packets} packets", "rtt": f"{RTT} s",
        "route": NAMES[:forward], "return_route": NAMES[:back], "access_rate": "1 Gbit/s",
    }  # fmt: skip
    queue = {"size": "1000 packets"}
    asked = {
        "link.rate": first["rate"], "link.delay": first["delay"], "queue": queue,
        "links": [{**each, "queue": queue} for each in others], "traffic": [short],
        "measure.duration": "20 s",
    }  # fmt: skip
    (kind,) = forebay.run(scenario(asked), jobs=1).classes
    return kind.fct_s.p50.value


@pytest.mark.parametrize("back", [0, 1, 2, 3])
@pytest.mark.parametrize("forward", [1, 2, 3])
def test_one_packet_over_an_empty_network(forward, back):
    """Access, each wire, the propagation between the links, and half of what the rtt has left."""
    inside = sum(DELAYS[: forward - 1])
    edge = RTT - inside - sum(DELAYS[: max(back - 1, 0)])
    wires = sum(BITS / rate for rate in RATES[:forward])
    whole = BITS / 1e9 + wires + inside + edge / 2
    assert completion_s(forward, back, packets=1) == pytest.approx(whole, abs=1e-11)


@pytest.mark.parametrize("forward", [1, 2, 3])
def test_several_packets_wait_for_the_slowest_link(forward):
    """Ten at once: behind the first, nine more times the longest time on a wire."""
    inside = sum(DELAYS[: forward - 1])
    wires = [BITS / rate for rate in RATES[:forward]]
    whole = BITS / 1e9 + sum(wires) + 9 * max(wires) + inside + (RTT - inside) / 2
    assert completion_s(forward, 0, packets=10) == pytest.approx(whole, abs=1e-11)
