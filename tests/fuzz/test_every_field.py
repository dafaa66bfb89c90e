"""Each field of each table of a scenario at its edges: an answer, or one line and status 2."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from edges import Tree, at, sampled, with_edges
from packets import packets
from pydantic import BaseModel

import forebay
from forebay import scenario as models
from forebay.scenario import Scenario, ScenarioError
from forebay.scenario.format_error import models_in

BASE: Tree = {
    "link": {"rate": "1 Mbit/s"},
    "queue": {"size": "20 packets"},
    "traffic": [{"kind": "long", "flows": 2, "rtt": "20 ms"}],
    "measure": {"warmup": "50 ms", "duration": "100 ms"},
    "goals": {},
}
_BUCKET = {"rate": "500 kbit/s", "burst": "9 kB"}
_NETWORK = {
    "nodes": [{"name": "a"}, {"name": "b"}],
    "links": [{"from": "a", "to": "b", "rate": "1 Mbit/s", "delay": "1 ms"}],
    "classes": [{"name": "core", "delay": "1 ms"}],
    "demands": [{"from": "a", "to": "b", "connections": 2}],
}
_RTTS: dict[str, Any] = {
    "exponential": {"mean": "10 ms", "high": "1 s"},
    "normal": {"mean": "10 ms", "deviation": "2 ms", "low": "1 ms", "high": "1 s"},
    "lognormal": {"mean": "10 ms", "deviation": "5 ms"},
    "pareto": {"mean": "10 ms", "shape": 1.5, "high": "1 s"},
}
_KINDS: dict[str, Tree] = {
    "Long": {"kind": "long", "flows": 2},
    "Short": {"kind": "short", "load": 0.2, "length": "9 packets"},
    "Session": {"kind": "session", "flows": 2, "file": "9 packets", "think": "10 ms"},
    "Requests": {"kind": "requests", "flows": 2, "response": "9 kB", "think": "5 ms"},
    "Transfers": {"kind": "transfers", "load": 0.2, "size": "9 kB"},
    "Udp": {"kind": "udp", "flows": 2, "rate": "9 kbit/s"},
    "OnOff": {"kind": "onoff", "flows": 2, "peak_rate": "90 kbit/s", "on": "9 ms", "off": "9 ms"},
    "Video": {"kind": "video", "flows": 2, "rate": "90 kbit/s"},
    "Replay": {"kind": "replay", "flows": 1, "file": "none.csv"},
}
_LENGTHS: dict[str, Any] = {
    "ParetoLengthShape": ("pareto", {"mean": "9 packets", "shape": 1.5}),
    "LognormalLengthShape": ("lognormal", {"mean": "9 packets", "deviation": "3 packets"}),
}


def _of(path: str, table: Any, tree: Tree = BASE) -> tuple[Tree, str]:
    made = deepcopy(tree)
    above, _, name = path.rpartition(".")
    here = at(made, above)
    here[int(name) if isinstance(here, list) else name] = deepcopy(table)
    return made, path


def _of_traffic(group: Tree) -> Tree:
    return BASE | {"traffic": [group]}


def _tables() -> dict[str, tuple[Tree, str]]:
    """Return a scenario for each table, and where it stands there."""
    classes = BASE | {"queue": {"discipline": "classes", "size": "20 packets"}}
    rtt = "traffic.0.rtt"
    return {
        "Scenario": (BASE, ""),
        "Link": (BASE, "link"),
        "TokenBucket": _of("link.shaper", _BUCKET),
        "Loss": _of("link.loss", {"good_to_bad": 0.1, "bad_to_good": 0.5}),
        "RateTrace": _of("link.rate_trace", {"steps": [["0 s", "1 Mbit/s"], ["30 ms", "0 bit/s"]]},
                         BASE | {"link": {}}),
        "Outages": _of("link.down", {"times": [["20 ms", "60 ms"]]}),
        "Jitter": _of("link.jitter", {"most": "2 ms"}),
        "Queue": (BASE, "queue"),
        "ClassQueue": (_of("queue.classes", [{"name": "a", "default": True}], classes)[0],
                       "queue.classes.0"),
        "Red": (_of("queue.classes", [{"name": "a", "default": True, "red": {
            "minimum": "2 packets", "maximum": "9 packets", "probability": 0.1}}], classes)[0],
            "queue.classes.0.red"),
        "OtherLink": (_of("links", [{"name": "core", "rate": "1 Mbit/s"}])[0], "links.0"),
        "Topology": _of("topology", {"two_level": {"hosts": 4, "edges": 2}}),
        "TwoLevel": (_of("topology", {"two_level": {"hosts": 4, "edges": 2}})[0],
                     "topology.two_level"),
        "Isp": (_of("topology", {"isp": {"hosts": 20, "edges": 10}})[0], "topology.isp"),
        "FatTree": (_of("topology", {"fat_tree": {"k": 4}})[0], "topology.fat_tree"),
        "NetworkLink": (_of("topology", _NETWORK)[0], "topology.links.0"),
        "NetworkNode": (_of("topology", _NETWORK)[0], "topology.nodes.0"),
        "LinkClass": (_of("topology", _NETWORK)[0], "topology.classes.0"),
        "Demand": (_of("topology", _NETWORK)[0], "topology.demands.0"),
        "ClassGoals": _of("traffic.0.goals", {"goodput": "1 kbit/s"}),
        "Constant": _of(rtt, {"constant": "10 ms"}),
        "Uniform": _of(rtt, {"uniform": ["1 ms", "9 ms"]}),
        "Values": _of(rtt, {"values": ["1 ms", "9 ms"], "shares": [0.5, 0.5]}),
        **{name.capitalize(): _of(rtt, {name: table}) for name, table in _RTTS.items()},
        **{
            f"{name.capitalize()}Shape": (_of(rtt, {name: table})[0], f"{rtt}.{name}")
            for name, table in _RTTS.items()
        },
        "Schedule": _of("traffic.0.schedule", {"on": "20 ms", "off": "10 ms"}),
        **{name: (_of_traffic(group), "traffic.0") for name, group in _KINDS.items()},
        **{
            name: (_of_traffic(_KINDS["Short"] | {"length": {kind: table}}),
                   f"traffic.0.length.{kind}")
            for name, (kind, table) in _LENGTHS.items()
        },
        "Fixed": _of("traffic.0.length", {"fixed": "9 packets"}, _of_traffic(_KINDS["Short"])),
        "Geometric": _of("traffic.0.length", {"geometric": "9 packets"},
                         _of_traffic(_KINDS["Short"])),
        "ParetoLength": _of("traffic.0.length", {"pareto": _LENGTHS["ParetoLengthShape"][1]},
                            _of_traffic(_KINDS["Short"])),
        "LognormalLength": _of("traffic.0.length",
                               {"lognormal": _LENGTHS["LognormalLengthShape"][1]},
                               _of_traffic(_KINDS["Short"])),
        "Transfer": (_of_traffic({"kind": "transfers", "transfers": [
            {"start": "0 s", "size": "9 kB"}]}), "traffic.0.transfers.0"),
        "TransferSizes": _of("traffic.0.size", {"cdf": [["1 kB", 0.5], ["9 kB", 1.0]]},
                             _of_traffic(_KINDS["Transfers"])),
        "Measure": (BASE, "measure"),
        "Goals": _of("goals", {}),
        "AtLeastTable": _of("goals.utilization", {"at_least": 0.5, "probability": 0.9}),
        "AtMostTable": _of("goals.loss_rate", {"at_most": 0.5, "probability": 0.9}),
        "QueueDelay": _of("goals.queue_delay", {"above": "9 ms", "probability": 0.1}),
    }  # fmt: skip


def _models(model: type[BaseModel], found: dict[str, type[BaseModel]]) -> None:
    if model.__name__ not in found:
        found[model.__name__] = model
        for info in model.model_fields.values():
            for each in models_in(info.annotation):
                _models(each, found)


MODELS: dict[str, type[BaseModel]] = {}
_models(Scenario, MODELS)
TABLES = _tables()
_CHEAP = 30_000


def test_every_table_has_a_scenario():
    assert set(TABLES) == set(MODELS)
    for tree, path in TABLES.values():
        assert isinstance(at(tree, path), dict)


def asked(tree: Tree) -> str:
    """Return how a scenario ends: refused in a line, or run by two engines."""
    try:
        made = Scenario.from_dict(tree)
    except ScenarioError as error:
        assert "\n" not in str(error)
        assert len(str(error)) < 1000, str(error)
        return "refused"
    _usable(made)
    return "run"


def _usable(made: Scenario) -> None:
    """Ask what any verb asks of a scenario, and the engines if that is cheap."""
    assert Scenario.from_dict(made.to_dict()).sha256() == made.sha256()
    engines = ["theory"]
    if made.topology is not None:
        engines.append("network")
    elif packets(made) < _CHEAP and made.n_flows < 1000:
        engines.append("simulation")
    for engine in engines:
        try:
            answer = forebay.run(made, engine=engine)
        except forebay.ForebayError as error:
            assert error.exit_status in (2, 3), str(error)
            assert "\n" not in str(error)
        else:
            answer.to_json()


@pytest.mark.parametrize("every", [15, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", TABLES)
def test_a_field_at_its_edges_is_run_or_refused(name, every):
    tree, path = TABLES[name]
    wrong = []
    for field, value, made in sampled(with_edges(tree, path, MODELS[name]), every):
        try:
            asked(made)
        except Exception as error:  # all are wanted, and what they are of
            wrong.append(f"{field} = {str(value)[:60]!r}: {type(error).__name__}: {error}"[:300])
    assert not wrong, "\n".join(wrong)


def counted() -> Iterator[int]:
    """Yield the number of edges of each table."""
    for name, (tree, path) in TABLES.items():
        yield sum(1 for _ in with_edges(tree, path, MODELS[name]))


def test_there_are_thousands():
    assert sum(counted()) > 5000
    assert models.Scenario is Scenario
