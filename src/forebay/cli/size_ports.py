"""``forebay size --ports``: a table of ports, sized one after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from forebay import platforms, report
from forebay.api import ports
from forebay.cli.output import answered, in_line, print_json, say
from forebay.errors import Words
from forebay.scenario import Rate

if TYPE_CHECKING:
    from forebay import Scenario, SizeResult
    from forebay.platforms import Emission


def size_table(
    path: str,
    overrides: Sequence[str],
    size: Callable[[Scenario], SizeResult],
    kept: Callable[[], list[str]],
    as_json: bool,
) -> int:
    """Size every port of a table and print them; return the worst exit status.

    A stop prints the ports done so far. ``kept`` returns the line on what a store has then.
    """
    rows = ports.read_ports(path, overrides)
    for row in rows:
        if row.platform is not None:
            platforms.get(row.platform)
    done: list[ports.SizedPort] = []
    try:
        for port in ports.size_ports(rows, size, Words.COMMAND_LINE):
            done.append(port)
            say(f"{len(done)} of {len(rows)}: {port.row.name}: {_said(port)}")
    except KeyboardInterrupt:
        if done:
            _show(rows, done, as_json)
            say(f"{len(done)} of {len(rows)} ports are printed")
        raise KeyboardInterrupt(*kept()) from None
    _show(rows, done, as_json)
    return max((_status(port) for port in done), default=0)


def _show(rows: list[ports.PortRow], done: list[ports.SizedPort], as_json: bool) -> None:
    done = ports.most_uncertain_first(done)
    names = _object_names(rows)
    made = {port.row.name: _emitted(port, *names[port.row.name]) for port in done}
    if as_json:
        documents = [_document(port, made[port.row.name]) for port in done]
        left = [row.name for row in rows if row.name not in made]
        print_json({"schema": 1, "ports": documents, "interrupted": bool(left), "left": left})
    else:
        _print(done, made)
        answered()


def _said(port: ports.SizedPort) -> str:
    if port.answer is not None and port.answer.recommended is not None:
        return f"{port.answer.recommended.packets} packets"
    return port.error or (port.answer.reason if port.answer else None) or "no answer"


def _status(port: ports.SizedPort) -> int:
    return 3 if port.answer is None else port.answer.exit_status


def _object_names(rows: Sequence[ports.PortRow]) -> dict[str, tuple[str, int]]:
    """Return the name and the number of what is written for each port, apart on each platform."""
    found = {}
    for platform in {row.platform for row in rows}:
        own = [row.name for row in rows if row.platform == platform]
        for number, (port, name) in enumerate(
            zip(own, platforms.object_names(own), strict=True), 100
        ):
            found[port] = (name, number)
    return found


def _emitted(port: ports.SizedPort, name: str, number: int) -> Emission | str | None:
    """Return a port's configuration; one line why there is none; None without a platform."""
    answer, row = port.answer, port.row
    if row.platform is None or answer is None or answer.buffer is None:
        return None
    try:
        wanted, place = platforms.of_sizing(answer, row.name)
        return platforms.emit(
            wanted, place, row.platform, interface=row.interface, name=name, number=number
        )
    except platforms.PlatformError as error:
        return in_line(error)


def _print(done: list[ports.SizedPort], made: dict[str, Emission | str | None]) -> None:
    report.print_ports([
        (port.row.name, _rate(port.row.scenario), port.answer, port.error, port.row.note)
        for port in done
    ])  # fmt: skip
    for name, emission in made.items():
        if emission is not None:
            text = emission if isinstance(emission, str) else emission.text.rstrip("\n")
            click.echo(f"\n{name}\n{text}")


def _rate(scenario: Scenario) -> str:
    """Return the rate in six digits: that of a member may have no last one."""
    return str(Rate(float(f"{float(scenario.link.rate):.6g}")))


def _document(port: ports.SizedPort, emission: Emission | str | None) -> dict[str, Any]:
    return {
        "name": port.row.name,
        "platform": port.row.platform,
        "note": port.row.note,
        "answer": None if port.answer is None else port.answer.to_dict(),
        "error": port.error or (emission if isinstance(emission, str) else None),
        "configuration": None if emission is None or isinstance(emission, str)
        else emission.to_dict(),
    }  # fmt: skip
