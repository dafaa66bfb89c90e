"""Which options of ``forebay measure`` are read with which records."""

from __future__ import annotations

from typing import Literal

import click
from click.core import ParameterSource

Records = Literal["captures", "--counters", "--snmp", "--exports", "--listen", "--ss", "--answer"]

_SCENARIO = {"congestion_control", "buffer", "goal"}
_COUNTED = {"rtt", "packet"}
_READ: dict[Records, set[str]] = {
    "captures": {"interface", "toward", "overhead", "at", *_SCENARIO},
    "--counters": {"busy_hour", *_COUNTED, *_SCENARIO},
    "--snmp": {"interface", *_COUNTED, *_SCENARIO},
    "--exports": set(),
    "--listen": set(),
    "--ss": set(),
    "--answer": set(),
}
_NARROW = set().union(*_READ.values()) | {"ss", "nstat", "exports", "community"}
_OWN = {"--snmp": {"community"}, "--exports": {"exports"}, "--ss": {"ss", "nstat"}}
_NAMES = {"--exports": "flow records", "--listen": "flow records", "--ss": "a host's own flows"}


def refuse_unread(records: Records) -> None:
    """Raise UsageError for an option that was written and that nothing would read."""
    context = click.get_current_context()
    read = _READ[records] | _OWN.get(records, set())
    for option in context.command.params:
        name = option.name or ""
        written = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if written and name in _NARROW - read:
            what = _NAMES.get(records, records)
            raise click.UsageError(f"{option.opts[0]} is not read with {what}; leave it out")
