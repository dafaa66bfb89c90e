"""Buffer sizes as configuration of router platforms: written, and read back.

``read_target`` reads the wanted size, ``emit`` writes it for a platform, and ``lint`` reads a
snippet. A platform is a record and one line in the registry.
"""

from typing import TYPE_CHECKING

from forebay.packages import attributes

if TYPE_CHECKING:
    from forebay.outcome import Memory as Memory
    from forebay.platforms.emission import (
        ClassEmission as ClassEmission, Emission as Emission,
        check_class_platform as check_class_platform, check_discipline as check_discipline,
        emit as emit, emit_classes as emit_classes, object_names as object_names,
    )  # fmt: skip
    from forebay.platforms.linting import Lint as Lint, lint as lint
    from forebay.platforms.memory import (
        REFERENCE_POINTS as REFERENCE_POINTS, TIERS as TIERS, memory_for as memory_for,
    )  # fmt: skip
    from forebay.platforms.notes import Note as Note
    from forebay.platforms.reading import (
        ConfiguredQueue as ConfiguredQueue, Port as Port, Wanted as Wanted,
    )  # fmt: skip
    from forebay.platforms.registry import (
        REFUSED as REFUSED, Platform as Platform, get as get, names as names,
    )  # fmt: skip
    from forebay.platforms.snippet import PlatformError as PlatformError, Snippet as Snippet
    from forebay.platforms.target import (
        of_sizing as of_sizing, parse_port as parse_port, read_sizing as read_sizing,
        read_snippet as read_snippet, read_target as read_target, with_choices as with_choices,
    )  # fmt: skip

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
