"""Makes random scenarios legal and cheap: contradictions are left out, the run is scaled down."""

from typing import Any

import tomli_w
from hypothesis import assume

from forebay.scenario import Scenario, ScenarioError, Session, Short, Tcp, loads

PACKETS = 60_000
"""About the most packets of a run: some tenths of a second."""
_ATTEMPTS = 40
_KEPT = ("link", "traffic", "measure", "kind")
_FITS = {
    "size": "20 packets",
    "memory": "1 MB",
    "length": "9 packets",
    "file": "9 packets",
    "response": "9 packets",
    "on": "1 ms",
    "off": "1 ms",
}
Tree = dict[str, Any]


def legal(tree: Tree) -> Tree:
    """Leave out what contradicts something else; give up where that is not enough."""
    for _ in range(_ATTEMPTS):
        try:
            loads(tomli_w.dumps(tree))
        except ScenarioError as error:
            assert "\n" not in str(error)
            assume(_left_out(tree, error.field.split(".") if error.field else []))
        else:
            return tree
    assume(False)
    return tree


def _left_out(tree: Any, path: list[str]) -> bool:
    """Mend the entry at a path: by what always fits, or without it, or without what is around."""
    fits = _FITS.get(path[-1] if path else "")
    if fits is not None and _put(tree, path, fits):
        return True
    steps: list[tuple[Any, Any]] = []
    here = tree
    for part in path:
        key: Any = int(part) if isinstance(here, list) and part.isdigit() else part
        within = key in here if isinstance(here, dict) else key in range(len(here))
        if not within:
            continue  # the complaint is about more than one field, or a field that is not there
        steps.append((here, key))
        here = here[key]
        if not isinstance(here, dict | list):
            break
    for table, key in reversed(steps):
        if isinstance(table, list) and len(table) > 1 and not isinstance(table[key], list | str):
            del table[key]
            return True
        if isinstance(table, dict) and key not in _KEPT:
            del table[key]
            return True
    if path == ["traffic"] and len(tree["traffic"]) > 1:
        del tree["traffic"][-1]
        return True
    return False


def _put(tree: Any, path: list[str], fits: str) -> bool:
    """Write a value; False if it is there already, or the table for it is not."""
    here = tree
    for part in path[:-1]:
        here = here[int(part)] if isinstance(here, list) else here.setdefault(part, {})
    if here.get("kind") == "replay" or here.get(path[-1]) == fits:
        return False
    here[path[-1]] = fits
    return True


def cheap(tree: Tree) -> Tree:
    """Shorten the run, then slow its links down, until it takes few packets."""
    for _ in range(4):
        scenario = loads(tomli_w.dumps(tree))
        many = scenario.n_flows if scenario.n_flows > 1_000_000 else 0  # their first windows
        excess = packets(scenario) / (PACKETS + 10 * many)
        if excess <= 1:
            return tree
        seconds = scenario.measure.duration / excess
        if seconds >= 1e-3:
            warmup = scenario.measure.warmup / excess
            tree["measure"] = {"warmup": f"{warmup:.9g} s", "duration": f"{seconds:.9g} s"}
        else:
            _slow_down(tree, excess)
        tree = legal(tree)
    assume(False)
    return tree


def _slow_down(tree: Any, factor: float) -> None:
    for key, value in list(tree.items()):
        if isinstance(value, dict):
            _slow_down(value, factor)
        elif isinstance(value, list):
            for each in value:
                if isinstance(each, dict):
                    _slow_down(each, factor)
        elif key in ("rate", "peak_rate", "access_rate") and isinstance(value, str):
            tree[key] = written(max(float(value.split()[0]) / factor, 1e3), "bit/s")
        elif key in ("arrival_rate", "frame_rate"):
            tree[key] = max(value / factor, 1.0)


def written(value: float, unit: str) -> str:
    return f"{value:.15g} {unit}"


def packets(scenario: Scenario) -> float:
    """Return about how many packets, of data or of ACKs, a run moves."""
    seconds = scenario.measure.warmup + scenario.measure.duration
    total = 0.0
    for group in scenario.traffic:
        if isinstance(group, Tcp):
            total += _tcp_packets(scenario, group, seconds)
        elif hasattr(group, "packets_in"):
            total += group.packets_in(seconds, scenario.link.rate)
        else:
            total += group.most_packets()
    return total


def _tcp_packets(scenario: Scenario, group: Tcp, seconds: float) -> float:
    rates = [scenario.link.rate, *(each.rate for each in scenario.links)]
    bits = 8 * group.packet
    first = float(group.initial_window or 10)
    carried = 2 * max(rates) * seconds / bits
    if isinstance(group, Short):
        starting = group.arrivals_per_second(scenario.link.rate) * seconds
        length = group.length.mean_packets(group.packet)
        return 20 * starting + min(starting * length, carried)
    flows = int(group.flows)
    if isinstance(group, Session):
        flows = round(flows * group.files_in(seconds))
    if group.max_window is not None:
        first = min(first, group.max_window)
    return flows * first + carried
