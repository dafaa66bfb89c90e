"""Reads TOML to a checked Scenario, and writes it. No later code checks input again."""

import os
import re
import stat
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from forebay.errors import written_in
from forebay.scenario import overrides as sets
from forebay.scenario.base import FOLDER
from forebay.scenario.errors import ScenarioError
from forebay.scenario.model import Scenario
from forebay.words import Fact, Notation

_SHIPPED = Path(__file__).resolve().parents[1] / "scenarios"
_MOST_BYTES = 16 * 1024 * 1024
_MOST_PARTS = 32
# tomllib stores every prefix of a dotted key: with 24,000 parts this takes gigabytes.
_PART = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*"""
_DOTTED = re.compile(rf"(?:^|[{{,\[])[ \t]*(?:{_PART}){{{_MOST_PARTS}}}", re.MULTILINE)


def shipped() -> list[str]:
    """Return the names of the scenarios that ship with Forebay, such as "oc3-gsr".

    `forebay.load` and every verb of the command line accept such a name instead of a path.

    >>> "oc3-gsr" in forebay.shipped()
    True
    """
    return sorted(path.stem for path in _SHIPPED.glob("*.toml"))


def load(path: str | os.PathLike[str], overrides: Sequence[str] = ()) -> Scenario:
    """Read a scenario file.

    Parameters
    ----------
    path
        A TOML file in UTF-8, or the name of a shipped scenario (`forebay.shipped`).
    overrides
        ``PATH=VALUE`` strings, applied in order before any check.

    Raises
    ------
    ScenarioError
        The error has what is wrong, where, and what to write instead; its ``str`` is one line.

    >>> forebay.load("oc3-gsr", ["traffic.0.flows=400"]).n_flows
    400
    """
    if not isinstance(path, str | os.PathLike):
        kind = "wrong-type.dict" if isinstance(path, Mapping) else "wrong-type.path"
        raise ScenarioError(kind, value=path)
    source = os.fspath(path)
    if not os.path.exists(source) and source in shipped():
        source = str(_SHIPPED / f"{source}.toml")
    return _read(_text(_bytes(source), source), source, overrides, os.path.dirname(source))


def read_toml(source: str, kind: str, known: Sequence[str]) -> dict[str, Any]:
    """Return the tree of a TOML file that is no scenario, such as a grid. Raises ScenarioError.

    ``known`` are the names that ship with Forebay, for the hint of a file that does not exist.
    """
    return _tree(_text(_bytes(source, kind, known), source), source)


def loads(text: str, *, source: str = "<string>", overrides: Sequence[str] = ()) -> Scenario:
    """Read a scenario from TOML text, like ``load``; ``source`` is its name in messages.

    Relative paths in it start at the current folder.
    """
    return _read(text, source, overrides, "")


def _read(text: str, source: str, overrides: Sequence[str], folder: str) -> Scenario:
    with written_in(Notation.FILE):
        return of_tree(_tree(text, source), source, overrides, folder)


def of_tree(
    tree: dict[str, Any], source: str, overrides: Sequence[str] = (), folder: str = ""
) -> Scenario:
    """Return the scenario of what TOML text would give, as `loads` does; the tree may change."""
    paths = sets.apply(tree, overrides) if overrides else []
    try:
        return Scenario.model_validate(tree, context={FOLDER: folder})
    except ValidationError as error:
        from forebay.scenario.format_error import format_error

        problem = format_error(error, Scenario)
    raise problem.at(sets.SOURCE if sets.blames(paths, problem.field) else source)


def expect_scenario(value: object) -> None:
    """Refuse a value that is not a Scenario, such as a path or a dict. Raises ScenarioError."""
    if isinstance(value, Scenario):
        return
    hint = Fact("wrong-type.scenario-of-dict")
    if isinstance(value, str | os.PathLike):
        hint = Fact("wrong-type.scenario-of-file", path=os.fspath(value))
    elif not isinstance(value, Mapping):
        hint = Fact("wrong-type.scenario-of-nothing")
    raise ScenarioError("wrong-type.no-scenario", hint=hint, field="scenario", value=value)


def dumps(scenario: Scenario) -> str:
    """Return TOML with every field written out; ``loads`` reads back an equal scenario."""
    return scenario.to_toml()


def without_empty(value: Any) -> Any:
    """Return the data of a scenario without null, which TOML has not, and without empty lists."""
    if isinstance(value, Mapping):
        kept = {name: without_empty(part) for name, part in value.items()}
        return {name: part for name, part in kept.items() if part is not None and part != []}
    return [without_empty(part) for part in value] if isinstance(value, list) else value


def _bytes(source: str, kind: str = "scenario file", known: Sequence[str] | None = None) -> bytes:
    try:
        mode = os.stat(source).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # opening a pipe could block
            raise ScenarioError("file-unreadable.no-file", file=source)
        with Path(source).open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        names = ", ".join(shipped() if known is None else known)
        raise ScenarioError("file-missing", file=source, of=kind, known=names) from None
    except IsADirectoryError:
        raise ScenarioError("file-directory", file=source) from None
    except ScenarioError:
        raise
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ScenarioError("file-unreadable", file=source, why=why) from None
    if len(content) > _MOST_BYTES:
        raise ScenarioError("file-too-large", file=source)
    return content


def _text(content: bytes, source: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ScenarioError("not-utf8", file=source, line=line) from None


def _tree(text: str, source: str) -> dict[str, Any]:
    if deep := _DOTTED.search(text):
        line = text.count("\n", 0, deep.start()) + 1
        raise ScenarioError("toml-syntax.long-key", file=source, line=line, most=_MOST_PARTS)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ScenarioError("toml-syntax.nested", file=source) from None
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError("toml-syntax.line", file=source, said=str(error)) from None
    except ValueError:
        raise ScenarioError("toml-syntax.huge-number", file=source) from None
