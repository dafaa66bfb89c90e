"""``forebay size --ports`` and ``--class-queues``: several sizes, one by one or together."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

import forebay
from forebay import platforms, report
from forebay.api import class_queues, ports
from forebay.cli.output import in_line, progress, say, show
from forebay.progress import never_less
from forebay.scenario import Rate
from forebay.words import Notation, argument

if TYPE_CHECKING:
    from forebay import Scenario, SizeResult
    from forebay.platforms import Emission


def size_table(
    path: str,
    overrides: Sequence[str],
    size: Callable[[Scenario], SizeResult],
    stopped: Callable[[], KeyboardInterrupt],
    as_json: bool,
) -> int:
    """Size every port of a table and print them; return the worst exit status.

    A stop prints the ports done so far, and raises ``stopped``.
    """
    rows = ports.read_ports(path, overrides)
    done: list[ports.SizedPort] = []
    try:
        for port in ports.size_ports(rows, size, Notation.COMMAND_LINE):
            done.append(port)
            say(f"{len(done)} of {len(rows)}: {port.row.name}: {_said(port)}")
    except KeyboardInterrupt:
        if done:
            _show(rows, done, as_json)
            say(f"{len(done)} of {len(rows)} ports are printed")
        raise stopped() from None
    _show(rows, done, as_json)
    return max((port.exit_status for port in done), default=0)


def _show(rows: list[ports.PortRow], done: list[ports.SizedPort], as_json: bool) -> None:
    done = ports.most_uncertain_first(done)
    names = _object_names(rows)
    emissions = [_emitted(port, *names[port.row.name]) for port in done]
    ends = {port.row.name for port in done}
    left = [row.name for row in rows if row.name not in ends]
    documents = [
        {
            "name": port.row.name, "platform": port.row.platform, "note": port.row.note,
            "answer": None if port.answer is None else port.answer.to_dict(),
            "error": port.error or why,
            "configuration": None if emission is None else emission.to_dict(),
        }
        for port, (emission, why) in zip(done, emissions, strict=True)
    ]  # fmt: skip
    document = {"schema": 1, "ports": documents, "interrupted": bool(left), "left": left}
    show(document, as_json, lambda _: _print(done, emissions))


def _said(port: ports.SizedPort) -> str:
    if port.answer is not None and port.answer.recommended is not None:
        return f"{port.answer.recommended.packets} packets"
    return port.error or (port.answer.reason if port.answer else None) or "no answer"


def _object_names(rows: Sequence[ports.PortRow]) -> dict[str, tuple[str, int]]:
    """Return the name and the number of what is written for each port, apart on each platform."""
    names: dict[str, tuple[str, int]] = {}
    for platform in {row.platform for row in rows}:
        own = [row.name for row in rows if row.platform == platform]
        numbered = zip(platforms.object_names(own), range(100, 100 + len(own)), strict=True)
        names |= dict(zip(own, numbered, strict=True))
    return names


def _emitted(port: ports.SizedPort, name: str, number: int) -> tuple[Emission | None, str | None]:
    """Return a port's configuration, if it is for a platform, or one line why there is none."""
    answer, row = port.answer, port.row
    if row.platform is None or answer is None or answer.buffer is None:
        return None, None
    try:
        wanted, place = platforms.of_sizing(answer, row.name)
        where: dict[str, Any] = {"interface": row.interface, "name": name, "number": number}
        return platforms.emit(wanted, place, row.platform, **where), None
    except platforms.PlatformError as error:
        return None, in_line(error)


def _print(done: list[ports.SizedPort], made: list[tuple[Emission | None, str | None]]) -> None:
    rates = [float(port.row.scenario.link.rate) for port in done]
    report.print_ports([  # in six digits: the rate of a member may have no last one
        (port.row.name, str(Rate(float(f"{rate:.6g}"))), port.answer, port.error, port.row.note)
        for port, rate in zip(done, rates, strict=True)
    ])  # fmt: skip
    for port, (emission, why) in zip(done, made, strict=True):
        text = why if emission is None else emission.text.rstrip("\n")
        if text is not None:
            click.echo(f"\n{port.row.name}\n{text}")


BUDGET = "4 min"


def size_together(
    scenario: Scenario, how: dict[str, Any], memory: str | None, platform: str | None, as_json: bool
) -> int:
    """Size the class queues, print them, and return the exit status.

    Parameters
    ----------
    how : further parameters of `forebay.size`; its budget is that of all sizings together.
    """
    if platform is not None:
        platforms.check_class_platform(platform)
    budget = forebay.Duration.parse_argument(argument("budget"), how.pop("budget") or BUDGET)
    runs = {name: how[name] for name in ("seed", "seeds", "jobs", "memory_limit", "store")}

    def sizing(one: Scenario, seconds: float) -> SizeResult:
        try:
            return forebay.size(one, budget=f"{seconds:.6g} s", progress=still, expect=begun, **how)
        except forebay.TooLittleTime as stop:
            # The time asked for is that of one sizing: say that of all.
            raise stop.told(
                why=f"a class queue has {seconds:.2g} s, {share:.2g} of the budget: {stop.why}",
                needs_s=stop.needs_s / share, budget_s=float(budget),
            ) from None  # fmt: skip

    sought = sum(queue.is_sized for queue in scenario.queue.classes)
    share = class_queues.share_of_sizing(max(sought, 1))
    queues = "1 class queue" if sought == 1 else f"{sought} class queues"
    detail = "" if sought == 1 else f", {share * float(budget):.3g} s for each sizing"
    is_told = False

    def begun(_: float) -> None:  # the first sizing: nothing was refused
        nonlocal is_told
        if not is_told:
            say(f"sizing {queues}: at most {budget}{detail}, and then one run of the port")
        is_told = True

    with progress("sizing class queues") as shown:
        update, began = never_less(shown), time.monotonic()
        assert update is not None

        def still(_: float) -> None:
            update(min((time.monotonic() - began) / float(budget), 0.95))

        sizes = class_queues.size_class_queues(
            scenario, sizing, lambda port: forebay.run(port, **runs),
            memory=memory, budget_s=float(budget), progress=update,
        )  # fmt: skip
    emission = None
    if platform is not None and not sizes.exit_status:
        sized = forebay.Scenario.from_dict(sizes.outcome.scenario)
        emission = platforms.emit_classes(sized, platform)
        sizes = sizes.model_copy(update={"configuration": emission.to_dict()})
    show(sizes, as_json, report.print_class_queues)
    if platform is not None and emission is None:
        say(f"no configuration for {platform}: these sizes do not meet all goals for certain")
    return sizes.exit_status
