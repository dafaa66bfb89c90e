"""A member of a LAG or an ECMP group in a table of ports."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from forebay.api.ports import read_ports
from forebay.laws.hashed_members import SURE, Group
from forebay.scenario import Long

HEAD = "name,rate,n,load,rtt,members,largest_flows,largest_share\n"


def hashed(members: int, flows: int, draws: int = 4000) -> NDArray[np.int64]:
    """The flows of each member in some draws, shape (draws, members)."""
    even = [1 / members] * members
    return np.random.default_rng(5).multinomial(flows, even, size=draws)


@pytest.mark.parametrize(("members", "flows"), [(2, 60), (4, 150), (8, 4000), (3, 5)])
def test_every_member_has_a_number_between_the_ends(members, flows):
    low, high = Group(members).flows(flows, flows)
    seen = hashed(members, flows)
    inside = ((seen >= low) | (seen == 0)) & (seen <= high)
    assert np.mean(inside.all(axis=1)) >= SURE - 0.01
    tighter = (seen > low + 1) & (seen < high - 1)
    assert np.mean(tighter.all(axis=1)) < SURE, "a narrower range would not hold it"


@pytest.mark.parametrize(
    ("members", "flows", "share"), [(4, 8, 0.3), (2, 20, 0.5), (16, 100, 0.8), (4, 1, 0.2)]
)
def test_the_fullest_member_is_offered_no_more(members, flows, share):
    seen = hashed(members, flows).max(axis=1)
    loads = 0.6 * (1 - share + share * seen * members / flows)
    found = Group(members, flows, share).load(0.6)
    assert np.mean(loads <= found + 1e-12) >= SURE - 0.01
    assert np.quantile(loads, 0.5) <= found <= loads.max() + 1e-12


def test_few_large_flows_matter_more_than_many():
    few, many = (Group(4, flows, 0.4).load(0.5) for flows in (4, 4000))
    assert few > 0.7 and many == pytest.approx(0.5, abs=0.03)
    assert Group(4).load(0.5) == 0.5


def ports(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "ports.csv"
    path.write_text(HEAD + "\n".join(lines) + "\n")
    return path


def test_a_line_of_a_group_is_that_of_a_member(tmp_path):
    (row,) = read_ports(str(ports(tmp_path, "lag1,400 Gbit/s,150,0.5,30 ms,4,8,0.3")))
    long, short = row.scenario.traffic
    assert isinstance(long, Long)
    low, high = Group(4).flows(150, 150)
    assert row.scenario.link.rate == 1e11
    assert (long.flows.low, long.flows.high) == (low, high) and low < 37.5 < high
    assert short.kind == "short" and short.load == pytest.approx(Group(4, 8, 0.3).load(0.5))
    assert row.note is not None and f"{low}..{high} of 150 flows" in row.note
    (ranged,) = read_ports(str(ports(tmp_path, "lag1,4 Gbit/s,50..150,,30 ms,4,,")))
    (few,) = ranged.scenario.traffic
    assert isinstance(few, Long) and few.flows.low == Group(4).flows(50, 150)[0]


def test_a_group_is_sized_and_another_is_overloaded(tmp_path, printed):
    table = ports(
        tmp_path,
        "small,40 Mbit/s,80,,30 ms,4,,",
        "full,40 Mbit/s,,0.8,30 ms,4,4,0.5",
        "even,40 Mbit/s,,0.5,30 ms,2,,",
    )
    document = json.loads(printed(f"size --ports {table} --budget '6 s' --json", status=3))
    found = {each["name"]: each for each in document["ports"]}
    assert found["small"]["answer"]["recommended"]["packets"] >= 1
    assert found["small"]["note"].startswith("a member of 4, ")
    assert found["full"]["answer"] is None and "add capacity" in found["full"]["error"]
    assert "counted as spread evenly" in found["even"]["note"]
