"""Links in a few words: one in arguments, or many ports in a table.

Each port is sized on its own, and kept as it ends; the most uncertain ones come first.
"""

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forebay import platforms
from forebay.errors import ForebayError
from forebay.laws.hashed_members import Group
from forebay.outcome import SizeResult
from forebay.scenario import Rate, Scenario, ScenarioError
from forebay.scenario.base import listed, without_numpy
from forebay.scenario.io import of_tree
from forebay.scenario.overrides import replace, value_of
from forebay.scenario.source import FlowCount
from forebay.words import Fact, Notation, Term, argument, option

_NEEDED = ("name", "rate")
_KNOWN = (
    *_NEEDED, "n", "load", "rtt", "platform", "interface", "utilization", "loss_rate",
    "queue_delay_p99", "congestion_control", "members", "largest_flows", "largest_share",
)  # fmt: skip
_OF_GROUPS = ("largest_flows", "largest_share")
_GOALS = ("utilization", "loss_rate", "queue_delay_p99")
_DEFAULT_GOAL = {"utilization": 0.98}
_MOST_BYTES, _MOST_PORTS = 1 << 20, 10_000
_BURST = "100 kB"


def link_scenario(
    rate: str | Rate = "",
    flows: int | str = "",
    rtt: str | Mapping[str, Any] = "",
    mix: str | Mapping[str, float] = "",
    goal: Sequence[str] | Mapping[str, Any] = (),
    set: Sequence[str] = (),
) -> Scenario:
    """Return the scenario of a link that long flows share.

    Parameters
    ----------
    rate : such as ``"10 Gbit/s"``.
    flows : a number, or a range ``"50..200"``.
    rtt : a time, or ``"20 ms..120 ms"`` for round trips spread evenly between them.
    mix : shares of congestion controls, ``"cubic=0.5,bbr=0.5"``, or one control.
    goal : goals of the link, ``["utilization=0.95"]``; that of 0.98 by default.
    set : ``PATH=VALUE`` strings, as in `load`.

    What is no text is taken as the classes take it: 100 flows, a distribution of round trips, a
    dict of shares or of goals.

    Raises
    ------
    ScenarioError
        What is missing or wrong, and what to write.

    >>> import forebay
    >>> link = forebay.link_scenario(rate="1 Gbit/s", flows=100, rtt="20 ms..80 ms")
    >>> round(link.bdp_packets)
    4167
    """
    for name, given, example in (("rate", rate, "10 Gbit/s"), ("flows", flows, 1000)):
        if not _is_written(given):
            raise ScenarioError("missing.link", field=name, such=option(name, example))
    long = {"flows": _read(flows, value_of)}
    if _is_written(rtt):
        long["rtt"] = _read(rtt, _round_trip)
    if _is_written(mix):
        long["congestion_control"] = _read(mix, lambda text: _mix(text, argument("mix")))
    title = f"{rate}, {flows} flow{'' if str(flows) == '1' else 's'}"
    tree: dict[str, Any] = {"name": title, "link": {"rate": rate}, "traffic": [long]}
    asked = goal if isinstance(goal, Mapping) else dict(map(_goal, listed("goal", goal or ())))
    replace(tree, {f"goals.{goal}": value for goal, value in (asked or _DEFAULT_GOAL).items()})
    options = {part: argument(name) for part, name in _OPTIONS.items()}
    return _scenario(without_numpy(tree), set, options)


_OPTIONS = {"rate": "rate", "flows": "flows", "rtt": "rtt", "congestion_control": "mix"}


def _scenario(
    tree: dict[str, Any], overrides: Sequence[str], written: Mapping[str, str | Term]
) -> Scenario:
    """Return a scenario; errors name the option or column in which its user wrote a field."""
    try:
        return of_tree(tree, "", overrides)
    except ScenarioError as error:
        names = (written[part] for part in error.field.split(".") if part in written)
        raise error if error.file else error.but(field=next(names, error.field)) from None


def _is_written(value: object) -> bool:
    return value is not None and not (isinstance(value, str) and not value.strip())


def _read(value: object, reader: Callable[[str], Any]) -> Any:
    """Return what a text says; the classes take any other value as it is."""
    return reader(value) if isinstance(value, str) else value


def _round_trip(rtt: str) -> dict[str, Any] | str:
    low, both, high = (part.strip() for part in rtt.partition(".."))
    return {"uniform": [low, high]} if both else value_of(low)


def _goal(goal: str) -> tuple[str, Any]:
    name, equals, value = (part.strip() for part in f"{goal}".partition("="))
    if not name or not equals or not value:
        raise ScenarioError("bad-goal", field=argument("goal"), value=goal)
    return name, value_of(value)


def _mix(mix: str, field: str | Term) -> str | dict[str, float]:
    parts = [[part.strip() for part in entry.partition("=")[::2]] for entry in mix.split(",")]
    if len(parts) == 1 and not parts[0][1]:
        return parts[0][0]
    wrong = next((name for name, share in parts if not name or not _is_number(share)), None)
    if wrong is not None or len({name for name, _ in parts}) < len(parts):
        raise ScenarioError("bad-mix", field=field, value=mix)
    return {name: float(share) for name, share in parts}


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class PortRow:
    """A line of the table: its scenario, and the platform and interface to configure.

    ``note`` says what a member of a LAG or an ECMP group is sized for, ``error`` why it cannot be;
    None for a port.
    """

    name: str
    scenario: Scenario
    platform: str | None
    interface: str | None
    note: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class SizedPort:
    """A port with its answer; ``error`` is one line where it could not be sized.

    ``error_status`` is the exit status of that error.
    """

    row: PortRow
    answer: SizeResult | None
    error: str | None = None
    error_status: int = 3

    @property
    def exit_status(self) -> int:
        """Exit status of the command line."""
        return self.error_status if self.answer is None else self.answer.exit_status

    @property
    def uncertainty(self) -> float:
        """Ratio of the ends of the interval of the least; infinite without an answer."""
        if self.answer is None or self.answer.buffer is None or self.answer.recommended is None:
            return float("inf")
        buffer = self.answer.buffer
        return buffer.high / max(buffer.low, 1)


def read_ports(path: str, overrides: Sequence[str] = ()) -> list[PortRow]:
    """Read a table of ports: name, rate, n or load, rtt, and more columns that are optional.

    ``n`` long flows, or ``"50..200"`` of them; ``load`` is the share of the rate that short
    flows bring, beside n or alone. With ``members`` the port is a LAG or an ECMP group of so many,
    whose rate, n and load are given: a member is sized. ``largest_flows`` flows bring
    ``largest_share`` of its load. ``rtt`` is a time or ``"10 ms..90 ms"``. Goals are
    utilization, loss_rate and queue_delay_p99; a utilization of 0.98 with n until one is given, and
    a loss of 0.005 without n where no goal is. ``overrides`` are ``PATH=VALUE`` strings for every
    port's scenario, as in `forebay.load`.

    Raises
    ------
    ScenarioError
        It names the line.
    """
    reader = csv.DictReader(io.StringIO(_text(path), newline=""), skipinitialspace=True)
    rows = [(reader.line_num, row) for row in reader]
    if not rows or len(rows) > _MOST_PORTS:
        raise ScenarioError("ports.number", path=path, ports=len(rows), most=_MOST_PORTS)
    columns = [name.strip() for name in reader.fieldnames or () if name]
    unknown = [name for name in columns if name not in _KNOWN]
    missing = [name for name in _NEEDED if name not in columns]
    if unknown or missing:
        raise ScenarioError(
            "ports.no-column" if missing else "ports.column", path=path,
            column=(missing or unknown)[0][:40], known=", ".join(_KNOWN),
        )  # fmt: skip
    ports = []
    for line, row in rows:
        try:
            ports.append(_row(row, overrides))
        except ForebayError as error:
            raise error if error.file else error.at(f"{path} line {line}") from None
    names = [row.name for row in ports]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ScenarioError("ports.twice", path=path, name=twice)
    return ports


def _text(path: str) -> str:
    try:
        with Path(path).open("rb") as file:
            raw = file.read(_MOST_BYTES + 1)
        if len(raw) > _MOST_BYTES:
            raise ScenarioError("ports.long", path=path, most=_MOST_BYTES)
        return raw.decode("utf-8-sig")
    except OSError as error:
        raise ScenarioError("ports.unread", path=path, why=error.strerror) from None
    except UnicodeDecodeError:
        raise ScenarioError("ports.no-text", path=path) from None


def _row(row: dict[str, str | None], overrides: Sequence[str]) -> PortRow:
    cells = {
        key.strip(): (value or "").strip() for key, value in row.items() if isinstance(key, str)
    }
    if None in row or not cells.get("name"):
        raise ScenarioError("ports.cells", more=None in row)
    note = error = None
    if cells.get("members"):
        cells, note, error = _member(cells)
    elif lone := next((group for group in _OF_GROUPS if cells.get(group)), None):
        raise ScenarioError("ports.no-members", field=lone)
    columns = {"flows": "n", **{name: name for name in cells}}
    scenario = _scenario(_tree(cells), overrides, columns)
    platform, interface = (cells.get(name) or None for name in ("platform", "interface"))
    if platform is not None:
        platforms.get(platform)
    return PortRow(cells["name"], scenario, platform, interface, note, error)


def _tree(cells: dict[str, str]) -> dict[str, Any]:
    """Return a port's scenario as TOML would give it."""
    n, load = cells.get("n", ""), cells.get("load", "")
    if not n and not load:
        raise ScenarioError("ports.no-traffic")
    same: dict[str, Any] = {"rtt": _round_trip(cells["rtt"])} if cells.get("rtt") else {}
    if mix := cells.get(column := "congestion_control"):
        same[column] = _mix(mix, column)
    long = {"flows": value_of(n), **same}
    short = {"kind": "short", "length": _BURST, "load": value_of(load), **same}
    usual = {"utilization": "0.98"} if n else {"loss_rate": "0.005"}
    goals = {name: cells[name] for name in _GOALS if cells.get(name)} or usual
    return {
        "name": cells["name"],
        "link": {"rate": cells["rate"]},
        "traffic": [*([long] if n else []), *([short] if load else [])],
        "goals": {name: value_of(value) for name, value in goals.items()},
    }


def size_ports(
    rows: list[PortRow], size: Callable[[Scenario], SizeResult], words: Notation = Notation.PYTHON
) -> Iterator[SizedPort]:
    """Yield each port with its answer, in the order of the table; an error is that port's alone."""
    for row in rows:
        if row.error is not None:
            yield SizedPort(row, None, row.error)
            continue
        try:
            yield SizedPort(row, size(row.scenario))
        except ForebayError as error:
            partial = getattr(error, "result", None)
            yield SizedPort(row, partial, error.worded(words), error.exit_status)


def most_uncertain_first(ports: list[SizedPort]) -> list[SizedPort]:
    """Sort by how little the evidence decides: without an answer first."""
    return sorted(ports, key=lambda port: -port.uncertainty)


_MOST_MEMBERS = 4096
_WHOLE = re.compile(r"[0-9]{1,9}")


def _member(cells: dict[str, str]) -> tuple[dict[str, str], str, str | None]:
    """Return the cells of a member, what it is sized for, and why no size can serve it."""
    error = None
    group = _group(cells)
    member, said = dict(cells), [Fact("ports.member", members=group.members)]
    member["rate"] = str(Rate(float(Rate.parse(cells["rate"])) / group.members))
    if cells.get("n"):
        text = cells["n"]
        flows = FlowCount.parse(text if ".." in text else _count("n", text, 1, 10**9 - 1))
        low, high = group.flows(flows.low, flows.high)
        member["n"] = str(low) if low == high else f"{low}..{high}"
        said.append(Fact("ports.flows", own=member["n"], all=text))
    if cells.get("load"):
        mean = _number("load", cells["load"], 1e-6, 10.0)
        load = group.load(mean)
        if load >= 1.0:
            error = str(Fact("ports.overload", members=group.members, load=load, mean=mean))
        member["load"] = f"{load:.6g}"
        said.append(Fact("ports.load", load=load, mean=mean))
        if not group.largest_flows:
            said.append(Fact("ports.spread-evenly"))
    return member, ", ".join(map(str, said)), error


def _group(cells: dict[str, str]) -> Group:
    members = _count("members", cells["members"], 2, _MOST_MEMBERS)
    flows, share = cells.get("largest_flows", ""), cells.get("largest_share", "")
    if not flows and not share:
        return Group(members)
    if not flows or not share:
        name = "largest_share" if flows else "largest_flows"
        raise ScenarioError("missing.of-largest", field=name)
    many = _count("largest_flows", flows, 1, 10_000_000)
    return Group(members, many, _number("largest_share", share, 0.0, 1.0))


def _count(name: str, text: str, least: int, most: int) -> int:
    if _WHOLE.fullmatch(text) and least <= int(text) <= most:
        return int(text)
    raise ScenarioError("out-of-range.cell", value=text, field=name, least=least, most=most)


def _number(name: str, text: str, least: float, most: float) -> float:
    if _is_number(text) and least <= float(text) <= most:
        return float(text)
    raise ScenarioError("out-of-range.share", value=text, field=name, least=least, most=most)
