"""Random scenarios, made from the scenario's own model: a new field is drawn without a line here.

Each field is drawn from its type and its documented range. What contradicts another field is left
out again, and the whole is scaled down until it is cheap to run.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args, get_origin

from hypothesis import strategies as st
from mended import Tree, cheap, legal, written
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from forebay.scenario import (
    CONGESTION_CONTROLS,
    BufferSize,
    ClassQueue,
    DataSize,
    Distribution,
    Duration,
    FlowCount,
    FlowLength,
    OtherLink,
    Outages,
    Rate,
    RateTrace,
    Scenario,
    Schedule,
)
from forebay.scenario.base import Between
from forebay.scenario.format_error import models_in
from forebay.scenario.goals import AtLeast, AtMost
from forebay.scenario.rate_trace import RateFile
from forebay.scenario.tcp import CongestionControl
from forebay.scenario.traffic import PacketList
from forebay.scenario.transfers import TransferSizes, TransferTable

LISTS = ("../lists/small.csv", "../lists/mixed.csv")
_SEVERAL = 3
_OFFERED = ("rate", "load", "arrival_rate")
_LIKELY = ("queue", "size", "discipline", "route", "congestion_control", "rtt", "start")


@dataclass(frozen=True)
class Scale:
    """What times and rates of one scenario lie around, so that they have to do with each other."""

    seconds: float
    bps: float
    links: tuple[str, ...]


_DIE = st.tuples(st.integers(0, 9), st.floats(0.0, 1.0))


def number(low: float, high: float, around: float | None = None) -> st.SearchStrategy[float]:
    """Return numbers of all magnitudes in a range: near ``around``, anywhere, and its ends."""
    least = max(low, high * 1e-12, 1e-12)

    def made(drawn: tuple[int, float]) -> float:
        mode, place = drawn
        if mode > 7:
            return low if mode == 8 else high
        if mode == 7 or least >= high:
            return low + place * (high - low)
        if mode == 6 or around is None:
            return min(max(least * (high / least) ** place, low), high)
        return min(max(around * math.exp(-5.0 + 7.5 * place), low), high)

    return _DIE.map(made)


def whole(low: int, high: int, around: int) -> st.SearchStrategy[int]:
    return number(low, high, around).map(lambda x: min(max(round(x), low), high))


def _time(between: Between | None, scale: Scale) -> st.SearchStrategy[str]:
    low, high = (0.0, 60.0) if between is None else (float(between.least), float(between.most))
    return number(low, high, scale.seconds / 4).map(lambda x: written(x, "s"))


def _rate(between: Between | None, scale: Scale) -> st.SearchStrategy[str]:
    rates = number(float(between.least), float(between.most), 3 * scale.bps)
    return rates.map(lambda x: written(x, "bit/s"))


def _size(between: Between | None, scale: Scale) -> st.SearchStrategy[str]:
    return whole(int(between.least), int(between.most), 9000).map(lambda n: f"{n} B")


def _buffer(between: Between | None, scale: Scale) -> st.SearchStrategy[str]:
    return st.one_of(
        whole(1, 10**9, 100).map(lambda n: f"{n} packets"),
        whole(64, 10**12, 10**6).map(lambda n: f"{n} B"),
        number(1e-9, 3600.0, scale.seconds / 30).map(lambda x: written(x, "s")),
        number(1e-3, 1e3, 1.0).map(lambda x: written(x, "bdp")),
        number(1e-3, 1e3, 1.0).map(lambda x: written(x, "bdp/sqrt(n)")),
    )


@st.composite
def _instants(draw: st.DrawFn, scale: Scale) -> list[str]:
    """Draw an odd number of times that ascend from 0 to past the run's end or not."""
    gaps = draw(st.lists(st.floats(0.01, 0.5), min_size=2, max_size=8))
    sums = [math.fsum(gaps[:n]) * scale.seconds for n in range(1, len(gaps) // 2 * 2 + 1)]
    return ["0 s", *(written(x, "s") for x in sums)]


@st.composite
def _trace(draw: st.DrawFn, scale: Scale) -> Tree:
    """Draw rates of which some are 0."""
    *times, period = draw(_instants(scale))
    rates = st.floats(-3.0, 2.0).map(lambda x: scale.bps * math.exp(x))
    steps = [(at, written(draw(st.just(0.0) | rates), "bit/s")) for at in times]
    repeats: Tree = draw(st.sampled_from([{}, {"repeat": False}]))
    return {"steps": steps, "period": period, **repeats}


@st.composite
def _outages(draw: st.DrawFn, scale: Scale) -> Tree:
    """Draw when a link is down: once, or again and again."""
    times = draw(_instants(scale))
    pairs = list(zip(times[::2], times[1::2], strict=False))
    more: list[Tree] = [{}, {"queue": "drop"}, {"period": times[-1]}]
    return {"times": pairs, **draw(st.sampled_from(more))}


@st.composite
def _distribution(draw: st.DrawFn, between: Between | None, scale: Scale) -> Any:
    times = _time(between, scale)
    seconds = sorted(float(draw(times).split()[0]) for _ in range(3))
    low, middle, high = (written(x, "s") for x in seconds)
    ends = {"low": low, "high": high}
    deviation = written(seconds[1] * draw(st.floats(0.01, 3.0)), "s")
    kinds: list[Any] = [
        middle,
        {"uniform": [low, high]},
        {"exponential": {"mean": middle} | ends},
        {"normal": {"mean": middle, "deviation": deviation} | ends},
        {"lognormal": {"mean": middle, "deviation": deviation} | ends},
        {"pareto": {"mean": middle, "shape": draw(st.floats(0.3, 4.0)), "high": high}},
        {"values": [low, middle, high]},
        {"values": [high, low], "shares": [0.25, 0.75]},
    ]
    return draw(st.sampled_from(kinds))


@st.composite
def _length(draw: st.DrawFn, between: Between | None, scale: Scale) -> Any:
    unit = draw(st.sampled_from(["packets", "B"]))
    mean = draw(whole(1 if unit == "packets" else 64, 10**6, 30))
    text, shape = f"{mean} {unit}", draw(st.floats(0.5, 3.0))
    kinds: list[Any] = [
        text,
        {"geometric": text},
        {"pareto": {"mean": text, "shape": shape}},
        {"pareto": {"mean": text, "shape": shape, "high": f"{mean * 9} {unit}"}},
        {"lognormal": {"mean": text, "deviation": f"{max(1, mean // 2)} {unit}"}},
    ]
    return draw(st.sampled_from(kinds))


def _flows(between: Between | None, scale: Scale) -> st.SearchStrategy[Any]:
    few = whole(1, 400, 10)
    span = st.tuples(few, few).map(lambda ends: f"{min(ends)}..{max(ends)}")
    return few | few | few | whole(1, 10_000_000, 300) | span


def _target(sense: str) -> Callable[[Between | None, Scale], st.SearchStrategy[Any]]:
    def make(between: Between | None, scale: Scale) -> st.SearchStrategy[Any]:
        bounds = number(float(between.least), float(between.most), 0.1)
        tables = st.fixed_dictionaries({sense: bounds, "probability": st.floats(0.01, 1.0)})
        return bounds | tables

    return make


_TYPES: dict[Any, Callable[[Between | None, Scale], st.SearchStrategy[Any]]] = {
    Rate: _rate,
    Duration: _time,
    DataSize: _size,
    BufferSize: _buffer,
    FlowCount: _flows,
    PacketList: lambda between, scale: st.sampled_from(LISTS),
    RateFile: lambda between, scale: st.just("none.csv"),
    RateTrace: lambda between, scale: _trace(scale),
    Schedule: lambda between, scale: st.sampled_from(SCHEDULES),
    Outages: lambda between, scale: _outages(scale),
    TransferTable: lambda between, scale: st.just("../lists/transfers.csv"),
    TransferSizes: lambda between, scale: st.sampled_from(SIZES),
    AtLeast: _target("at_least"),
    AtMost: _target("at_most"),
    bool: lambda between, scale: st.booleans(),
    int: lambda b, scale: whole(b.least, b.most, 4) if b else st.integers(1, 100),
    float: lambda b, scale: number(float(b.least), float(b.most), 1.0) if b else st.floats(0, 1),
    str: lambda between, scale: st.sampled_from(["a", "b-1", "up", "x_2.0"]),
}
"""What each type of the model is drawn from. A field of a type that is new needs a line here."""


SCHEDULES: tuple[Any, ...] = (
    {"on": {"exponential": "0.2 s"}, "off": "0.3 s"},
    {"times": [["0 s", "0.4 s"], ["1 s", "9 s"]]},
    {"times": [["50 ms", "90 ms"]], "period": "0.1 s"},
)

SIZES: tuple[Any, ...] = (
    "web-search", "hadoop", "9 kB", {"cdf": [["1 kB", 0.5], ["20 kB", 0.9], ["90 kB", 1.0]]},
)  # fmt: skip

APART = frozenset({"topology"})
"""Fields that make another kind of scenario: whole networks have tests of their own."""


def _controls() -> st.SearchStrategy[Any]:
    names = st.sampled_from(CONGESTION_CONTROLS)
    two = st.lists(names, min_size=2, max_size=2, unique=True)
    return names | two.map(lambda pair: dict(zip(pair, (0.25, 0.75), strict=True)))


def field(info: FieldInfo, scale: Scale) -> st.SearchStrategy[Any]:
    """Return a strategy for what a file may write for a field.

    Raises
    ------
    LookupError
        The field's type is not known here.
    """
    between = next((m for m in info.metadata if isinstance(m, Between)), None)
    return _of(info.annotation, between, scale)


def _of(annotation: Any, between: Between | None, scale: Scale) -> st.SearchStrategy[Any]:
    if get_origin(annotation) is Annotated and annotation != CongestionControl:
        kind, *told = get_args(annotation)
        return _of(kind, next((m for m in told if isinstance(m, Between)), between), scale)
    parts = [part for part in get_args(annotation) if part is not type(None)]
    for law, draw in ((Distribution, _distribution), (FlowLength, _length)):
        if any(issubclass(each, law) for each in models_in(annotation)):
            return draw(between, scale)
    if annotation in _TYPES:
        return _TYPES[annotation](between, scale)
    if get_origin(annotation) is Literal:
        return st.sampled_from(parts)
    if annotation in (CongestionControl, str | dict[str, float]):
        return _controls()
    if annotation == tuple[str, ...]:
        return st.lists(st.sampled_from(scale.links), min_size=1, max_size=_SEVERAL)
    if get_origin(annotation) is tuple:
        kinds = [part for part in parts if part is not Ellipsis]
        return st.lists(_of(kinds[0], between, scale), min_size=1, max_size=_SEVERAL)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return table(annotation, scale)
    if parts:
        return st.one_of(*(_of(part, between, scale) for part in parts))
    raise LookupError(f"{annotation}: write in _TYPES how it is drawn")


@st.composite
def table(draw: st.DrawFn, model: type[BaseModel], scale: Scale) -> Tree:
    """A table of a file: each field that it must have, and some of the others."""
    made: Tree = {}
    fields = [(name, info) for name, info in model.model_fields.items() if name not in APART]
    die = draw(st.lists(st.integers(0, 9), min_size=len(fields), max_size=len(fields)))
    for (name, info), face in zip(fields, die, strict=True):
        rare = 2 if name in _OFFERED else 4 if name in _LIKELY else 8
        if name == "kind" or info.is_required() or face >= rare:
            made[name] = draw(field(info, scale))
    return made


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """Legal scenarios as a file holds them, each cheap to run."""
    links = tuple(f"l{i}" for i in range(draw(st.integers(0, 2))))
    seconds = math.exp(draw(st.floats(math.log(1e-3), math.log(30))))
    bps = math.exp(draw(st.floats(math.log(1e4), math.log(1e12))))
    scale = Scale(seconds, bps, ("bottleneck", *links))
    tree: Tree = draw(table(Scenario, scale))
    tree["links"] = [draw(table(OtherLink, scale)) | {"name": name} for name in links]
    tree["measure"] = {
        "warmup": written(seconds * draw(st.sampled_from([0.0, 0.1, 1.0])), "s"),
        "duration": written(seconds, "s"),
    }
    if draw(st.integers(0, 7)) == 0:
        tree |= draw(pauses(scale))
    for owner in (tree, *tree["links"]):
        if owner.get("queue", {}).get("discipline") == "classes":
            owner["queue"]["classes"] = draw(_class_queues(tree["traffic"], scale))
    return cheap(legal(tree))


@st.composite
def pauses(draw: st.DrawFn, scale: Scale) -> Tree:
    """Light traffic over a link that sends nothing at times: most packets find its wire idle."""
    link: Tree = {"rate": written(scale.bps, "bit/s"), "down": draw(_outages(scale))}
    if draw(st.booleans()):
        link = {"rate_trace": draw(_trace(scale))}
    link |= draw(
        st.sampled_from([{}, {}, {"loss": 0.1}, {"jitter": written(scale.seconds / 50, "s")}])
    )
    flows, think = draw(st.integers(1, 4)), written(scale.seconds / draw(st.integers(1, 50)), "s")
    low, high = sorted(draw(st.floats(0.0, 1.0)) * scale.seconds for _ in range(2))
    times = [[written(low, "s"), written(high + 1e-5, "s")]]
    kinds: list[Tree] = [
        {"kind": "session", "flows": flows, "file": f"{flows} packets", "think": think},
        {"kind": "short", "load": 0.02, "length": "3 packets"},
        {"kind": "udp", "flows": flows, "load": 0.01},
        {"kind": "long", "flows": flows, "schedule": {"times": times}},
        {"kind": "transfers", "load": 0.02, "size": "9 kB"},
    ]
    traffic = [draw(st.sampled_from(kinds)) | {"rtt": written(scale.seconds / 20, "s")}]
    return {"link": link, "traffic": traffic, "queue": {"size": f"{10**flows} packets"}}


@st.composite
def _class_queues(draw: st.DrawFn, traffic: list[Tree], scale: Scale) -> list[Tree]:
    """Class queues that hold all traffic: each class is named in one, or left to the default."""
    queues: list[Tree] = draw(st.lists(table(ClassQueue, scale), min_size=1, max_size=_SEVERAL))
    for index, queue in enumerate(queues):
        queue |= {"name": f"q{index}", "traffic": [], "default": index == 0}
    for index, group in enumerate(traffic):
        place = draw(st.integers(-1, len(queues) - 1))
        if place >= 0:
            name = group.get("name") or f"{group.get('kind', 'long')}-{index}"
            queues[place]["traffic"].append(name)
    return queues


def _one_of_each(kinds: dict[str, list[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({name: st.sampled_from(values) for name, values in kinds.items()})


_WINDOWS = st.sampled_from([{}, {}, *({"measure": _window} for _window in (
    {"warmup": "50 ms", "duration": "50 ms"}, {"warmup": "5 s", "duration": "5 s"},
    {"warmup": "20 s", "duration": "100 s"},
))])  # fmt: skip
_GOALS = st.sampled_from([
    {"utilization": 0.98}, {"utilization": 0.9, "queue_delay_p99": "20 ms"}, {"loss_rate": 0.01},
])  # fmt: skip


@st.composite
def networks(draw: st.DrawFn) -> Tree:
    """Return a network of some size, with long flows over a short or a long window."""
    isp = {"hosts": [200, 2_000, 20_000, 200_000], "edges": [20, 100, 2_000, 20_000]}
    shapes = st.one_of(
        st.fixed_dictionaries({"isp": _one_of_each(isp)}),
        st.fixed_dictionaries({"fat_tree": _one_of_each({"k": [4, 8, 16]})}),
    )
    return {
        "link": {"rate": f"{draw(st.sampled_from([1, 10, 100]))} Gbit/s", "delay": "1 ms"},
        "queue": {"size": f"{draw(st.sampled_from([10, 100, 10_000, 1_000_000]))} packets"},
        "topology": draw(shapes),
        "traffic": [{"flows": draw(st.sampled_from([1, 50, 2_000, 50_000]))}],
        "goals": draw(_GOALS),
        **draw(_WINDOWS),
    }


@st.composite
def large_links(draw: st.DrawFn) -> Tree:
    """Return a link of an operator: most of them cannot be simulated as a whole in seconds."""
    rate = math.exp(draw(st.floats(math.log(1e7), math.log(8e11))))
    flows = round(math.exp(draw(st.floats(0.0, math.log(1e6)))))
    low = draw(st.sampled_from([1, 10, 80]))
    long: Tree = {
        "flows": flows,
        "congestion_control": draw(st.sampled_from(CONGESTION_CONTROLS)),
        "rtt": {"uniform": [f"{low} ms", f"{low * draw(st.sampled_from([1, 2, 5]))} ms"]},
    }
    short: Tree = {
        "kind": "short",
        "load": 0.3,
        "length": {"pareto": {"mean": "30 packets", "shape": 1.2}},
    }
    others = st.sampled_from([[], [], [short], [{"kind": "udp", "flows": 10, "load": 0.1}]])
    size = draw(st.sampled_from(["1 bdp/sqrt(n)", "0.1 bdp", "100 packets"]))
    return {
        "link": {"rate": written(rate, "bit/s")},
        "queue": {
            "size": size,
            "discipline": draw(st.sampled_from(["drop-tail", "drop-tail", "fq_codel", "cake"])),
        },
        "traffic": [long, *draw(others)],
        "goals": draw(_GOALS),
        **draw(_WINDOWS),
    }
