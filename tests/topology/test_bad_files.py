"""Files of networks that say what cannot be: one line, exit status 2, and the place."""

import pytest
from tests.topology.build import HEAD, network
from tests.topology.test_topology import BOMB, GRAPHML, LINES, SNDLIB, in_file

from forebay.scenario import ScenarioError, loads
from forebay.topology import build

DELAY = '<key id="d2" for="edge" attr.name="delay_s" attr.type="double"/>\n<graph '
HOSTS = '<key id="d3" for="node" attr.name="hosts" attr.type="int"/>\n<graph '
PLACES = """<key id="d4" for="node" attr.name="Longitude" attr.type="string"/>
<key id="d5" for="node" attr.name="Latitude" attr.type="string"/>
<graph """
AT = '</data><data key="d4">{}</data><data key="d5">{}</data></node>'
FIRST = '<data key="d1">155000000</data>'


def changed(text: str, *changes: tuple[str, str]) -> str:
    """Return the text with each first string replaced once by the second."""
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return text


def refused(scenario, said):
    with pytest.raises(ScenarioError, match=said) as error:
        build(scenario)
    assert "\n" not in str(error.value) and error.value.exit_status == 2


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ([("155000000", "0")], 'LinkSpeedRaw of Ulm->Bonn is "0.0"; write 1000 to'),
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
    refused(in_file(tmp_path, changed(GRAPHML, *changes)), said)


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
    refused(in_file(tmp_path, changed(SNDLIB, *changes)), said)


def test_a_bomb_in_sndlib(tmp_path):
    text = BOMB.replace("<graphml>", "<network>").replace("</graphml>", "</network>")
    refused(in_file(tmp_path, text), "entities")


def test_elements_in_elements(tmp_path):
    refused(in_file(tmp_path, "<graphml>" + 10_000 * "<a>" + 10_000 * "</a>" + "</graphml>"), "too")


def test_a_weight_whose_sum_would_overflow(tmp_path):
    path = tmp_path / "matrix.csv"
    path.write_text("source,target,weight\nA,B,1.7e308\nB,A,1.7e308\n")
    refused(network(LINES + f'demand_file = "{path}"\n'), "a weight of 0 to 1e\\+18")


@pytest.mark.parametrize("rows", ["", "A,A,1\n", "A,B,0\n"])
def test_a_matrix_without_demands(tmp_path, rows):
    path = tmp_path / "matrix.csv"
    path.write_text("source,target,weight\n" + rows)
    refused(network(LINES + f'demand_file = "{path}"\n'), "no demand|all demands are zero")


@pytest.mark.parametrize(
    ("topology", "said"),
    [
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
    with pytest.raises(ScenarioError, match=said) as error:
        build(loads(HEAD.format(flows=10) + topology))
    assert "\n" not in str(error.value) and error.value.exit_status == 2
