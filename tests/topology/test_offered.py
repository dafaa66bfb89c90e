"""A matrix as offered load: every link against equal splits by hand, failures and growth too."""

import csv
import json
import random
from pathlib import Path

import pytest
from tests.refused import refused
from tests.topology.build import Link, answer, carried, distances, sndlib, text

import forebay
from forebay.api import networks
from forebay.cli.program import call
from forebay.scenario import loads

# A ring of twelve with three chords, as many links as a national backbone has.
RING = [(f"r{n}", f"r{(n + 1) % 12}") for n in range(12)]
SMALL = [*RING, ("r0", "r6"), ("r2", "r9"), ("r4", "r11")]


def large() -> list[Link]:
    """22 routers and 36 links: a tree, and more links that are drawn."""
    draw = random.Random(7)
    made = {(f"x{draw.randrange(n)}", f"x{n}") for n in range(1, 22)}
    while len(made) < 36:
        a, b = draw.sample(range(22), 2)
        if (f"x{b}", f"x{a}") not in made:
            made.add((f"x{a}", f"x{b}"))
    return sorted(made)


def matrix(links: list[Link], seed: int) -> dict[Link, float]:
    """Return Mbit/s between every two routers."""
    draw = random.Random(seed)
    names = sorted({name for link in links for name in link})
    return {(a, b): round(draw.lognormvariate(2.0, 1.0), 3) for a in names for b in names if a != b}


def saved(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def both_ways(links: list[Link]) -> set[Link]:
    return {*links, *((b, a) for a, b in links)}


CAPACITY = round(1.3 * max(carried(both_ways(SMALL), matrix(SMALL, 3)).values()))
"""Mbit/s of each link: the demand fits, and not with every link down."""


def still_joined(links: list[Link], down: Link) -> bool:
    up = both_ways(links) - {down, down[::-1]}
    return len(distances(up, down[0])) == len({name for link in links for name in link})


@pytest.mark.parametrize("links", [SMALL, large()], ids=["12 routers", "22 routers"])
@pytest.mark.parametrize("growth", [1.0, 1.5])
@pytest.mark.parametrize("failed", [False, True])
def test_every_link_has_the_load_that_equal_splits_give(tmp_path, links, growth, failed):
    demands = matrix(links, 11)
    down = next(link for link in links if still_joined(links, link))
    up = both_ways(links) - ({down, down[::-1]} if failed else set())
    wanted = {link: growth * load for link, load in carried(up, demands).items()}
    capacity = round(1.05 * max(carried(both_ways(links), demands).values()) * 1.5 * 1.4)
    path = saved(tmp_path / "net.xml", sndlib(links, demands, capacity))
    overrides = [f"topology.demand_growth={growth}"]
    if failed:
        overrides.append(f'topology.failed=["{down[0]}->{down[1]}"]')
    found = networks.solve(networks.load(path, overrides)).outcome
    assert len(found.links) == len(wanted)
    for (a, b), load in wanted.items():
        link = found.links[f"{a}->{b}"]
        assert link.offered_load == pytest.approx(load / capacity, abs=1e-9)
        assert load / capacity < 0.99, "nothing is full"
        assert link.utilization.value == pytest.approx(load / capacity, abs=0.01)


def test_the_installed_capacity_is_taken(tmp_path):
    path = saved(tmp_path / "net.xml", sndlib(SMALL, matrix(SMALL, 1), 2480.0))
    found = networks.solve(networks.load(path)).outcome
    assert {link.capacity_bps for link in found.links.values()} == {2.48e9}
    assert not any("module" in each or "unit" in each for each in found.assumptions)
    with refused(r"^link.rate has no effect"):
        networks.load(path, ["link.rate=3 Gbit/s"])
    with refused("^rate has no effect: every link of the file has a capacity"):
        networks.load(path, rate="3 Gbit/s")


@pytest.mark.parametrize(
    ("more", "first", "second"),
    [
        ({"demand_unit": '"10 Mbit/s"'}, 0.6, 0.8),
        ({"demand_total": '"40 Mbit/s"'}, 0.3, 0.4),
        ({"demand_unit": '"5 Mbit/s"', "demand_scale": 2.0, "demand_growth": 0.5}, 0.3, 0.4),
        ({"demand_unit": '"10 Mbit/s"',
          "traffic": 'kind = "udp"\nflows = 10\nload = 0.5'}, 0.3, 0.4),
    ],
)  # fmt: skip
def test_unit_total_scale_and_share(more, first, second):
    found = answer(**more).outcome.links
    assert found["A->B"].offered_load == pytest.approx(first)
    assert found["B->C"].offered_load == pytest.approx(second)


def test_connections_follow_from_their_rate_or_window():
    rate = answer(demand_unit='"10 Mbit/s"', connection_rate='"2 Mbit/s"')
    links = rate.outcome.links
    assert [links[each].flows for each in ("A->B", "B->C")] == pytest.approx([30.0, 40.0])
    # 40 packets of 1500 B each round trip: 24 Mbit/s over 20 ms, 48 over 10 ms
    window = answer(demand_unit='"10 Mbit/s"', connection_window=40)
    links = window.outcome.links
    assert links["A->B"].flows == pytest.approx(60 / 24)
    assert links["B->C"].flows == pytest.approx(60 / 24 + 20 / 48)
    # buffers by rule count them
    assert rate.outcome.links["B->C"].buffer_packets < window.outcome.links["B->C"].buffer_packets


def test_greedy_flows_on_top_fill_what_the_demand_leaves():
    mixed = 'kind = "short"\nlength = "50 kB"\nload = 1.0\n[[traffic]]\nflows = 50'
    links = answer(demand_unit='"5 Mbit/s"', traffic=mixed).outcome.links
    assert links["B->C"].offered_load == pytest.approx(0.4)
    assert links["B->C"].utilization.value > 0.95


def test_a_demand_that_nobody_carries_is_said():
    found = answer(demand_unit='"5 Mbit/s"', traffic="flows = 50").outcome
    assert any("40 Mbit/s of the demand are not offered" in each for each in found.assumptions)
    assert found.links["A->B"].offered_load is None
    bare = answer(traffic="flows = 50").outcome
    assert any("the demand has no unit" in each for each in bare.assumptions)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"demand_growth": 1.5}, "demand_growth: has no effect"),
        ({"connection_rate": '"1 Mbit/s"'}, "connection_rate: has no effect"),
        ({"demand_unit": '"1 Mbit/s"', "demand_total": '"1 Gbit/s"'}, "are both set"),
        ({"demand_unit": '"1 Mbit/s"', "connection_rate": '"1 Mbit/s"', "connection_window": 3},
         "are both set"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(more, said):
    with refused(said):
        answer(**more)


def test_overload_is_a_matter_of_capacity_first(tmp_path, capsys, printed):
    path = saved(
        tmp_path / "full.toml", text(demand_unit='"13 Mbit/s"') + "[goals]\nloss_rate = 0.01\n"
    )
    said = printed(f"network {path}")
    assert "B->C is offered 104 %: add capacity" in said
    assert said.index("add capacity") < said.index("hops")
    assert call(["size", str(path), "--engine", "network", "--link", "B->C"]) in (1, 3)
    said = " ".join(capsys.readouterr().out.split())
    assert "No buffer meets the goals: B->C is offered 104 %: add capacity" in said


def test_a_goal_on_utilization_holds_where_load_reaches_it():
    goal = "[goals]\nutilization = 0.95\n"
    found = forebay.size(loads(text(traffic="flows = 40") + goal), "network", link_class="core")
    assert found.buffer is not None, "A->B is emptier, and no buffer fills it"
    with refused(r"B->C is the fullest and is used to 40 %", status=1):
        light = loads(text(demand_unit='"5 Mbit/s"') + goal)
        forebay.size(light, "network", link_class="core")


def test_the_simulator_refuses_a_share_of_the_demand():
    share = text(demand_unit='"5 Mbit/s"', traffic='kind = "udp"\nflows = 4\nload = 0.5')
    with refused("offered load is not simulated"):
        forebay.run(loads(share), "simulation")


def test_all_single_failures_the_worst_first(tmp_path, printed):
    demands, capacity = matrix(SMALL, 3), CAPACITY
    path = saved(tmp_path / "net.xml", sndlib(SMALL, demands, capacity))
    rows = json.loads(printed(f"network {path} --failures --json"))["failures"]
    assert len(rows) == len(SMALL)
    for row in rows:
        a, _, b = row["link"].partition("->")
        wanted = carried(both_ways(SMALL) - {(a, b), (b, a)}, demands)
        assert row["offered_load"] == pytest.approx(max(wanted.values()) / capacity, rel=1e-6)
        assert bool(row["sufferers"]) is (row["loss_rate"] > 0)
    lost = [row["loss_rate"] for row in rows]
    assert lost == sorted(lost, reverse=True)


def test_a_failure_that_divides_the_network_is_said_first(tmp_path, printed):
    path = saved(tmp_path / "chain.toml", text(demand_unit='"5 Mbit/s"'))
    rows = json.loads(printed(f"network {path} --failures --json"))["failures"]
    assert [row["link"] for row in rows] == ["A->B", "B->C"]
    assert all("in 2 parts" in row["error"] for row in rows)
    shown = printed(f"network {path} --failures")
    assert "2 single failures, the worst first" in shown and "A->B: topology: it is in 2" in shown


def test_what_is_wrong_with_the_network_as_it_is_is_said_once():
    """Each failure had a row that said so, and the status was 0."""
    grown = loads(text(), overrides=["topology.demand_growth=1.5"])
    with refused("demand_growth: has no effect"):
        networks.single_failures(grown)


PLANNED = [*(link for link in SMALL if link != ("r2", "r9")), ("r8", "r2")]


def designs(tmp_path: Path, capacity: float) -> tuple[Path, Path]:
    """Write a network and the same with one more link and one less."""
    today = saved(tmp_path / "today.xml", sndlib(SMALL, matrix(SMALL, 3), capacity))
    return today, saved(tmp_path / "planned.xml", sndlib(PLANNED, matrix(SMALL, 3), capacity))


@pytest.mark.long
def test_two_designs_beside_each_other_with_each_link_down_and_a_year_of_growth(tmp_path, printed):
    demands, capacity = matrix(SMALL, 3), CAPACITY
    first, second = designs(tmp_path, capacity)
    beside = f"network {first} --against {second} --growth 1.2"
    tables = json.loads(printed(f"{beside} --json"))["demands"]
    assert [each["growth"] for each in tables] == [1.0, 1.2]
    for each in tables:
        assert each["states"][0]["link"] == ""
        assert len(each["states"]) == 1 + len({*SMALL, *PLANNED})
        for state in each["states"]:
            a, _, b = state["link"].partition("->")
            for links, side in zip((SMALL, PLANNED), state["designs"], strict=True):
                here = both_ways(links)
                if state["link"] and (a, b) not in here:
                    assert side is None
                    continue
                most = max(carried(here - {(a, b), (b, a)}, demands).values())
                wanted = each["growth"] * most / capacity
                assert side["offered_load"] == pytest.approx(wanted, rel=1e-6)
        for place in (0, 1):
            sides = [state["designs"][place] for state in each["states"][1:]]
            above = sum(side is not None and side["offered_load"] > 1 for side in sides)
            assert each["overloaded_failures"][place] == above
    said = printed(beside)
    assert "today beside planned, demand x 1.2" in said
    assert "not in it" in said


@pytest.mark.long
def test_the_time_of_all_failures_is_foretold_once(tmp_path):
    first, second = designs(tmp_path, 9000.0)
    today, planned = networks.load(first), networks.load(second)
    said: list[float] = []
    networks.single_failures(today, expect=said.append)
    networks.compare_designs(today, planned, growth=1.2, expect=said.append)
    assert len(said) == 2 and all(seconds > 0 for seconds in said)


@pytest.mark.long
def test_designs_with_other_demands_say_so(tmp_path, printed):
    ring = [sndlib(RING, matrix(RING, seed), 9000.0) for seed in (3, 4)]
    first, second = saved(tmp_path / "a.xml", ring[0]), saved(tmp_path / "b.xml", ring[1])
    assert "Their demands differ" in printed(f"network {first} --against {second}")


def test_a_path_without_connections_has_no_throughput_and_no_loss(tmp_path):
    found = answer(demand_unit='"1 Mbit/s"')
    found.write_paths(tmp_path / "paths.csv")
    rows = list(csv.DictReader((tmp_path / "paths.csv").read_text().splitlines()))
    assert {row["throughput_bps"] for row in rows} == {""}
    assert {float(row["loss_rate"]) for row in rows} == {0.0}
    assert all(link.queue_delay_s.mean.value == 0.0 for link in found.outcome.links.values())
