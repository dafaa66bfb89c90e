"""Files of networks that say what cannot be: one line, exit status 2, and the place."""

import pytest
from tests.refused import refused
from tests.topology.build import network
from tests.topology.test_topology import BOMB, GRAPHML, LINES, SNDLIB, in_file

from forebay.topology import build, make_problem

DELAY = '<key id="d2" for="edge" attr.name="delay_s" attr.type="double"/>\n<graph '
HOSTS = '<key id="d3" for="node" attr.name="hosts" attr.type="int"/>\n<graph '
PLACES = """<key id="d4" for="node" attr.name="Longitude" attr.type="string"/>
<key id="d5" for="node" attr.name="Latitude" attr.type="string"/>
<graph """
AT = '</data><data key="d4">{}</data><data key="d5">{}</data></node>'
HEADER = "source,target,weight\n"
FIRST = '<data key="d1">155000000</data>'


def changed(text: str, *changes: tuple[str, str]) -> str:
    """Return the text with each first string replaced once by the second."""
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return text


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ([("155000000", "0")], 'LinkSpeedRaw of Ulm->Bonn is "0"; write 1000 to'),
        ([("155000000", "-5")], "LinkSpeedRaw"),
        ([("155000000", "nan")], "LinkSpeedRaw"),
        ([("<graph ", DELAY), (FIRST, '<data key="d2">-0.001</data>')], 'delay_s .* "-0.001"'),
        ([("<graph ", DELAY), (FIRST, '<data key="d2">nan</data>')], "write 0 to 60"),
        ([("<graph ", HOSTS), ("</data></node>", '</data><data key="d3">-5</data></node>')],
         'hosts of "Ulm" is "-5"'),
        ([("<graph ", HOSTS.replace("int", "double")),
          ("</data></node>", '</data><data key="d3">0.5</data></node>')], '"0.5"; write a whole'),
        ([('<edge source="1" target="2"/>', '<edge source="1" target="9"/>')], '"9", which is no'),
        ([("<graph ", PLACES), ("</data></node>", AT.format("inf", 1))], 'of "Ulm" is "inf"'),
        ([("<graph ", PLACES), ("</data></node>", AT.format(1, "48 N"))], 'of "Ulm" is "48 N"'),
        ([("<graph ", PLACES), ("</data></node>", AT.format(1, 4000)),
          ("Bonn</data></node>", "Bonn" + AT.format(1, 2))], "1, latitude 4000; write up"),
        ([("Ulm", "Ul&#x9b;31m")], "character that cannot be printed"),
        ([("<edge source=\"0\" target=\"1\">", "<edge source=\"0\" target=\"0\">"),
          ('<edge source="1" target="2"/>', "")], "there is no link"),
    ],
)  # fmt: skip
def test_graphml(tmp_path, changes, said):
    with refused(said):
        build(in_file(tmp_path, changed(GRAPHML, *changes)))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ([("622.0", "0.0")], "capacity of Ulm->Bonn is 0 bit/s; write"),
        ([("622.0", "-5")], 'is "-5"'),
        ([("<target>Bonn", "<target>Ulm")], "to itself"),
        ([("<target>Bonn", "<target>Rome")], 'no router "Rome"'),
        ([("<target>Ulm", "<target>Rome")], 'no router "Rome"'),
        ([('node id="Bonn"', 'node id="Ulm"')], 'two nodes are "Ulm"'),
        ([("3.5", "-3.5")], 'demandValue of Bonn->Ulm is "-3.5"'),
        ([("3.5", "many")], "demandValue"),
        ([("9.99", "inf")], 'a coordinate of "Ulm" is "inf"'),
        ([('node id="Ulm"', "node")], 'the id of a node is ""; write 1 to 64'),
        ([('node id="Ulm"', f'node id="{65 * "U"}"')], "write 1 to 64 characters"),
        ([("3.5", "0")], "all demands are zero"),
    ],
)
def test_sndlib(tmp_path, changes, said):
    with refused(said):
        build(in_file(tmp_path, changed(SNDLIB, *changes)))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BOMB, "entities"),
        (BOMB.replace("graphml>", "network>"), "entities"),
        ("<graphml>" + 10_000 * "<a>" + 10_000 * "</a>" + "</graphml>", "has no nodes"),
        (GRAPHML.replace(' edgedefault="undirected"', ""), "has no edgedefault"),
        (GRAPHML.replace('"undirected"', '"both"'), 'edgedefault "directed" or "undirected"'),
        (GRAPHML.replace('<node id="2"/>', "<node/>"), "a node has no id"),
        (GRAPHML.replace('<node id="2"/>', '<node id="1"/>'), "two nodes have one id"),
        (GRAPHML.replace("</graph>", "<hyperedge/></graph>"), "it has hyperedges"),
        ("<graphml", "nor XML"),
        ("<svg/>", "is <svg>"),
        (b"\xff\xfe", "nor XML"),
    ],
)
def test_a_file_that_is_no_network(tmp_path, text, said):
    path = tmp_path / "given.xml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with refused(said):
        build(network(f'file = "{path}"\n'))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n", "header"),
        (HEADER + "A,B,-1\n", "line 2"),
        (HEADER + "A,Q,1\n", 'no router "Q"'),
        (HEADER + "A,B,1.7e308\nB,A,1.7e308\n", "a weight of 0 to 1e\\+18"),
        (HEADER, "no demand|all demands are zero"),
        (HEADER + "A,A,1\n", "no demand|all demands are zero"),
        (HEADER + "A,B,0\n", "no demand|all demands are zero"),
    ],
)
def test_a_matrix_that_is_none(tmp_path, text, said):
    path = tmp_path / "matrix.csv"
    path.write_text(text)
    with refused(said):
        build(network(LINES + f'demand_file = "{path}"\n'))


@pytest.mark.parametrize(
    ("topology", "said"),
    [
        ('links = [{ between = ["A", "B"] }, { between = ["C", "D"] }]\n', "in 2 parts"),
        ('links = [{ between = ["A", "B"], rate = "-1 Gbit/s" }]\n', "negative"),
        ('links = [{ between = ["A", "B"], rate = "0 Gbit/s" }]\n', "below the least"),
        (LINES + 'demands = [{ source = "A", target = "X" }]\n', 'no router "X"'),
        (LINES + 'demands = [{ source = "A", target = "B", weight = 0.0 }]\n', "zero"),
        ('links = [{ between = ["A", "A"] }]\n', "to itself"),
        (LINES + "[topology.fat_tree]\n", "are set"),
        ('metric = "hops"\n', "gives no links"),
        (LINES + '[[topology.classes]]\nname = "cor"\n', 'no class of links "core"'),
        ("[topology.fat_tree]\nk = 5\n", "divided by two"),
        ('links = [{ between = ["A", "B"], one_way = true }]\n', "there is no path"),
        ('links = [{ between = ["A", "B"], rate = "nan Gbit/s" }]\n', "not finite"),
        (LINES + 'demands = [{ source = "A", target = "B", weight = nan }]\n', "not in the range"),
        (LINES + 'demands = [{ source = "A", target = "A" }]\n', "zero"),
        ("links = []\n", "gives no links"),
        ('nodes = [{ name = "A", hosts = 3 }]\n', "gives no links"),
        ("[topology.isp]\nedges = 0\n", "edges: 0 is below the least"),
        ("[topology.two_level]\nedges = 1\n", "edges: 1 is below the least"),
        ('links = [{ between = ["A", "B"], delay = "-1 ms" }]\n', "negative"),
        ('links = [{ between = ["A", ""] }]\n', "between.1: .* write at least one character"),
        ('links = [{ between = ["A\\u001b[31m", "B"] }]\n', "character that cannot be printed"),
        ('demand_file = "none.csv"\n' + LINES, r"or \(of a matrix\) CSV file"),
        ('nodes = [{ name = "A", hosts = 3 }, { name = "A", hosts = 1 }]\n' + LINES, "there twice"),
    ],
)
def test_a_topology_by_hand(topology, said):
    with refused(said):
        make_problem(network(topology))


def test_a_network_without_connections():
    with refused("below the least, 1"):
        network(LINES, 0)
