"""Reads TOML to a checked Scenario, and writes it. No later code checks input again."""

import json
import os
import re
import stat
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from forebay.errors import literal, written_in
from forebay.scenario import overrides as sets
from forebay.scenario.base import FOLDER
from forebay.scenario.errors import ScenarioError, show
from forebay.scenario.model import Scenario
from forebay.words import Notation

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
        is_dict = isinstance(path, Mapping)
        hint = "write Scenario.from_dict(…) of it" if is_dict else "write a file's path in quotes"
        raise ScenarioError("wrong-type", f"{show(path)} is not a path", hint, value=path)
    source = os.fspath(path)
    if not os.path.exists(source) and source in shipped():
        source = str(_SHIPPED / f"{source}.toml")
    return _read(_text(_bytes(source), source), source, overrides, os.path.dirname(source))


def read_toml(source: str, kind: str, known: Sequence[str]) -> dict[str, Any]:
    """Return the tree of a TOML file that is no scenario, such as a grid. Raises ScenarioError.

    ``known`` are the names that ship with Forebay, for the hint of a file that does not exist.
    """
    try:
        content = _bytes(source)
    except ScenarioError as error:
        if error.code != "file-missing":
            raise
        hint = f"write the path of a {kind}, or a shipped one's name: {', '.join(known)}"
        raise ScenarioError(error.code, error.wrong, hint, file=source) from None
    return _tree(_text(content, source), source)


def loads(text: str, *, source: str = "<string>", overrides: Sequence[str] = ()) -> Scenario:
    """Read a scenario from TOML text, like ``load``; ``source`` is its name in messages.

    Relative paths in it start at the current folder.
    """
    return _read(text, source, overrides, "")


def _read(text: str, source: str, overrides: Sequence[str], folder: str) -> Scenario:
    with written_in(Notation.FILE):
        tree = _tree(text, source)
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
    hint = "write a Scenario(…), or forebay.load(…) of a file"
    if isinstance(value, str | os.PathLike):
        hint = f"write forebay.load({literal(os.fspath(value))})"
    if isinstance(value, Mapping):
        hint = "write Scenario.from_dict(…) of it"
    wrong = f"{show(value)} where a Scenario belongs"
    raise ScenarioError("wrong-type", wrong, hint, field="scenario", value=value)


def dumps(scenario: Scenario) -> str:
    """Return TOML with every field written out; ``loads`` reads back an equal scenario."""
    return scenario.to_toml()


def without_empty(value: Any) -> Any:
    """Return the data of a scenario without null, which TOML has not, and without empty lists."""
    if isinstance(value, Mapping):
        kept = {name: without_empty(part) for name, part in value.items()}
        return {name: part for name, part in kept.items() if part is not None and part != []}
    return [without_empty(part) for part in value] if isinstance(value, list) else value


def _bytes(source: str) -> bytes:
    try:
        mode = os.stat(source).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # opening a pipe could block
            hint = "write the scenario into a file and give its path"
            raise ScenarioError("file-unreadable", "is no regular file", hint, file=source)
        with Path(source).open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        hint = f"write the path of a scenario file, or a shipped one's name: {', '.join(shipped())}"
        raise ScenarioError("file-missing", "no such file", hint, file=source) from None
    except IsADirectoryError:
        hint = "write the path of a scenario file in it"
        raise ScenarioError("file-directory", "is a directory", hint, file=source) from None
    except ScenarioError:
        raise
    except (OSError, ValueError) as error:
        wrong = f"cannot be read ({getattr(error, 'strerror', None) or error})"
        hint = "write the path of a file that you may read"
        raise ScenarioError("file-unreadable", wrong, hint, file=source) from None
    if len(content) > _MOST_BYTES:
        wrong, hint = "is larger than 16 MiB", "write the path of a scenario file"
        raise ScenarioError("file-too-large", wrong, hint, file=source)
    return content


def _text(content: bytes, source: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        wrong, hint = f"line {line} is not UTF-8", "write the file in UTF-8"
        raise ScenarioError("not-utf8", wrong, hint, file=source) from None


def _tree(text: str, source: str) -> dict[str, Any]:
    hint = "write key = value there, texts and quantities in quotes"
    if deep := _DOTTED.search(text):
        line = text.count("\n", 0, deep.start()) + 1
        wrong = f"line {line} has a key of more than {_MOST_PARTS} parts"
        raise ScenarioError("toml-syntax", wrong, hint, file=source)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ScenarioError("toml-syntax", "is nested too deeply", hint, file=source) from None
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError("toml-syntax", f"not TOML: {error}", hint, file=source) from None
    except ValueError:
        wrong = "has a number with thousands of digits"
        raise ScenarioError("toml-syntax", wrong, hint, file=source) from None


def quoted(text: str) -> str:
    """Return a text as a TOML string."""
    return json.dumps(text, ensure_ascii=False)
