"""What a verb takes: its parameters, each declared once as the default of the function's own.

``step: str = text("TIME", "Time between two samples.", default="10 ms")`` is the option ``--step
TIME`` of a function under `as_command`. What several verbs share, with one meaning, is below.
"""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

import forebay
from forebay.files.atomic import fault, write_text
from forebay.packages import check_file
from forebay.scenario.overrides import value_of

if TYPE_CHECKING:
    from forebay import Scenario

_LONGEST_NAME = 255  # NAME_MAX of Linux's and the BSDs' file systems
FIGURE_KINDS = (".svg", ".png", ".pdf")


class WholeNumber(click.IntRange):
    """A whole number in a range; an error says what to write."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number, or raise an error with the range."""
        low, high = int(self.min or 0), math.inf if self.max is None else self.max
        ends = f"{low} or more" if self.max is None else f"{low} to {high}"
        ends += f", such as {max(low, 1)}"
        try:
            number = int(value)
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is not a whole number; write {ends}", param, ctx)
        if not low <= number <= high:
            self.fail(f"{number} is out of range; write {ends}", param, ctx)
        return number


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
        if (why := fault(path)) is not None:
            self.fail(f"{value!r}: {why}; {why.hint}", param, ctx)
        return path


Declared = Callable[[str], click.Parameter]
"""Makes the option or argument of a function's parameter, whose name it takes."""


@dataclass(frozen=True)
class _Together:
    """Several options as one parameter of the function: what ``join`` makes of their values."""

    declared: Mapping[str, Declared]
    join: Callable[..., Any] = dict


def text(
    spec: str, help: str = "", kind: type[click.Option] = click.Option, **settings: Any
) -> Any:
    """Declare an option: "TIME" is what stands for its value, "--transient TIME" also its flag.

    A default is shown in the help unless ``show_default`` says otherwise; ``settings`` are click's.
    """
    flags = [word for word in spec.split() if word.startswith("--")]
    metavar = [word for word in spec.split() if word not in flags]
    shown: dict[str, Any] = {"help": help, "metavar": metavar[0] if metavar else None}
    shown |= {"show_default": "default" in settings} | settings

    def made(name: str) -> click.Parameter:
        return kind([*(flags or [f"--{name.replace('_', '-')}"]), name], **shown)

    return made


def together(**declared: Any) -> Any:
    """Declare several options that the function takes as one dict."""
    return _Together(declared)


def flag(help: str, spec: str = "") -> Any:
    """Declare an option without a value."""
    return text(spec, help, is_flag=True)


def number(spec: str, least: float, most: float | None, help: str, **settings: Any) -> Any:
    """Declare an option of a number between two others; of a whole one if these are whole."""
    kind: Any = WholeNumber if isinstance(least, int) else Number
    return text(spec, help, type=kind(least, most), **settings)


def above_zero(spec: str, help: str) -> Any:
    """Declare an option of a number above 0."""
    return text(spec, help, type=Number(0, min_open=True))


def share(help: str, **settings: Any) -> Any:
    """Declare an option of a number above 0 and below 1."""
    return text("SHARE", help, type=Number(0, 1, min_open=True, max_open=True), **settings)


def file(spec: str, help: str, **settings: Any) -> Any:
    """Declare an option of a file to write: ".csv .npz PATH" has its endings too."""
    endings = [word for word in spec.split() if word.startswith(".")]
    rest = " ".join(word for word in spec.split() if word not in endings)
    return text(rest, help, type=OutputPath(*endings), **settings)


def argument(metavar: str, **settings: Any) -> Any:
    """Declare an argument; one in brackets may be left out."""
    needed = not metavar.startswith("[")
    shown: dict[str, Any] = {"metavar": metavar, "required": needed} | settings
    return lambda name: click.Argument([name], **shown)


def as_command(
    name: str, group: click.Group | None = None
) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a function a verb, or one of a group; its docstring is the help."""

    def decorate(function: Callable[..., Any]) -> click.Command:
        parameters = inspect.signature(function).parameters
        declared = {
            name: parameter.default if isinstance(parameter.default, _Together)
            else _Together({name: parameter.default}, _alone)
            for name, parameter in parameters.items()
        }  # fmt: skip

        def called(**given: Any) -> Any:
            return function(**{
                name: each.join(**{part: given[part] for part in each.declared})
                for name, each in declared.items()
            })  # fmt: skip

        made = [make(part) for each in declared.values() for part, make in each.declared.items()]
        verb = click.Command(name, params=made, callback=called, help=function.__doc__)
        if group is not None:
            group.add_command(verb)
        return verb

    return decorate


def _alone(**values: Any) -> Any:
    (value,) = values.values()
    return value


def check_places(sources: Iterable[str | None], **outputs: Path | None) -> None:
    """Refuse an output with the path of one of ``sources``, which are read, or another output."""
    taken = {os.path.realpath(source): f"{source!r} is read" for source in sources if source}
    for name, path in outputs.items():
        if path is None:
            continue
        place = os.path.realpath(path)
        if place in taken:
            wrong = f"{taken[place]} by this command; name another path"
            raise click.BadParameter(wrong, param_hint=f"--{name}")
        taken[place] = f"{os.fspath(path)!r} is also written"


def first_written(names: Container[str]) -> str:
    """Return the flag of the first of these options that stands on the command line; "" if none."""
    context = click.get_current_context()
    for param in context.command.params:
        source = context.get_parameter_source(param.name or "")
        if source is ParameterSource.COMMANDLINE and param.name in names:
            return param.opts[0]
    return ""


def check_owners(**owners: str) -> None:
    """Refuse an option that is read only beside another: ``draws="uncertain"``, any of several."""
    params = {param.name: param for param in click.get_current_context().command.params}
    for name, owner in owners.items():
        any_of = owner.split()
        if (flag := first_written({name})) and not first_written(any_of):
            said = " or ".join(_called(params[each]) for each in any_of)
            raise click.BadParameter(f"belongs to {said}; write that", param_hint=flag)


def _called(param: click.Parameter) -> str:
    is_option = isinstance(param, click.Option)
    return param.opts[0] if is_option else param.human_readable_name.strip("[]")


def _once(_ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    paths = [pair.partition("=")[0].strip() for pair in given]
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice is not None:
        raise forebay.ScenarioError("bad-override.twice", file=param.opts[0], value=twice)
    return given


@dataclass
class Source:
    """A scenario as the command line names it: a file, or the options of a link without one."""

    path: str | None
    overrides: tuple[str, ...]
    link: dict[str, Any] = field(default_factory=dict)

    def load(self) -> Scenario:
        """Return the scenario of the file, or of the options that stand for one."""
        given = {name: value for name, value in self.link.items() if value}
        if self.path is not None:
            if given:
                wrong = f"{self.path!r} is a file; leave this out, or write --set"
                raise click.BadParameter(wrong, param_hint=f"--{next(iter(given))}")
            return forebay.load(self.path, self.overrides)
        save = given.pop("save", None)
        made = forebay.link_scenario(**given, set=self.overrides)
        if save is not None:
            write_text(made.to_toml(), save)
        return made

    def check_outputs(self, scenario: Scenario, **outputs: Path | None) -> None:
        """Refuse an output that is one of the input files; see `check_places`."""
        check_places((self.path, *scenario.files), **outputs)


class FlowsOrTable(OutputPath):
    """The table of flows to write, or else the number of flows of a link without a file."""

    name = "flows"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path of a table, or the number as text."""
        is_number = str(value).lstrip("+-.")[:1].isdigit()
        if is_number and Path(value).suffix.lower() not in self.endings:
            return str(value)
        return super().convert(value, param, ctx)


class EngineOption(click.Option):
    """The option ``--engine``, whose help lists the engines that are installed."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the line of the help; only then are other distributions asked."""
        *first, last = forebay.engine_names()
        self.help = f"{', '.join(first)} or {last}."
        return super().get_help_record(ctx)


def ranges(uncertain: Iterable[str]) -> dict[str, Any]:
    """Return what ``--uncertain`` says: a range, a list or a table by path."""
    by_path: dict[str, Any] = {}
    for pair in uncertain:
        path, _, text = (part.strip() for part in pair.partition("="))
        wrong = f"{path} is named twice; write it once" if path in by_path else ""
        if not path or not text:
            wrong = f"{pair!r} is no range; write PATH=RANGE, such as traffic.0.flows=100..400"
        if wrong:
            raise click.BadParameter(wrong, param_hint="--uncertain")
        by_path[path] = value_of(text)
    return by_path


overrides = text(
    "--set PATH=VALUE", 'Override a field, e.g. --set queue.size="64 packets". May be repeated.',
    multiple=True, callback=_once,
)  # fmt: skip


def scenario_from(metavar: str) -> Any:
    """Declare the argument of a file, and --set for its fields."""
    return _Together({"path": argument(metavar), "overrides": overrides}, Source)


scenario = scenario_from("SCENARIO")
flows = text("N", "Without a file: long flows, 1000.")
_LINK = {
    "rate": text("RATE", 'Without a file: the link, "10 Gbit/s".'),
    "rtt": text("TIME", 'Without a file: "50 ms", or "20 ms..120 ms".'),
    "mix": text("SHARES", "Without a file: shares of controls, cubic=0.5,bbr=0.5."),
    "goal": text(
        "NAME=VALUE",
        "Without a file: a goal, utilization=0.95. May be repeated.",
        multiple=True,
        callback=_once,
    ),
    "save": file(".toml LINK.toml", "Write the scenario of these options."),
}


def scenario_or_link(**more: Any) -> Any:
    """Declare a scenario's file, or a link in options; ``more`` are further ones of the link."""

    def source(path: str | None, overrides: tuple[str, ...], **link: Any) -> Source:
        return Source(path, overrides, link)

    path = argument("[SCENARIO]")
    return _Together({"path": path, "overrides": overrides, **_LINK, **more}, source)


uncertain = text(
    "PATH=RANGE",
    'An input that is not known: --uncertain "traffic.0.flows=100..400", "link.rate=±20%", or '
    "a list or table of values. May be repeated.",
    multiple=True,
)
as_json = flag("Print one JSON document and nothing else.", "--json")
figure = file(" ".join(FIGURE_KINDS), "Draw the picture into a .svg, .png or .pdf file.")
jobs = number(
    "N", 0, 1024, "Threads; 0, the default, means one per core. The answer does not depend on it; "
    "the testbed runs one replication after the other.", default=0, show_default=False,
)  # fmt: skip
seed = number("N", 0, 2**63 - 1, "First seed.", default=1)
memory_limit = text(
    "SIZE",
    'Most memory that a run may take, e.g. "8 GB"; not set: 2 GB, or half of the machine\'s.',
)


def engine(default: str) -> Any:
    """Declare the option ``--engine NAME`` with the verb's own default."""
    return text("NAME", kind=EngineOption, default=default)


def store(help: str) -> Any:
    """Declare the option ``--store FILE`` with what the verb keeps there."""
    return text("FILE", help, type=click.Path(path_type=Path))


def seeds(default: int) -> Any:
    """Declare the option ``--seeds K`` with the verb's own default."""
    help = "Replications, with seeds N, N+1, … Intervals come from these."
    return number("K", 1, 100_000, help, default=default)


_EFFORT = {
    "engine": engine("simulation"),
    "seed": seed,
    "jobs": jobs,
    "memory_limit": memory_limit,
    "budget": text(
        "TIME",
        'Time that a simulation may take, e.g. "2 min"; not set: 60 s for size, else no limit.',
    ),
    "store": store("Keep every replication in this store; what it has is not run again."),
}  # fmt: skip


def effort(names: str, **own: Any) -> Any:
    """Declare what an answer may take: a dict of keyword arguments of the verb in `forebay`.

    Parameters
    ----------
    names : of the options, in their order.
    own : options of these names that are the verb's own.
    """
    known = _EFFORT | own
    return _Together({name: known[name] for name in names.split()})
