"""Names of the objects that lines make, for several ports of one platform."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,39}")
_LONGEST = 15
"""So that no port's name ends as the second object of another one does (Junos)."""


def is_object_name(name: str) -> bool:
    """Whether every platform takes a name: letters, digits and "-"."""
    return _NAME.fullmatch(name) is not None


def object_names(ports: Sequence[str]) -> list[str]:
    """Return a name for each port, derived from its own, that differs also without regard to case.

    A single port has "FOREBAY".
    """
    if len(ports) == 1:
        return ["FOREBAY"]
    found: dict[str, str] = {}
    for port in ports:
        plain = unicodedata.normalize("NFKD", port).encode("ascii", "ignore").decode()
        own = re.sub(r"[^A-Za-z0-9]+", "-", plain).strip("-")[:_LONGEST].rstrip("-") or "port"
        name, number = own, 1
        while name.lower() in found:
            number += 1
            name = f"{own[: _LONGEST - len(str(number)) - 1]}-{number}"
        found[name.lower()] = f"FOREBAY-{name}"
    return list(found.values())
