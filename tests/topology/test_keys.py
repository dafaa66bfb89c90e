"""Keys of others' network files: read, guessed and said, or listed as not read."""

from pathlib import Path

import pytest

from forebay.api import networks
from forebay.scenario import ScenarioError
from forebay.search.remarks import assumed
from forebay.topology import build

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
    return float(made.rate_bps[0]), float(made.delay_s[0]), " | ".join(assumed(scenario))


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
