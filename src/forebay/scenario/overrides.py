"""Replaces fields before a scenario is checked: PATH=VALUE of --set, and Python's `replace`."""

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from forebay.scenario.base import GivenHere, ScenarioModel, listed
from forebay.scenario.errors import ScenarioError
from forebay.scenario.goals import Target
from forebay.words import Term, argument, either

SOURCE = argument("overrides", "set")
"""The place of overrides, in errors."""
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_DIGITS = 18
"""Most digits of a whole number with leading zeros, as of one without them in 64 bits."""


def apply(tree: dict[str, Any], overrides: Sequence[str]) -> list[str]:
    """Change ``tree`` in place, in order; return the paths. Raises ScenarioError.

    A path of a file starts at the current folder if the file is there, else where those of the
    scenario do.
    """
    paths = []
    changes = listed(SOURCE, overrides)
    try:
        for override in changes:
            path, equals, text = map(str.strip, f"{override}".partition("="))
            if not isinstance(override, str) or not equals or not all(path.split(".")):
                raise ScenarioError("bad-override.sets-nothing", value=override)
            _put(tree, path.split("."), _given(value_of(text)))
            paths.append(path)
    except ScenarioError as error:
        raise error.at(SOURCE) from None
    return paths


def replace(tree: dict[str, Any], changes: Mapping[str, object]) -> None:
    """Change ``tree`` in place: for each dotted path a value, or None. Raises ScenarioError."""
    if not isinstance(changes, Mapping):
        raise ScenarioError("wrong-type.changes", value=changes)
    for path, value in changes.items():
        parts = path.split(".") if isinstance(path, str) else [""]
        if not all(parts):
            raise ScenarioError("bad-override.no-path", value=path)
        is_removed = value is None and has_field(path)  # another path is refused below
        _put(tree, parts, _REMOVED if is_removed else as_tree(value))
    _drop_removed(tree)


_REMOVED = object()


def _drop_removed(node: Any) -> None:
    """Take out what was removed, at the end: until then an index means an entry as it was."""
    if isinstance(node, list):
        node[:] = [part for part in node if part is not _REMOVED]
    elif isinstance(node, dict):
        for name in [name for name, part in node.items() if part is _REMOVED]:
            del node[name]
    else:
        return
    for part in node if isinstance(node, list) else node.values():
        _drop_removed(part)


def as_tree(value: Any) -> Any:
    """Return a scenario with a file's structure: the fields that were set, with their values."""
    if isinstance(value, ScenarioModel):
        set_ = [name for name in type(value).model_fields if name in value.model_fields_set]
        kind = ["kind"] if "kind" in type(value).model_fields else []
        return {name: as_tree(getattr(value, name)) for name in dict.fromkeys(kind + set_)}
    if isinstance(value, tuple | list):
        return [as_tree(part) for part in value]
    if isinstance(value, dict):
        return {name: as_tree(part) for name, part in value.items()}
    written = value.written() if isinstance(value, Target) else value
    return dict(written) if isinstance(written, dict) else value


def blames(paths: Sequence[str], field: str) -> bool:
    """Return whether an error about ``field`` is about a replaced value."""
    return any(f"{field}.".startswith(f"{p}.") or f"{p}.".startswith(f"{field}.") for p in paths)


def _given(value: object) -> object:
    """Return a value in which text that names a file of the current folder says so."""
    if isinstance(value, dict):
        return {key: _given(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_given(part) for part in value]
    return GivenHere(value) if isinstance(value, str) and os.path.isfile(value) else value


def _put(tree: Any, parts: list[str], value: object) -> None:
    node: Any = tree
    for depth, part in enumerate(parts):
        here = ".".join(parts[:depth])
        last = depth == len(parts) - 1
        if isinstance(node, list):
            key: Any = index_in(part, node, here)
        elif isinstance(node, dict):
            key = part
        else:
            raise ScenarioError(
                "bad-override.no-table",
                field=".".join(parts),
                path=here,
                whole=_whole(here, "VALUE"),
            )
        if last:
            node[key] = value
        else:
            node = node[key] if isinstance(node, list) else node.setdefault(key, {})


def index_in(part: str, entries: list[Any], here: str) -> int:
    """Return an index of a path's list, at the path ``here``. Raises ScenarioError."""
    if part.isascii() and part.isdigit() and len(part) < 10 and int(part) < len(entries):
        return int(part)
    raise ScenarioError(
        "bad-override.no-such-entry" if entries else "bad-override.empty-list",
        field=f"{here}.{part}", path=here, count=len(entries), whole=_whole(here, "[...]"),
        last=f"{here}.{len(entries) - 1}" if len(entries) > 1 else "",
    )  # fmt: skip


def _whole(path: str, value: str) -> Term:
    return either(f'{{"{path}": {value}}}', f"{path}={value}")


def value_of(text: str) -> Any:
    """Return the TOML value of an option's or a cell's text, or the number (.95), or the text."""
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return _number(text) if _NUMBER.fullmatch(text) else text
    return parsed["value"] if len(parsed) == 1 else text


def _number(text: str) -> int | float:
    return int(text) if text.isdecimal() and len(text) <= _DIGITS else float(text)


def has_field(path: str) -> bool:
    """Return whether some scenario has a field at a dotted path, whatever its other fields are."""
    from forebay.scenario.format_error import models_in
    from forebay.scenario.model import Scenario

    models: list[type[Any]] = [Scenario]
    for part in path.split("."):
        if part.isdigit():
            continue
        fields = [
            info
            for model in models
            for name, info in model.model_fields.items()
            if part in (name, info.alias)
        ]
        inside = [list(models_in(info.annotation)) for info in fields]
        if not all(inside):  # a table of any keys, or a value
            return True
        models = [model for those in inside for model in those]
        if not models:
            return False
    return True
