"""Each field of each table of a scenario at its edges: an answer, or one line and status 2."""

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from edges import Tree, at, sampled, with_edges
from mended import packets
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
_ROUTED: Tree = BASE | {
    "link": {"rate": "1 Mbit/s", "delay": "5 ms"}, "traffic": [{"kind": "long", "flows": 9}],
}  # fmt: skip
_NETWORK = {
    "nodes": [{"name": each, "hosts": 2} for each in "abc"],
    "links": [{"between": ["a", "b"]}, {"between": ["b", "c"]}],
    "classes": [{"name": "core", "delay": "1 ms"}],
    "demands": [{"source": "a", "target": "b", "weight": 2.0}],
}
_STEPS = [["0 s", "1 Mbit/s"], ["30 ms", "0 bit/s"]]
_BUCKET = {"rate": "500 kbit/s", "burst": "9 kB"}
_QUEUE = {
    "name": "a", "default": True, "red": {"min": "3 kB", "max": "9 kB", "probability": 0.1},
}  # fmt: skip
_RTTS: dict[str, Any] = {
    "exponential": {"mean": "10 ms", "low": "1 ms", "high": "1 s"},
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
    "Replay": {
        "kind": "replay",
        "flows": 1,
        "file": str(Path(__file__).with_name("lists") / "small.csv"),
    },
}
_LENGTHS: dict[str, Any] = {
    "pareto": {"mean": "9 packets", "shape": 1.5},
    "lognormal": {"mean": "9 packets", "deviation": "3 packets"},
}
WRITTEN_AS_TEXT = {"Constant", "Fixed"}


def _of(path: str, table: Any, tree: Tree = BASE, within: str = "") -> tuple[Tree, str]:
    """Write a table at a path of a scenario; return it, and the path of what is within."""
    made = deepcopy(tree)
    above, _, name = path.rpartition(".")
    here = at(made, above)
    here[int(name) if isinstance(here, list) else name] = deepcopy(table)
    return made, path + within


def _laws(path: str, laws: dict[str, Any], tree: Tree, kind: str) -> dict[str, tuple[Tree, str]]:
    """Return each law that a field may have, and the table of its parameters."""
    found = {}
    for name, table in laws.items():
        called = f"{name.capitalize()}{kind}"
        found[called] = _of(path, {name: table}, tree)
        found[f"{called}Shape"] = _of(path, {name: table}, tree, f".{name}")
    return found


def _tables() -> dict[str, tuple[Tree, str]]:
    """Return a scenario for each table, and where it stands there."""
    kinds = {name: _of("traffic.0", group) for name, group in _KINDS.items()}
    short, transfers = (kinds[name][0] for name in ("Short", "Transfers"))
    classes = BASE | {"queue": {"discipline": "classes", "size": "20 packets"}}
    parts = {"NetworkLink": "links", "NetworkNode": "nodes", "LinkClass": "classes",
             "Demand": "demands"}  # fmt: skip
    rtt, length = "traffic.0.rtt", "traffic.0.length"
    return kinds | {
        "Scenario": (BASE, ""),
        "Link": (BASE, "link"),
        "Queue": (BASE, "queue"),
        "Measure": (BASE, "measure"),
        "Goals": (BASE, "goals"),
        "TokenBucket": _of("link.shaper", _BUCKET),
        "Loss": _of("link.loss", {"good_to_bad": 0.1, "bad_to_good": 0.5}),
        "RateTrace": _of("link", {"rate_trace": {"steps": _STEPS}}, within=".rate_trace"),
        "Outages": _of("link.down", {"times": [["20 ms", "60 ms"]]}),
        "Jitter": _of("link.jitter", {"most": "2 ms"}),
        "ClassQueue": _of("queue.classes", [_QUEUE], classes, ".0"),
        "Red": _of("queue.classes", [_QUEUE], classes, ".0.red"),
        "OtherLink": _of("links", [{"name": "core", "rate": "1 Mbit/s"}], within=".0"),
        "Topology": _of("topology", _NETWORK, _ROUTED),
        "TwoLevel": _of("topology", {"two_level": {"edges": 20}}, _ROUTED, ".two_level"),
        "Isp": _of("topology", {"isp": {"hosts": 20, "edges": 10}}, _ROUTED, ".isp"),
        "FatTree": _of("topology", {"fat_tree": {"k": 4}}, _ROUTED, ".fat_tree"),
        **{name: _of("topology", _NETWORK, _ROUTED, f".{key}.0") for name, key in parts.items()},
        "ClassGoals": _of("traffic.0.goals", {"throughput": "1 kbit/s"}),
        "Constant": _of(rtt, {"constant": "10 ms"}),
        "Uniform": _of(rtt, {"uniform": ["1 ms", "9 ms"]}),
        "Values": _of(rtt, {"values": ["1 ms", "9 ms"], "shares": [0.5, 0.5]}),
        **_laws(rtt, _RTTS, BASE, ""),
        "Schedule": _of("traffic.0.schedule", {"on": "20 ms", "off": "10 ms"}),
        "Fixed": _of(length, {"fixed": "9 packets"}, short),
        "Geometric": _of(length, {"geometric": "9 packets"}, short),
        **_laws(length, _LENGTHS, short, "Length"),
        "Transfer": _of("traffic.0", {"kind": "transfers", "transfers": [
            {"start": "0 s", "size": "9 kB"}]}, within=".transfers.0"),
        "TransferSizes": _of("traffic.0.size", {"cdf": [["1 kB", 0.5], ["9 kB", 1.0]]}, transfers),
        "AtLeastTable": _of("goals.utilization", {"at_least": 0.5, "probability": 0.9}),
        "AtMostTable": _of("goals.loss_rate", {"at_most": 0.5, "probability": 0.9}),
        "QueueDelay": _of("goals.queue_delay", {"quantile": 0.9, "at_most": "9 ms"}),
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
    for name, (tree, path) in TABLES.items():
        assert isinstance(at(tree, path), dict)
        if name not in WRITTEN_AS_TEXT:
            Scenario.from_dict(tree)


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
        isp = made.topology.isp
        engines += ["network"] if isp is None or isp.cores < 200 else []
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
