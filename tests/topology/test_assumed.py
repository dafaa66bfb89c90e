"""What a network assumes where its file has no speed and no place."""

from pathlib import Path

import pytest
from tests.refused import refused

import forebay
from forebay.scenario import Scenario, loads
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
