"""What a network assumes where its file has no speed and no place; and others' keys of them.

Keys are read, guessed and said, or listed as not read.
"""

from pathlib import Path

import pytest
from tests.refused import refused

import forebay
from forebay.api import networks
from forebay.scenario import Scenario, ScenarioError, loads
from forebay.search.remarks import assumed as remarks
from forebay.topology import build
from forebay.topology.building import assumed

FILE = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key attr.name="Latitude" attr.type="double" for="node" id="b"/>
<key attr.name="Longitude" attr.type="double" for="node" id="c"/>
<key attr.name="LinkSpeedRaw" attr.type="double" for="edge" id="d"/>
<graph edgedefault="undirected">
<node id="0"><data key="b">45.5</data><data key="c">9.2</data></node>
<node id="1"><data key="b">41.9</data><data key="c">12.5</data></node>
<node id="2"/>
<edge source="0" target="1"><data key="d">155000000</data></edge>
<edge source="1" target="2"/></graph></graphml>"""


def network(folder: Path, text: str = FILE, link: str = "", more: str = "") -> Scenario:
    (folder / "net.graphml").write_text(text)
    return loads(
        f'[link]\nrate = "10 Gbit/s"\n{link}\n[topology]\nfile = "{folder}/net.graphml"\n{more}\n'
        "[[traffic]]\nflows = 10\n"
    )


def test_links_without_speed_or_place_are_counted(tmp_path):
    assert list(map(str, assumed(network(tmp_path)))) == [
        "1 of 2 links has no speed: 10 Gbit/s (link.rate) assumed",
        "1 of 2 links has no delay and no place: a delay of 0 assumed",
    ]


@pytest.mark.parametrize(
    ("text", "link", "more", "says"),
    [
        (FILE, 'delay = "1 ms"', "", ["1 of 2 links has no speed"]),
        (FILE, "", '[[topology.classes]]\nname = "core"\ndelay = "1 ms"', ["1 of 2 links"]),
        (
            FILE, "", '[[topology.classes]]\nname = "core"\nrate = "1 Gbit/s"',
            ["1 of 2 links has no delay"],
        ),
        (
            FILE.replace("155000000", "1e9").replace('attr.name="LinkSpeedRaw"', 'attr.name="x"'),
            "", "",
            ["not read of the file: x", "2 of 2 links have no speed", "1 of 2 links has no delay"],
        ),
    ],
)  # fmt: skip
def test_what_a_class_or_the_link_gives_is_not_assumed(tmp_path, text, link, more, says):
    found = assumed(network(tmp_path, text, link, more))
    assert len(found) == len(says)
    assert all(str(line).startswith(start) for line, start in zip(found, says, strict=True))


def test_a_network_without_any_distance_is_refused(tmp_path):
    nowhere = FILE.replace("Latitude", "y").replace("Longitude", "x")
    with refused("all delays of its links are 0"):
        build(network(tmp_path, nowhere))
    for chosen in ('delay = "1 ms"', 'delay = "0 s"'):
        build(network(tmp_path, nowhere, chosen))


def test_a_single_link_assumes_nothing_of_a_network():
    assert assumed(loads('[link]\nrate = "1 Gbit/s"\n[[traffic]]\nflows = 1')) == ()


@pytest.mark.parametrize(("engine", "access", "said"), [
    ("simulation", True, True), ("simulation", False, False), ("network", True, False),
])  # fmt: skip
def test_links_of_hosts_that_are_not_listed_are_said(engine, access, said):
    """They drop packets too: what the listed links drop is then not all."""
    classes = ("core", "access") if access else ("core",)
    own = "".join(f'[[topology.classes]]\nname = "{each}"\n' for each in classes)
    text = (
        '[link]\nrate = "10 Mbit/s"\ndelay = "1 ms"\n[queue]\nsize = "20 packets"\n[topology]\n'
        f'links = [{{ between = ["A", "B"] }}]\n{own}[[traffic]]\nflows = 4\nstart = "0 s"\n'
        '[measure]\nwarmup = "0 s"\nduration = "1 s"\n'
    )
    found = forebay.run(loads(text), engine=engine).assumptions
    assert any("are not listed" in each for each in found) == said


GML = """graph [
  {directed}
  node [ id 0 label "A" {a} ]
  node [ id 1 label "B" {b} ]
  edge [ source 0 target 1 {edge} ]
  {more}
]
"""
KM_S = 1 / 200_000


def load(
    folder: Path, edge: str = "", a: str = "", b: str = "", directed: str = "", more: str = "",
    *overrides: str,
) -> tuple[float, float, str]:  # fmt: skip
    """Return rate and delay of the only link, and all that is said of the file."""
    path = folder / "n.gml"
    path.write_text(GML.format(directed=directed, a=a, b=b, edge=edge, more=more))
    scenario = networks.load(path, ["link.delay=7 ms", *overrides])
    made = build(scenario)
    return float(made.rate_bps[0]), float(made.delay_s[0]), " | ".join(remarks(scenario))


@pytest.mark.parametrize(
    ("edge", "rate", "said"),
    [
        ("capacity 2500", 2.5e9, "capacity has no unit in the file: read as Mbit/s (up to 2.5 Gb"),
        ("bandwidth 20.5", 20.5e6, "bandwidth has no unit"),
        ("Bw 1000000000", 1e9, "bw has no unit in the file: read as bit/s"),
        ('capacity "10 Gbit/s"', 1e10, ""),
        ('bandwidth "622Mbps"', 622e6, ""),
        ('bw "10G"', 1e10, ""),
        ('bw "155.52 Mb/s"', 155.52e6, ""),
        ("LinkSpeedRaw 155000000 capacity 5", 155e6, "not read of the file: capacity of links (1)"),
        ('capacity "many"', 1e10, "not read of the file: capacity of links (1)"),
        ('LinkNote "x" LinkLabel "y"', 1e10, "linklabel of links (1)"),
    ],
)
def test_capacities(tmp_path, edge, rate, said):
    found, _, told = load(tmp_path, edge)
    assert found == pytest.approx(rate) and said in told
    assert ("no unit" in told) == ("no unit" in said)


@pytest.mark.parametrize(
    ("edge", "delay", "said"),
    [
        ("delay 5", 0.005, "delay has no unit in the file: read as ms"),
        ("latency 12.5", 0.0125, "latency has no unit in the file: read as ms"),
        ('latency "800us"', 8e-4, ""),
        ('delay "15 ms"', 0.015, ""),
        ("delay_s 0.02", 0.02, ""),
        ("dist 3441", 3441 * KM_S, "dist has no unit in the file: read as km"),
        ('length "100 km"', 100 * KM_S, ""),
        ('distance "50 mi"', 50 * 1.609344 * KM_S, ""),
        ("dist 100 latency 9", 0.009, "dist of links (1)"),
        ("weight 10", 0.007, "not read of the file: weight of links (1)"),
        ('delay "soon"', 0.007, "not read of the file: delay of links (1)"),
    ],
)
def test_delays(tmp_path, edge, delay, said):
    _, found, told = load(tmp_path, edge)
    assert found == pytest.approx(delay) and said in told


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("lon -84.38 lat 33.75", "lon -122.03 lat 37.38"),
        ("Longitude -84.38 Latitude 33.75", "Longitude -122.03 Latitude 37.38"),
        ("lng -84.38 LAT 33.75", "lng -122.03 LAT 37.38"),
    ],
)
def test_places(tmp_path, a, b):
    """The great circle from Atlanta to Sunnyvale is some 3420 km."""
    _, delay, told = load(tmp_path, "", a, b)
    assert delay == pytest.approx(3420 * KM_S, rel=0.01) and "not read" not in told


def test_keys_that_are_not_read_are_counted(tmp_path):
    _, _, told = load(tmp_path, 'color "red"', 'Country "US" Internal 1', 'Country "CH"')
    assert "not read of the file: country of nodes (2), " in told
    assert "internal of nodes (1)" in told and "color of links (1)" in told
    many = " ".join(f"k{n} {n}" for n in range(9))
    assert "and 3 more" in load(tmp_path, many)[2] or "3 more keys" in load(tmp_path, many)[2]


def test_the_unit_may_be_said(tmp_path):
    rate, _, told = load(tmp_path, "capacity 4", "", "", "", "", "topology.file_unit=10 Gbit/s")
    assert rate == 4e10 and "no unit" not in told


@pytest.mark.parametrize(
    ("edge", "said"),
    [
        ("capacity 0", "capacity of A->B in bit/s"),
        ("capacity -4", "capacity of A->B in bit/s"),
        ('bandwidth "10 parsecs"', "bandwidth of A->B"),
        ("delay -1", "delay of A->B in seconds"),
        ("length 99999999", "length of A->B in seconds"),
    ],
)
def test_values_that_cannot_be_are_refused(tmp_path, edge, said):
    with pytest.raises(ScenarioError, match=said):
        load(tmp_path, edge)


def test_directed_links_that_stand_once(tmp_path):
    with pytest.raises(ScenarioError, match=r"each stands once.*both_directions"):
        load(tmp_path, directed="directed 1")
    path = tmp_path / "n.gml"
    both = networks.load(path, ["link.delay=7 ms", "topology.both_directions=true"])
    assert build(both).links == 2
    load(tmp_path, directed="directed 1", more="edge [ source 1 target 0 ]")
    ring = 'node [ id 2 label "C" ] edge [ source 1 target 2 ] edge [ source 2 target 0 ]'
    load(tmp_path, directed="directed 1", more=ring)  # what comes back goes around
    chain = 'node [ id 2 label "C" ] edge [ source 1 target 2 ]'
    with pytest.raises(ScenarioError, match="its 2 links have a direction"):
        load(tmp_path, directed="directed 1", more=chain)
