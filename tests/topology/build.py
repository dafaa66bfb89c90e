"""Small networks for the tests of this room, and loads of links by hand."""

from collections import defaultdict
from pathlib import Path

import forebay
from forebay.api import networks
from forebay.engines.fixed_point.balance import Balance, make_balance
from forebay.scenario import Scenario, loads
from forebay.topology import make_problem

HEAD = '[link]\nrate = "10 Gbit/s"\ndelay = "1 ms"\n[[traffic]]\nflows = {flows}\n[topology]\n'
LOT = Path(__file__).with_name("parking-lot.toml")
Link = tuple[str, str]


def network(topology: str, flows: int = 100, changes: tuple[str, ...] = ()) -> Scenario:
    """Return a scenario with that [topology], its keys without a table's head first."""
    return loads(HEAD.format(flows=flows) + topology, overrides=list(changes))


def lot(*changes: str) -> Scenario:
    """Return the parking lot of three links, with changes."""
    return forebay.load(LOT, changes)


def balance(scenario: Scenario) -> Balance:
    """Return the equations of a network's steady state."""
    return make_balance(make_problem(scenario), scenario.topology)


def text(**more: object) -> str:
    """Return a chain of three routers with a matrix of 6 and 2."""
    fields = "".join(f"{key} = {value}\n" for key, value in more.items() if key != "traffic")
    traffic = more.get("traffic", 'kind = "short"\nlength = "50 kB"\nload = 1.0')
    counted = "connection_rate" in more or "connection_window" in more or "flows = 50" in str(more)
    size = "1 bdp/sqrt(n)" if counted else "1 bdp"
    return (
        f'[link]\nrate = "100 Mbit/s"\ndelay = "5 ms"\n[queue]\nsize = "{size}"\n[topology]\n'
        'links = [{between = ["A", "B"]}, {between = ["B", "C"]}]\n'
        'demands = [{source = "A", target = "C", weight = 6.0},'
        ' {source = "B", target = "C", weight = 2.0}]\n'
        f"{fields}[[traffic]]\n{traffic}\n"
    )


def answer(**more: object) -> networks.Answer:
    return networks.solve(loads(text(**more)))


def sndlib(links: list[Link], demands: dict[Link, float], capacity: float) -> str:
    """Return a file as SNDlib has it, with an installed module and a larger one to buy."""
    names = sorted({name for link in links for name in link})
    nodes = "".join(
        f'<node id="{name}"><coordinates><x>{n}</x><y>{n % 7}</y></coordinates></node>'
        for n, name in enumerate(names)
    )
    wires = "".join(
        f'<link id="{a}_{b}"><source>{a}</source><target>{b}</target><preInstalledModule>'
        f"<capacity>{capacity}</capacity></preInstalledModule><additionalModules><addModule>"
        "<capacity>40000.0</capacity></addModule></additionalModules></link>"
        for a, b in links
    )
    wanted = "".join(
        f'<demand id="{a}_{b}"><source>{a}</source><target>{b}</target>'
        f"<demandValue>{load}</demandValue></demand>"
        for (a, b), load in demands.items()
    )
    return (
        '<network xmlns="http://sndlib.zib.de/network"><meta><unit>MBITPERSEC</unit></meta>'
        f'<networkStructure><nodes coordinatesType="geographical">{nodes}</nodes>'
        f"<links>{wires}</links></networkStructure><demands>{wanted}</demands></network>"
    )


def distances(links: set[Link], to: str) -> dict[str, int]:
    """Return the hops from each router to one."""
    found, edge = {to: 0}, [to]
    while edge:
        ahead = []
        for there in edge:
            for a, b in links:
                if b == there and a not in found:
                    found[a] = found[there] + 1
                    ahead.append(a)
        edge = ahead
    return found


def carried(links: set[Link], demands: dict[Link, float]) -> dict[Link, float]:
    """Return what each directed link carries, in the unit of the demands."""
    found: dict[Link, float] = defaultdict(float)
    for to in {b for _, b in demands}:
        hops = distances(links, to)
        held = defaultdict(float, {a: load for (a, b), load in demands.items() if b == to})
        for router in sorted(hops, key=lambda name: -hops[name]):
            nearer = [b for a, b in links if a == router and hops.get(b, 99) == hops[router] - 1]
            for each in nearer:
                found[router, each] += held[router] / len(nearer)
                held[each] += held[router] / len(nearer)
    return dict(found)
