"""Files of networks as people have them: yEd's GraphML, GML, REPETITA, SNDlib, several parts."""

import re
from pathlib import Path

import pytest
from tests.cases import rows
from tests.refused import refused

from forebay.api import networks
from forebay.scenario import Scenario
from forebay.search.remarks import assumed
from forebay.topology import build
from forebay.topology.graph import Graph


def scenario(folder: Path, text: str, name: str, *more: str) -> Scenario:
    path = folder / name
    path.write_text(text, "utf-8")
    return networks.load(path, ["link.delay=1 ms", *more])


def graph(folder: Path, text: str, name: str, *more: str) -> Graph:
    return build(scenario(folder, text, name, *more))


YED = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://www.yworks.com/xml/graphml">
<key for="port" id="d0" yfiles.type="portgraphics"/>
<key for="node" id="d1" yfiles.type="nodegraphics"/>
<key for="edge" id="d2" yfiles.type="edgegraphics"/>{keys}
<graph edgedefault="undirected" id="G">
<node id="n0">{first}<data key="d1"><y:ShapeNode><y:Geometry x="1" y="2"/>
<y:NodeLabel alignment="center">Turin<y:LabelModel/></y:NodeLabel></y:ShapeNode></data></node>
<node id="n1"><data key="d1"><y:ImageNode><y:NodeLabel> Padua
Nord</y:NodeLabel></y:ImageNode></data></node>
<node id="n2"><data key="d1"><y:ShapeNode><y:NodeLabel/></y:ShapeNode></data></node>
<edge id="e0" source="n0" target="n1"><data key="d2"><y:PolyLineEdge/></data>{speed}</edge>
<edge id="e1" source="n1" target="n2"/>
</graph></graphml>"""
LABEL = '<key id="l" for="node" attr.name="label" attr.type="string"/>'
SPEED = '<key id="s" for="edge" attr.name="LinkSpeedRaw"/>'


@pytest.mark.parametrize(
    ("keys", "first", "speed", "names", "rate"),
    [
        ("", "", "", ["Turin", "Padua Nord", "n2"], 10e9),
        (SPEED, "", '<data key="s">622000000</data>', ["Turin", "Padua Nord", "n2"], 622e6),
        # a label of its own is not replaced by a drawing's
        (LABEL, '<data key="l">Torino</data>', "", ["Torino", "Padua Nord", "n2"], 10e9),
        # nor is a drawing's by a default
        (LABEL.replace("/>", "><default>City</default></key>"), "", "",
         ["Turin", "Padua Nord", "City"], 10e9),
        ('<key id="q" for="node" attr.name="note"/>', '<data key="q">x</data>', "",
         ["Turin", "Padua Nord", "n2"], 10e9),
    ],
)  # fmt: skip
def test_what_yed_writes(tmp_path, keys, first, speed, names, rate):
    text = YED.format(keys=keys, first=first, speed=speed)
    made = graph(tmp_path, text, "drawn.graphml")
    assert made.names == names and made.links == 4
    assert made.rate_bps[made.link_names.index(f"{names[0]}->{names[1]}")] == rate


GML = """Creator "someone"
{before}graph [
  {directed}
  label "a net"
  node [ id 3 label "K&#246;ln" Longitude 6.96 Latitude 50.94 ]
  node [
    id 5
    label "Bonn" graphics [ x 1.0 y 2.0 ]
  ]
  edge [ source 3 target 5 LinkSpeedRaw 2500000000.0 LinkLabel "2.5G" ]
]
"""


@pytest.mark.parametrize(
    ("before", "directed", "links"),
    [("", "directed 0", 2), ("# made by hand\n", "", 2), ("Version 1\n", "directed 1", 2)],
)
def test_gml(tmp_path, before, directed, links):
    both = ["topology.both_directions=true"] if "1" in directed else []
    made = graph(tmp_path, GML.format(before=before, directed=directed), "zoo.gml", *both)
    assert made.names == ["Köln", "Bonn"] and made.links == links
    assert set(made.rate_bps.tolist()) == {2.5e9}


REPETITA = """NODES 3
label x y
0_Oslo 10.75 59.91
1_Bergen 5.32 60.39
2_Stavanger 5.73 58.97

EDGES 4
label src dest weight bw delay
edge_0 0 1 {weight} 10000000 1500
edge_1 1 0 10 10000000 1500
edge_2 1 2 10 {kbits} 800
edge_3 2 1 10 2500000 800
"""


def test_repetita(tmp_path):
    made = graph(tmp_path, REPETITA.format(weight=10, kbits=2_500_000), "no.graph")
    assert made.names == ["0_Oslo", "1_Bergen", "2_Stavanger"]
    assert made.rate_bps.tolist() == [1e10, 1e10, 2.5e9, 2.5e9]
    assert made.delay_s.tolist() == pytest.approx([1.5e-3, 1.5e-3, 8e-4, 8e-4])
    weighted = scenario(tmp_path, REPETITA.format(weight=7, kbits=9), "w.graph")
    assert any("weights of its edges are not used" in each for each in assumed(weighted))


GRAPH = REPETITA.format(weight=1, kbits=9)
# The file's name, its text, where \\n begins a new line, and what is said.
NO_NETWORKS = rows(r"""
bad.gml | graph [\n node [ id 0 label ]\n] | is not GML: "]" after "label"
bad.gml | graph [\n node [ id 0 ]\n | ends early
bad.gml | graph [\n node [ id 0 ]\n edge [ source 0 target 9 ]\n] | ends at 9, which is no node
bad.gml | graph [\n node [ id "one" ]\n] | the id of a node is one; write a whole number
bad.gml | graph [ ] | has no nodes
bad.graph | ?SNDlib native format; type: network; version: 1.0\nNODES (\n)\n | SNDlib XML
a.txt | ?SNDlib native format; type: network; version: 1.0\n | SNDlib's native format
a.json | {"nodes": [], "links": []} | is JSON, which is not read
a.json | [\n {"source": 1}] | is JSON, which is not read
a.dot | digraph "a b" {\n a -> b\n} | is Graphviz DOT, which is not read; convert it to GraphML
a.gv | strict graph {\n a -- b\n} | is Graphviz DOT, which is not read; convert it to GraphML
net.txt | Topology: ( 2 Nodes, 1 Edges )\nModel (1 - RTWaxman):  2 1000 | in BRITE's format
net.txt | *Vertices 2\n1 "a"\n2 "b"\n*Edges\n1 2 | in Pajek's format
net.txt | source,target,weight\nA,B,1\n | a table of links
net.txt | name: lab\ntopology:\n  nodes:\n | YAML
net.txt | 1 @Atlanta,+GA bb (3) ->2 3 4 | in Rocketfuel's format
net.graphml | hello | nor XML
net.gml | hello | nor XML
net.graph | hello | nor XML
net.xml | <svg/> | is <svg>; write the path of a GraphML, SNDlib XML, GML or
""")
SO = "and its name does not say so; give it a name that ends in "
NO_NETWORKS += [
    ["a.net", "<?xml version='1.0'?><graphml/>", f"is XML, {SO}.graphml or .xml"],
    ["a.txt", "# a net\ngraph [ node [ id 0 ] ]", f"is GML, {SO}.gml"],
    ["a.topo", "NODES 2\nlabel x y\n", f"is REPETITA, {SO}.graph"],
    ["bad.gml", "graph [ " + "a [ " * 100 + "] " * 101, "is not GML"],
    ["bad.graph", REPETITA.format(weight=1, kbits="many"), "the kbit/s of"],
    ["bad.graph", GRAPH.replace("edge_1 1 0 10", "edge_1 1 7 10"), 'there is no node "7"'],
    ["bad.graph", GRAPH.replace("edge_3 2 1 10 2500000 800", "edge_3 2 1"), "line 12 has 3 words"],
]


@pytest.mark.parametrize(("name", "text", "said"), NO_NETWORKS)
def test_a_file_is_refused_by_what_it_is(tmp_path, name, text, said):
    """Also beside connections, which were called without effect because the scenario says them."""
    (tmp_path / name).write_text(text.replace(r"\n", "\n"))
    for connections in (None, 5):
        with refused(re.escape(said)) as error:
            build(networks.load(tmp_path / name, connections=connections))
        assert "TOML" not in str(error.value), "which is what a file of unknown text is taken for"


ISLANDS = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key attr.name="label" attr.type="string" for="node" id="a"/><graph edgedefault="undirected">
{nodes}{edges}</graph></graphml>"""


def islands(names: str, edges: list[str]) -> str:
    return ISLANDS.format(
        nodes="".join(f'<node id="{n}"><data key="a">{n}</data></node>' for n in names),
        edges="".join(f'<edge source="{edge[0]}" target="{edge[1]}"/>' for edge in edges),
    )


@pytest.mark.parametrize(
    ("names", "edges", "kept", "said"),
    [
        ("PQRX", ["PQ", "QR"], "PQR", '"X"'),
        ("XPQR", ["PQ", "QR"], "PQR", '"X"'),  # the first router may be the lonely one
        ("ABCDE", ["AB", "CD", "DE"], "CDE", '"A", "B"'),
        ("ABCDEFGHIJ", ["AB", "BC", "CD"], "ABCD", '"E", "F", "G", "H", "I" and 1 more'),
    ],
)
def test_the_largest_part(tmp_path, names, edges, kept, said):
    text = islands(names, edges)
    with refused(f"no link leads from the largest to {said}"):
        graph(tmp_path, text, "parts.graphml")
    asked = scenario(tmp_path, text, "parts.graphml", "topology.largest_part=true")
    assert build(asked).names == list(kept)
    assert any(each.startswith(f"left out, because no link leads there: {said}")
               for each in assumed(asked))  # fmt: skip


SND = """<network xmlns="http://sndlib.zib.de/network"><meta>{unit}</meta><networkStructure>
<nodes coordinatesType="geographical"><node id="P"><coordinates><x>1</x><y>50</y></coordinates>
</node><node id="Q"><coordinates><x>2</x><y>51</y></coordinates></node></nodes><links>
<link id="l"><source>P</source><target>Q</target>{modules}</link></links></networkStructure>
<demands><demand id="d"><source>P</source><target>Q</target><demandValue>{demand}</demandValue>
</demand></demands></network>"""
INSTALLED = "<preInstalledModule><capacity>{}</capacity><cost>0</cost></preInstalledModule>"
BOUGHT = (
    "<additionalModules><addModule><capacity>155.0</capacity></addModule><addModule>"
    "<capacity>{}</capacity></addModule></additionalModules>"
)
NO_UNIT, NONE = "no unit in the file: read as Mbit/s", "no installed capacity on 1 link"


@pytest.mark.parametrize(
    ("unit", "modules", "demand", "rate", "offered", "said"),
    [
        ("", INSTALLED.format("2480.0") + BOUGHT.format("40000.0"), 620, 2.48e9, 0.25, [NO_UNIT]),
        ("<unit>MBITPERSEC</unit>", INSTALLED.format("622") + BOUGHT.format("40000"), 311, 622e6,
         0.5, []),
        ("<unit>GBITPERSEC</unit>", INSTALLED.format("0.0") + BOUGHT.format("400"), 100, 4e11, 0.25,
         [NONE]),
        ("", BOUGHT.format("40.0").replace("155.0", "10.0"), 8, 40e6, 0.2, [NO_UNIT, NONE]),
        ("", BOUGHT.format("1.0E9"), 1000, 1e13, 1e-4,
         [NO_UNIT, NONE, "unlimited capacity on 1 link: 10 Tbit/s taken"]),
    ],
)  # fmt: skip
def test_sndlib_units_and_modules(tmp_path, unit, modules, demand, rate, offered, said):
    made = scenario(tmp_path, SND.format(unit=unit, modules=modules, demand=demand), "s.xml")
    built = build(made)
    assert built.rate_bps[0] == rate
    assert built.offered_bps == pytest.approx(offered * rate)
    notes = [each for each in assumed(made) if "file" in each or "capacity" in each]
    assert [note[: len(start)] for note, start in zip(notes, said, strict=True)] == said


def test_a_unit_of_the_scenario_is_no_guess(tmp_path):
    text = SND.format(unit="", modules=INSTALLED.format("10"), demand=2)
    made = scenario(tmp_path, text, "s.xml", "topology.file_unit=1 Gbit/s")
    assert build(made).rate_bps[0] == 10e9 and build(made).offered_bps == 2e9
    assert not any("no unit" in each for each in assumed(made))
    mixed = assumed(scenario(tmp_path, text, "s.xml"))
    assert any("links of 10 Mbit/s, demands of 2 Mbit/s together" in each for each in mixed)
    text = SND.format(unit="", modules=INSTALLED.format("10"), demand="1125.0119999999998")
    digits = assumed(scenario(tmp_path, text, "s.xml"))
    assert any("demands of 1.125 Gbit/s together" in each for each in digits)


def test_groups_of_yed_are_read_as_their_nodes(tmp_path):
    label = "<data key='d'><y:ShapeNode><y:NodeLabel>{}</y:NodeLabel></y:ShapeNode></data>"
    node = "<node id='{}'>" + label + "{}</node>"
    inner = node.format("g::0", "Trier", "") + node.format("g::1", "Mainz", "")
    within = node.format("h", "Within", f"<graph id='hg'>{node.format('h::0', 'Ulm', '')}</graph>")
    group = node.format("g", "Group", f"<graph id='gg'>{inner}{within}</graph>")
    pairs = [("a", "g::0"), ("g::0", "g::1"), ("g::1", "h::0")]
    edges = "".join(f"<edge source='{one}' target='{other}'/>" for one, other in pairs)
    text = (
        '<graphml xmlns:y="http://www.yworks.com/xml/graphml"><key for="node" id="d" '
        'yfiles.type="nodegraphics"/><graph edgedefault="undirected">'
        f"{node.format('a', 'Bonn', '')}{group}{edges}</graph></graphml>"
    )
    made = graph(tmp_path, text, "groups.graphml")
    assert sorted(made.names) == ["Bonn", "Mainz", "Trier", "Ulm"] and made.links == 6
