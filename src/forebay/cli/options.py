"""Options that several verbs share, with the same meaning in each."""

from __future__ import annotations

import math
import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

import forebay
from forebay.files.atomic import fault, write_text
from forebay.packages import check_file

if TYPE_CHECKING:
    from forebay import Scenario

F = TypeVar("F", bound=Callable[..., Any])

_LONGEST_NAME = 255  # NAME_MAX of Linux's and the BSDs' file systems
FIGURE_KINDS = (".svg", ".png", ".pdf")


class WholeNumber(click.IntRange):
    """A whole number in a range; an error says what to write."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number, or raise an error with the range."""
        try:
            number = int(value)
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is not a whole number; write {self._range()}", param, ctx)
        if (self.min is not None and number < self.min) or (
            self.max is not None and number > self.max
        ):
            self.fail(f"{number} is out of range; write {self._range()}", param, ctx)
        return number

    def _range(self) -> str:
        least = int(self.min or 0)
        ends = f"{least} or more" if self.max is None else f"{least} to {self.max}"
        return f"{ends}, such as {max(least, 1)}"


class Number(click.FloatRange):
    """A number in a range; an error says what to write."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number, or raise an error with the range."""
        low, high = self.min or 0.0, math.inf if self.max is None else self.max
        ends = f"{low:g} to {high:g}"
        if self.min_open:
            ends = f"one above {low:g}" + ("" if self.max is None else f" and below {high:g}")
        try:
            number = float(value)
        except ValueError:
            self.fail(f"{value!r} is not a number; write {ends}", param, ctx)
        if not low <= number <= high or (self.min_open and number in (low, high)):
            self.fail(f"{number:g} is out of range; write {ends}", param, ctx)
        return number


class OutputPath(click.ParamType[Path]):
    """The path of a file to write; checked before the run."""

    name = "path"

    def __init__(self, *endings: str) -> None:
        self.endings = endings

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Check the name's ending, and that its folder is writable."""
        path = Path(value)
        if len(os.fsencode(path.name)) > _LONGEST_NAME or "\0" in str(value):
            self.fail(f"{value[:40]!r}…: write a name of at most {_LONGEST_NAME} B", param, ctx)
        if path.suffix.lower() not in self.endings:
            self.fail(f"{value!r}: write a name that ends in {', '.join(self.endings)}", param, ctx)
        check_file(path)
        if (found := fault(path)) is not None:
            self.fail(f"{value!r}: {'; '.join(found)}", param, ctx)
        return path


def check_outputs(source: str, scenario: Scenario, **outputs: Path | None) -> None:
    """Refuse an output that is one of the input files or has the same path as another output.

    Raises
    ------
    BadParameter
        It names the option.
    """
    check_places((source, *scenario.files), **outputs)


def check_places(sources: Iterable[str | None], **outputs: Path | None) -> None:
    """Refuse an output with the path of one of ``sources`` or another output; as above."""
    taken = {os.path.realpath(each): f"{each!r} is read" for each in sources if each}
    for name, path in outputs.items():
        if path is None:
            continue
        place = os.path.realpath(path)
        if place in taken:
            wrong = f"{taken[place]} by this command; name another path"
            raise click.BadParameter(wrong, param_hint=f"--{name}")
        taken[place] = f"{os.fspath(path)!r} is also written"


def _chain(*options: Callable[[F], F]) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def _once(
    _ctx: click.Context, _param: click.Parameter, overrides: tuple[str, ...]
) -> tuple[str, ...]:
    paths = [each.partition("=")[0].strip() for each in overrides]
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice is not None:
        wrong, hint = f"{twice} is set twice", "write it once"
        raise forebay.ScenarioError("bad-override", wrong, hint, file="--set")
    return overrides


overrides = click.option(
    "--set", "overrides", metavar="PATH=VALUE", multiple=True, callback=_once,
    help='Override a field, e.g. --set queue.size="64 packets". May be repeated.',
)  # fmt: skip

uncertain = click.option(
    "--uncertain", metavar="PATH=RANGE", multiple=True,
    help='An input that is not known: --uncertain "traffic.0.flows=100..400", "link.rate=±20%", or '
    "a list or table of values. May be repeated.",
)  # fmt: skip


def ranges(uncertain: Iterable[str]) -> dict[str, Any]:
    """Return what ``--uncertain`` says: a range, a list or a table by path."""
    found: dict[str, Any] = {}
    for each in uncertain:
        path, equals, text = (part.strip() for part in each.partition("="))
        if not equals or not path or not text:
            wrong = f"{each!r} is no range; write PATH=RANGE, such as traffic.0.flows=100..400"
            raise click.BadParameter(wrong, param_hint="--uncertain")
        if path in found:
            wrong = f"{path} is named twice; write it once"
            raise click.BadParameter(wrong, param_hint="--uncertain")
        try:
            found[path] = tomllib.loads(f"value = {text}")["value"]
        except (ValueError, RecursionError):
            found[path] = text
    return found


scenario = _chain(click.argument("path", metavar="SCENARIO"), overrides)


def _keep(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Keep an option of a link without a file for `load`."""
    if value:
        ctx.meta.setdefault(_LINK, {})[str(param.name)] = value


_LINK = "forebay.link"


def _of_link(flag: str, help: str, **more: Any) -> Callable[[F], F]:
    return click.option(flag, expose_value=False, callback=_keep, help=help, **more)


flows_of_link = _of_link("--flows", "Without a file: long flows, 1000.", metavar="N")
link = _chain(
    click.argument("path", metavar="SCENARIO", required=False),
    overrides,
    _of_link("--rate", 'Without a file: the link, "10 Gbit/s".', metavar="RATE"),
    _of_link("--rtt", 'Without a file: "50 ms", or "20 ms..120 ms".', metavar="TIME"),
    _of_link("--mix", "Without a file: shares of controls, cubic=0.5,bbr=0.5.", metavar="SHARES"),
    _of_link(
        "--goal", "Without a file: a goal, utilization=0.95. May be repeated.",
        metavar="NAME=VALUE", multiple=True,
    ),
    _of_link("--save", "Write the scenario of these options.", metavar="LINK.toml",
             type=OutputPath(".toml")),
)  # fmt: skip
"""A scenario's file, or a link in options; `flows_of_link` belongs to it."""


class FlowsOrTable(OutputPath):
    """The table of flows to write, or else the number of flows of a link without a file."""

    name = "flows"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path of a table; keep a number for `load`."""
        if Path(value).suffix or not str(value)[:1].isdigit():
            return super().convert(value, param, ctx)
        assert ctx is not None, "of a command"
        ctx.meta.setdefault(_LINK, {})["flows"] = value
        return None


def load(path: str | None, overrides: tuple[str, ...]) -> Scenario:
    """Return the scenario of a file, or of the options that stand for one."""
    given: dict[str, Any] = click.get_current_context().meta.get(_LINK, {})
    if path is not None:
        if given:
            wrong = f"{path!r} is a file; leave this out, or write --set"
            raise click.BadParameter(wrong, param_hint=f"--{next(iter(given))}")
        return forebay.load(path, overrides)
    save = given.get("save")
    made = forebay.link_scenario(**{k: v for k, v in given.items() if k != "save"}, set=overrides)
    if save is not None:
        write_text(made.to_toml(), save)
    return made


as_json = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document and nothing else."
)

store = click.option(
    "--store", metavar="FILE", default=None, type=click.Path(path_type=Path),
    help="Keep every replication in this store; what it has is not run again.",
)  # fmt: skip

figure = click.option(
    "--figure",
    type=OutputPath(*FIGURE_KINDS),
    help="Draw the picture into a .svg, .png or .pdf file.",
)  # fmt: skip


class EngineOption(click.Option):
    """The option ``--engine``, whose help lists the engines that are installed."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the line of the help; only then are other distributions asked."""
        *first, last = forebay.engine_names()
        self.help = f"{', '.join(first)} or {last}."
        return super().get_help_record(ctx)


def refuse_beside(given: Mapping[str, object], what: str) -> None:
    """Refuse an option that is given and does not go with another; ``what`` says what it is for."""
    for name, value in given.items():
        if value:
            wrong = f"is for {what}; leave it out"
            raise click.BadParameter(wrong, param_hint=f"--{name.replace('_', '-')}")


engine = click.option(
    "--engine", cls=EngineOption, default="simulation", show_default=True, metavar="NAME",
)  # fmt: skip

jobs = click.option(
    "--jobs", type=WholeNumber(0, 1024), default=0, metavar="N",
    help="Threads; 0, the default, means one per core. The answer does not depend on it; the "
    "testbed runs one replication after the other.",
)  # fmt: skip

memory_limit = click.option(
    "--memory-limit", metavar="SIZE", default=None,
    help='Most memory that a run may take, e.g. "8 GB"; not set: 2 GB, or half of the machine\'s.',
)  # fmt: skip

budget = click.option(
    "--budget", metavar="TIME", default=None,
    help='Time that a simulation may take, e.g. "2 min"; not set: 60 s for size, else no limit.',
)  # fmt: skip

seed = click.option(
    "--seed", type=WholeNumber(0, 2**63 - 1), default=1, show_default=True, metavar="N",
    help="First seed.",
)  # fmt: skip


def seeds(default: int) -> Callable[[F], F]:
    """Return the option ``--seeds K`` with the verb's own default."""
    return click.option(
        "--seeds", type=WholeNumber(1, 100_000), default=default, show_default=True,
        metavar="K", help="Replications, with seeds N, N+1, … Intervals come from these.",
    )  # fmt: skip


def effort(*shared: str, **own: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Give a verb the options of what its answer may take, as one argument ``effort``.

    It is a dict for the keyword arguments of the verb in `forebay`.

    Parameters
    ----------
    shared : names of options that are the same in all verbs.
    own : options of these names that are the verb's own.
    """
    known = {name: _SHARED[name] for name in shared} | own

    def decorate(function: Callable[..., Any]) -> Any:
        @wraps(function)
        def command(**given: Any) -> Any:
            return function(effort={name: given.pop(name) for name in known}, **given)

        return _chain(*(known[name] for name in sorted(known, key=_ORDER.index)))(command)

    return decorate


_SHARED: dict[str, Callable[[Any], Any]] = {
    "engine": engine, "seed": seed, "jobs": jobs, "memory_limit": memory_limit, "budget": budget,
    "store": store,
}  # fmt: skip
_ORDER = ("engine", "seed", "seeds", "max_seeds", "jobs", "memory_limit", "budget", "store")
"""Of the options in ``--help``."""
