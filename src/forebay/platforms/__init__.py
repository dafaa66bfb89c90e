"""Buffer sizes as configuration of router platforms: written, and read back.

``read_target`` reads the wanted size, ``emit`` writes it for a platform, and ``lint`` reads a
snippet. A platform is a record and one line in the registry.
"""

from typing import TYPE_CHECKING

from forebay.packages import attributes

if TYPE_CHECKING:
    from forebay.outcome import Memory
    from forebay.platforms.emission import (
        ClassEmission,
        Emission,
        check_class_platform,
        check_discipline,
        emit,
        emit_classes,
        object_names,
    )
    from forebay.platforms.linting import Lint, lint
    from forebay.platforms.memory import REFERENCE_POINTS, TIERS, memory_for
    from forebay.platforms.notes import Note
    from forebay.platforms.reading import ConfiguredQueue, Port, Wanted
    from forebay.platforms.registry import REFUSED, Platform, get, names
    from forebay.platforms.snippet import PlatformError, Snippet
    from forebay.platforms.target import (
        of_sizing,
        parse_port,
        read_sizing,
        read_snippet,
        read_target,
        with_choices,
    )

__all__ = [
    "REFERENCE_POINTS",
    "REFUSED",
    "TIERS",
    "ClassEmission",
    "ConfiguredQueue",
    "Emission",
    "Lint",
    "Memory",
    "Note",
    "Platform",
    "PlatformError",
    "Port",
    "Snippet",
    "Wanted",
    "check_class_platform",
    "check_discipline",
    "emit",
    "emit_classes",
    "get",
    "lint",
    "memory_for",
    "names",
    "object_names",
    "of_sizing",
    "parse_port",
    "read_sizing",
    "read_snippet",
    "read_target",
    "with_choices",
]

# The names of each module. Modules are imported at first use: a sizing needs only `memory`.
_GROUPS = {
    "emission": "ClassEmission Emission check_class_platform check_discipline emit emit_classes "
    "object_names",
    "linting": "Lint lint",
    "memory": "Memory REFERENCE_POINTS TIERS memory_for",
    "notes": "Note",
    "reading": "ConfiguredQueue Port Wanted",
    "registry": "Platform REFUSED get names",
    "snippet": "PlatformError Snippet",
    "target": "of_sizing parse_port read_sizing read_snippet read_target with_choices",
}
_HOLDERS = {name: module for module, names in _GROUPS.items() for name in names.split()}

__getattr__ = attributes(__name__, _HOLDERS)
