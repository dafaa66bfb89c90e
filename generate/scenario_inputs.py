"""What type checkers are told that a scenario's classes take, made from the models themselves.

They are `forebay.scenario.inputs`, which `make setup` writes.
"""

import inspect
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from forebay import scenario
from forebay.scenario.base import FromFile
from forebay.scenario.distribution import Distribution
from forebay.scenario.flow_length import FlowLength
from forebay.scenario.format_error import models_in
from forebay.scenario.goals import Target
from forebay.scenario.model import Scenario
from forebay.scenario.quantity import FromText
from forebay.scenario.queue import BufferSize
from forebay.scenario.rate_trace import RateFile
from forebay.scenario.source import FlowCount
from forebay.scenario.tcp import CongestionControl
from forebay.scenario.topology import NetworkFile
from forebay.scenario.traffic import PacketList
from forebay.scenario.transfers import TransferTable

_HEAD = '''"""What a scenario's classes take, for type checkers: keywords, and dicts in their place.

Made from the models by `make generated`; never imported at run time.
"""

# ruff: noqa
# fmt: off
from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Literal, Required, TypedDict

'''
_ALIASES = """
DistributionInput = str | Duration | Distribution | {laws}
FlowLengthInput = str | DataSize | FlowLength | {lengths}
CongestionControlInput = str | Mapping[str, float]
"""


def source() -> str:
    """Return the text of `forebay.scenario.inputs`."""
    models = list(dict.fromkeys(_all(Scenario)))
    laws, lengths = (
        [m for m in models if issubclass(m, one)] for one in (Distribution, FlowLength)
    )
    dicts = "".join(_typed_dict(model) for model in models if _has_dict(model))
    aliases = _ALIASES.format(laws=_either(laws), lengths=_either(lengths))
    return f"{_HEAD}{_imports(models, dicts + aliases)}{dicts}{aliases}"


def _either(models: list[type[BaseModel]]) -> str:
    return " | ".join(_dict(model) for model in models if _has_dict(model))


def _has_dict(model: type[BaseModel]) -> bool:
    return "root" not in model.model_fields


def _all(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """Return the models that a model holds, itself after them."""
    for field in model.model_fields.values():
        for part in models_in(field.annotation):
            yield from _all(part)
    yield model


def _dict(model: type[BaseModel]) -> str:
    return f"{model.__name__}Dict"


def _typed_dict(model: type[BaseModel]) -> str:
    """Return a class; of a kind that a dict must name two, for its own class need not."""
    kind = model.model_fields.get("kind")
    if kind is None or kind.default == "long":
        return _class(_dict(model), "TypedDict", model, _entries(model))
    entries = [line for line in _entries(model) if not line.startswith("kind:")]
    fields = _class(f"{model.__name__}Fields", "TypedDict", model, entries)
    named = f"kind: Required[{_type(kind.annotation)}]"
    return fields + _class(_dict(model), f"{model.__name__}Fields", model, [named])


def _class(name: str, base: str, model: type[BaseModel], lines: list[str]) -> str:
    doc = (inspect.getdoc(model) or "").splitlines()[0]
    total = ", total=False" if base == "TypedDict" else ""
    body = "".join(f"    {line}\n" for line in lines)
    return f'\n\nclass {name}({base}{total}):\n    """{doc}"""\n\n{body}'


def _entries(model: type[BaseModel]) -> list[str]:
    written = ((n, f.is_required(), _type(_taken(f))) for n, f in model.model_fields.items())
    return [f"{name}: Required[{t}]" if needs else f"{name}: {t}" for name, needs, t in written]


def _taken(field: FieldInfo) -> Any:
    """Return the type of what a field takes: a shorthand too, where a validator says so."""
    said = (getattr(one, "json_schema_input_type", PydanticUndefined) for one in field.metadata)
    return next((kind for kind in said if kind not in (PydanticUndefined, Any)), field.annotation)


def _type(annotation: Any) -> str:
    """Return what a field of this type may be given, as Python source."""
    if annotation == CongestionControl or annotation == (str | dict[str, float]):
        return "CongestionControlInput"
    origin, parts = get_origin(annotation), get_args(annotation)
    models = list(models_in(annotation))
    if any(issubclass(model, Distribution) for model in models) and origin is not tuple:
        return "DistributionInput"
    if any(issubclass(model, FlowLength) for model in models) and origin is not tuple:
        return "FlowLengthInput"
    if origin is Annotated:
        return _type(parts[0])
    if origin in (Union, types.UnionType):
        return " | ".join(dict.fromkeys(_type(part) for part in parts))
    if origin is Literal:
        return f"Literal[{', '.join(repr(part) for part in parts)}]".replace("'", '"')
    if origin is tuple:
        inner = _type(parts[0])
        return f"list[{inner}] | tuple[{inner}, ...]" if inner == "str" else f"Sequence[{inner}]"
    return _plain(annotation)


def _plain(annotation: Any) -> str:
    name: str = getattr(annotation, "__name__", str(annotation))
    if annotation is type(None):
        return "None"
    if issubclass(annotation, Target):
        return f"float | {name} | {name}TableDict"
    if annotation is FlowCount:
        return "int | str"
    if annotation is BufferSize:
        return f"str | DataSize | Duration | {name}"
    if issubclass(annotation, FromFile):
        return f"str | PathLike[str] | {name}"
    if issubclass(annotation, FromText):
        return f"str | {name}"
    return f"{name} | {_dict(annotation)}" if issubclass(annotation, BaseModel) else name


def _imports(models: list[type[BaseModel]], text: str) -> str:
    """Return the imports of the classes that the text names."""
    known: dict[str, str] = {model.__name__: model.__module__ for model in models}
    files: list[type[Any]] = [PacketList, NetworkFile, RateFile, TransferTable]
    types_: list[type[Any]] = [Distribution, FlowLength, *files]
    for kind in (*types_, *_subclasses(FromText), *_subclasses(Target)):
        known[kind.__name__] = kind.__module__
    words = set("".join(c if c.isalnum() or c == "_" else " " for c in text).split())
    by_module: dict[str, list[str]] = {}
    for name in sorted(words & set(known)):
        by_module.setdefault(known[name], []).append(name)
    lines = (f"from {module} import {', '.join(names)}\n" for module, names in by_module.items())
    return "".join(sorted(lines))


def _subclasses(kind: type[Any]) -> Iterator[type[Any]]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


def write() -> None:
    """Write the types into the package."""
    Path(scenario.__file__).with_name("inputs.py").write_text(source(), encoding="utf-8")
