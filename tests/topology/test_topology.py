"""Generators and files: counts, names, and what is refused; chords of cores, uneven hosts."""

import os
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import shortest_path
from tests.refused import refused
from tests.topology.build import HEAD, distances, network

from forebay.scenario import Scenario, loads
from forebay.scenario.topology import TwoLevel
from forebay.topology import build, make_problem
from forebay.topology.generators import abilene, draw_chords, two_level

ACCESS = '[[topology.classes]]\nname = "{}"\n'
TWO_LEVEL = "[topology.two_level]\n" + "".join(
    ACCESS.format(name) for name in ("core", "middle", "edge", "access")
)
GRAPHML = """<?xml version="1.0"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d0" for="node" attr.name="label" attr.type="string"/>
<key id="d1" for="edge" attr.name="LinkSpeedRaw" attr.type="double"/>
<graph edgedefault="undirected">
<node id="0"><data key="d0">Ulm</data></node><node id="1"><data key="d0">Bonn</data></node>
<node id="2"/>
<edge source="0" target="1"><data key="d1">155000000</data></edge>
<edge source="1" target="2"/>
</graph></graphml>"""
SNDLIB = """<?xml version="1.0" encoding="ISO-8859-1"?>
<network xmlns="http://sndlib.zib.de/network" version="1.0"><networkStructure>
<nodes coordinatesType="geographical">
<node id="Ulm"><coordinates><x>9.99</x><y>48.4</y></coordinates></node>
<node id="Bonn"><coordinates><x>7.1</x><y>50.73</y></coordinates></node></nodes>
<links><link id="a"><source>Ulm</source><target>Bonn</target>
<preInstalledModule><capacity>622.0</capacity><cost>0</cost></preInstalledModule></link></links>
</networkStructure><demands><demand id="d"><source>Bonn</source><target>Ulm</target>
<demandValue>3.5</demandValue></demand></demands></network>"""
BOMB = """<?xml version="1.0"?><!DOCTYPE g [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>
<graphml>&b;</graphml>"""


def in_file(folder: Path, text: str, more: str = "") -> Scenario:
    path = folder / "given.xml"
    path.write_text(text, "utf-8")
    return loads(HEAD.format(flows=10) + f'file = "{path}"\n' + more)


@pytest.mark.parametrize("encoding", ["iso-8859-1", "utf-16"])
def test_graphml_in_another_encoding(tmp_path, encoding):
    path = tmp_path / "given.xml"
    head = f'<?xml version="1.0" encoding="{encoding}"?>'
    path.write_text(GRAPHML.replace('<?xml version="1.0"?>', head).replace("Ulm", "Köln"), encoding)
    assert build(network(f'file = "{path}"\n')).names == ["Köln", "Bonn", "2"]


def test_no_two_routers_of_a_file_have_one_name(tmp_path):
    """The second Ulm would be called "Ulm 2" by its id, but another router has that name."""
    again = 'id="2"><data key="d0">Ulm</data></node>'
    text = GRAPHML.replace("Bonn", "Ulm 2").replace('id="2"/>', again)
    assert build(in_file(tmp_path, text)).names == ["Ulm", "Ulm 2", "Ulm 2 2"]


def test_a_label_over_two_lines_is_a_name_in_one(tmp_path):
    assert build(in_file(tmp_path, GRAPHML.replace("Ulm", "Ulm\n  Ost"))).names[0] == "Ulm Ost"


def test_two_level_keeps_the_counts_of_nodes_of_paper_c():
    """Slide 13; with every router below one other, 986 links: errata of paper C."""
    assert (len(abilene()["places"]), len(abilene()["links"]["between"])) == (11, 14)
    graph = build(network(TWO_LEVEL))
    assert (len(graph.names), int(graph.hosts.sum())) == (11 + 54 + 106, 812)
    between = int((graph.kind == 0).sum()) // 2
    hosts = int(graph.count[graph.kind == 1].sum())
    assert (between, hosts) == (14 + 54 + 106, 812)
    assert sorted(np.bincount(graph.hosts)[1:].tolist())[-2:] == [36, 70]  # 7 or 8 on each


def test_a_fat_tree_has_the_counts_of_its_ports_and_all_its_paths():
    scenario = network("[topology.fat_tree]\nk = 4\n")
    problem = make_problem(scenario)
    assert (len(problem.graph.names), int(problem.graph.hosts.sum())) == (4 + 8 + 8, 16)
    assert problem.graph.links == 2 * 32
    # (k/2)^2 = 4 ways between pods, 2 within one
    ends = problem.source * 100 + problem.target
    assert set(np.unique(ends, return_counts=True)[1].tolist()) == {2, 4}
    assert problem.share.sum() == pytest.approx(1.0)


def test_an_isp_has_the_counts_that_are_asked_for():
    graph = build(network("[topology.isp]\ncores = 9\nmetros = 20\nedges = 50\nhosts = 777\n"))
    assert (len(graph.names), int(graph.hosts.sum())) == (79, 777)
    assert graph.links == 2 * (9 + 9 + 40 + 50)


def test_graphml_names_routers_by_label_and_takes_speeds(tmp_path):
    graph = build(in_file(tmp_path, GRAPHML))
    assert graph.names[:2] == ["Ulm", "Bonn"]
    assert graph.link_names[:2] == ["Ulm->Bonn", "Bonn->2"] or "Ulm->Bonn" in graph.link_names
    assert graph.rate_bps[graph.link_names.index("Ulm->Bonn")] == 155e6
    assert graph.rate_bps.max() == 10e9, "a link without a speed has its class's"


def test_sndlib_gives_capacities_demands_and_the_delay_of_light(tmp_path):
    problem = make_problem(in_file(tmp_path, SNDLIB))
    assert problem.graph.rate_bps.tolist() == [622e6, 622e6]
    assert [problem.graph.names[n] for n in (problem.source[0], problem.target[0])] == [
        "Bonn", "Ulm"
    ]  # fmt: skip
    assert problem.graph.delay_s[0] == pytest.approx(332e3 / 2e8, rel=0.02)  # 332 km apart


LINES = 'links = [{ between = ["A", "B"] }, { between = ["B", "C"] }]\n'


def test_a_matrix_from_csv_is_the_demand(tmp_path):
    path = tmp_path / "matrix.csv"
    path.write_text("source,target,weight\nA,C,3\nC,B,1\n")
    problem = make_problem(network(LINES + f'demand_file = "{path}"\n'))
    assert problem.share.tolist() == [0.75, 0.25]


@pytest.mark.parametrize(
    "said", ['rtt="20 ms"', 'route=["bottleneck"]', 'access_rate="1 Gbit/s"', "direction=reverse"]
)
def test_what_the_topology_says_is_not_said_twice(said):
    with refused("with a topology"):
        network(LINES, changes=(f"traffic.0.{said}",))


def test_routes_join_end_to_end_and_are_the_shortest():
    """Against a search of its own, over a network of trees on a ring with chords."""
    problem = make_problem(network("[topology.isp]\nedges = 40\nmetros = 20\ncores = 8\n"))
    graph, n = problem.graph, len(problem.graph.names)
    hops = shortest_path(coo_array((np.ones(graph.links), (graph.source, graph.target)), (n, n)))
    assert problem.hops.tolist() == hops[problem.source, problem.target].tolist()
    for path, (start, end) in enumerate(zip(problem.source, problem.target, strict=True)):
        links = [link for link in problem.paths[:, path] if link < graph.links]
        assert (graph.source[links[0]], graph.target[links[-1]]) == (start, end)
        assert all(graph.target[a] == graph.source[b] for a, b in pairwise(links))


def test_more_pairs_than_are_told_apart_are_drawn_by_weight():
    problem = make_problem(network("max_pairs = 500\n[topology.isp]\nedges = 60\nhosts = 6000\n"))
    assert problem.drawn and problem.pairs <= 500
    assert problem.share.sum() == pytest.approx(1.0)
    began = np.bincount(problem.source, weights=problem.share)
    assert began[began > 0].min() > 0.6 / 60, "every edge router sends about its share"


@pytest.mark.parametrize("path", ["/dev/zero", "{folder}/pipe", "{folder}", "{folder}/none"])
@pytest.mark.parametrize("name", ["file", "demand_file"])
def test_what_is_no_regular_file_is_refused_at_once(tmp_path, name, path):
    os.mkfifo(tmp_path / "pipe")
    named = f'{name} = "{path.format(folder=tmp_path)}"\n'
    with refused(None, "file-unreadable"):
        network(named if name == "file" else LINES + named)


def test_pairs_drawn_too_few_to_leave_a_router_are_refused():
    with refused("write more, or leave it out"):
        make_problem(network("max_pairs = 1\n[topology.isp]\nedges = 60\nhosts = 6000\n"))


TRIANGLE = """
demands = [{ source = "A", target = "B" }]
links = [
  { between = ["A", "B"] }, { between = ["B", "C"], one_way = true },
  { between = ["C", "A"] }, { between = ["C", "B"] },
]
"""


@pytest.mark.parametrize("name", ["A->B", "B->A"])
def test_a_failed_link_is_gone_in_both_directions_and_its_connections_go_round(name):
    whole = make_problem(network(TRIANGLE))
    left = make_problem(network(TRIANGLE, 100, (f'topology.failed=["{name}"]',)))
    assert (whole.hops.tolist(), left.hops.tolist()) == ([1], [2])
    names = set(left.graph.link_names)
    assert names == {"B->C", "C->A", "A->C", "C->B", "B->C#2"}


def test_a_failed_parallel_link_leaves_the_other():
    left = make_problem(network(TRIANGLE, 100, ('topology.failed=["B->C"]',)))
    assert set(left.graph.link_names) == {"A->B", "B->A", "C->A", "A->C", "C->B", "B->C"}


@pytest.mark.parametrize(
    ("names", "says"),
    [('["A->Z"]', 'no link "A->Z"'), ('["A->B", "C->A"]', "2 parts"), ("[3]", "quotes")],
)
def test_a_link_that_cannot_fail_is_refused_in_one_line(names, says):
    with refused(says):
        make_problem(network(TRIANGLE, 100, (f"topology.failed={names}",)))


@pytest.mark.parametrize(
    ("metric", "near", "far"),
    [
        ("delay", 'delay = "0 s"', 'delay = "30 ms"'),
        ("inverse-rate", 'rate = "10 Tbit/s"', 'rate = "1 kbit/s"'),
    ],
)
def test_a_link_that_costs_almost_nothing_is_not_crossed_for_ever(metric, near, far):
    """C is as far from A as from B, so both directions between them would count as shortest."""
    ends = [("A", "B", near), ("B", "C", far), ("A", "C", far)]
    links = ", ".join(f'{{ between = ["{a}", "{b}"], {more} }}' for a, b, more in ends)
    demand = 'demands = [{ source = "A", target = "C" }]\n'
    problem = make_problem(network(f'metric = "{metric}"\n{demand}links = [{links}]\n'))
    assert problem.hops.tolist() == [1]


def core_of(table: TwoLevel) -> set[tuple[int, int]]:
    made = two_level(table)
    pairs = zip(made.source, made.target, made.link_class, strict=True)
    return {(min(a, b), max(a, b)) for a, b, kind in pairs if kind == "core"}


def diameter(routers: int, links: set[tuple[int, int]]) -> int:
    """Return the hops between the two farthest routers, by breadth-first search."""
    both = {(str(a), str(b)) for one, other in links for a, b in ((one, other), (other, one))}
    hops = [distances(both, str(start)) for start in range(routers)]
    assert all(len(each) == routers for each in hops), "connected"
    return max(max(each.values()) for each in hops)


def test_abilene_is_as_it_was():
    assert len(core_of(TwoLevel())) == 14 and diameter(11, core_of(TwoLevel())) == 5


@pytest.mark.parametrize("seed", [1, 2, 3, 40])
def test_drawn_chords_give_the_links_and_the_diameter(seed):
    core = core_of(TwoLevel(core_links=17, core_diameter=3, seed=seed))
    assert len(core) == 17 and diameter(11, core) == 3
    assert core > core_of(TwoLevel())


def test_draws_differ_by_seed_and_are_the_same_for_one():
    cores = [core_of(TwoLevel(core_links=17, core_diameter=3, seed=seed)) for seed in (1, 1, 2)]
    assert cores[0] == cores[1] != cores[2]


def test_every_set_that_fits_can_be_drawn():
    """A ring of six and one chord."""
    ring = [(i, (i + 1) % 6) for i in range(6)]
    free = set(combinations(range(6), 2)) - {(min(pair), max(pair)) for pair in ring}
    fits = {pair for pair in free if diameter(6, {*ring, pair}) == 3}
    drawn = {draw_chords(6, ring, 7, 3, np.random.default_rng(seed))[0] for seed in range(200)}
    assert drawn == fits and fits


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"core_links": 13}, "13 links, where the core has 14"),
        ({"core_links": 56}, "room for 41 more"),
        ({"core_links": 15, "core_diameter": 1}, "no 1 chords make a core"),
        ({"core_links": 30, "core_diameter": 2}, "too many to choose from"),
        ({"chords": ["Denver->Paris"]}, "does not join two core routers"),
        ({"chords": ["Denver->Denver"]}, "does not join two core routers"),
        ({"hosts": 100, "tail": 1.2}, "100 hosts are fewer than the 106 edge routers"),
        ({"tail": 1.2, "spread": 0.5}, "tail and spread are both set"),
        ({"core_links": 17, "chords": ["Denver->Chicago"]}, "core_links and chords are both set"),
        ({"core_diameter": 3}, "holds for drawn chords alone"),
    ],
)
def test_what_cannot_be_built_is_refused(fields, says):
    with refused(says):
        two_level(TwoLevel(**fields))  # type: ignore[arg-type]


def test_chords_by_name_are_added():
    named = core_of(TwoLevel(chords=("Denver->Chicago", "Seattle->New York")))
    assert len(named) == 16


@pytest.mark.parametrize("tail", [1.0, 1.2, 3.0])
def test_hosts_have_a_heavy_tail_and_all_are_given(tail):
    made = two_level(TwoLevel(tail=tail, seed=7))
    hosts = sorted(n for n in made.hosts if n)
    assert sum(hosts) == 812 and len(hosts) == 106
    assert hosts[-1] > 8 * hosts[53] if tail <= 1.2 else hosts[-1] > 2 * hosts[53]
