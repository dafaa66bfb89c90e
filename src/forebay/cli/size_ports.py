"""``forebay size --ports``: a table of ports, sized one after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from forebay.api import ports
from forebay.cli.output import print_json, say

if TYPE_CHECKING:
    from forebay import Scenario, SizeResult
    from forebay.platforms import Emission


def size_table(path: str, size: Callable[[Scenario], SizeResult], as_json: bool) -> int:
    """Size every port of a table and print them; return the worst exit status."""
    rows = ports.read_ports(path)
    for row in rows:
        if row.platform is not None:
            _check(row.platform)
    done = []
    for port in ports.size_ports(rows, size):
        done.append(port)
        say(f"{len(done)} of {len(rows)}: {port.row.name}: {_said(port)}")
    done = ports.most_uncertain_first(done)
    names = _object_names(rows)
    made = {port.row.name: _emitted(port, *names[port.row.name]) for port in done}
    if as_json:
        documents = [_document(port, made[port.row.name]) for port in done]
        print_json({"schema": 1, "ports": documents})
    else:
        _print(done, made)
    return max((_status(port) for port in done), default=0)


def _check(platform: str) -> None:
    from forebay.platforms import get

    get(platform)


def _said(port: ports.SizedPort) -> str:
    if port.answer is not None and port.answer.recommended is not None:
        return f"{port.answer.recommended.packets} packets"
    return port.error or (port.answer.reason if port.answer else None) or "no answer"


def _status(port: ports.SizedPort) -> int:
    return 3 if port.answer is None else port.answer.exit_status


def _object_names(rows: Sequence[ports.PortRow]) -> dict[str, tuple[str, int]]:
    """Return the name and the number of what is written for each port, apart on each platform."""
    from forebay.platforms import object_names

    found = {}
    for platform in {row.platform for row in rows}:
        own = [row.name for row in rows if row.platform == platform]
        for number, (port, name) in enumerate(zip(own, object_names(own), strict=True), 100):
            found[port] = (name, number)
    return found


def _emitted(port: ports.SizedPort, name: str, number: int) -> Emission | str | None:
    """Return a port's configuration; one line why there is none; None without a platform."""
    answer, row = port.answer, port.row
    if row.platform is None or answer is None or answer.buffer is None:
        return None
    from forebay.platforms import PlatformError, emit, of_sizing

    try:
        wanted, place = of_sizing(answer, row.name)
        return emit(wanted, place, row.platform, interface=row.interface, name=name, number=number)
    except PlatformError as error:
        return str(error)


def _print(done: list[ports.SizedPort], made: dict[str, Emission | str | None]) -> None:
    from forebay.report import print_ports

    print_ports([
        (port.row.name, str(port.row.scenario.link.rate), port.answer, port.error, port.row.note)
        for port in done
    ])  # fmt: skip
    for name, emission in made.items():
        if emission is not None:
            text = emission if isinstance(emission, str) else emission.text.rstrip("\n")
            click.echo(f"\n{name}\n{text}")


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
