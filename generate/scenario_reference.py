"""The reference of scenario files in docs/reference, from the model."""

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from inspect import cleandoc, getsource
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema

from forebay.scenario.base import Between
from forebay.scenario.distribution import Distribution
from forebay.scenario.flow_length import FlowLength
from forebay.scenario.goals import ClassGoals
from forebay.scenario.model import Scenario
from forebay.scenario.quantity import Quantity
from forebay.scenario.queue import READ_BY, BufferSize, Queue

FOLDER = Path(__file__).parents[1] / "docs/reference"
_TIMES = (
    ('`"100 ms"`', "Always the same."),
    ('`{ uniform = ["80 ms", "120 ms"] }`', "Equally likely anywhere between the two."),
    (
        '`{ exponential = "1 s" }`, `{ exponential = { mean, low, high } }`',
        "Memoryless; from 0 to 40 means by default.",
    ),
    (
        "`{ normal = { mean, deviation, low, high } }`",
        "Normal; four standard deviations to either side and not below 0 by default.",
    ),
    (
        "`{ lognormal = { mean, deviation, low, high } }`",
        "Its logarithm is normal; six standard deviations of the logarithm to either side by "
        "default.",
    ),
    (
        "`{ pareto = { mean, shape, high } }`",
        "Heavy-tailed: P(X > x) falls as x to the power of -shape, up to `high`. It begins where "
        "that gives the mean.",
    ),
    (
        '`{ values = ["28 ms", "67 ms"], shares = [0.6, 0.4] }`',
        "One value of a list; equally likely without shares.",
    ),
)
_LENGTHS = (
    ('`"14 packets"`, `"20 kB"`', "Always the same, rounded up to whole packets."),
    ('`{ geometric = "14 packets" }`', "Geometric, from one packet on."),
    (
        "`{ pareto = { mean, shape, high } }`",
        "Heavy-tailed up to `high`: 1000000 packets or 1500 MB by default.",
    ),
    ("`{ lognormal = { mean, deviation, high } }`", "Its logarithm is normal; `high` as above."),
)


def laws() -> str:
    """Return both sections."""
    return f"""
## Distributions of a time

{_rows(_TIMES)}
Values beyond `low` and `high` are not drawn. `mean` and `deviation` are those of the law before
it is cut; for a Pareto law `mean` is the mean of the values drawn.

## Lengths

{_rows(_LENGTHS)}
Flows send whole packets, at least one; a drawn length is rounded to the nearest. `mean` is the
mean number of whole packets. Bytes include headers: `packet` bytes make one packet.
"""


def _rows(rows: tuple[tuple[str, str], ...]) -> str:
    head = "| written | law |\n|---|---|\n"
    return head + "".join(f"| {written} | {law} |\n" for written, law in rows)


_HEAD = """# The scenario file

A scenario is TOML in UTF-8. This page is generated from the model by
`make generated`; editors can use
[scenario.schema.json](scenario.schema.json).

**Quantities** are text with a unit, such as `"155 Mbit/s"`. Prefixes: k M G T, Ki Mi Gi Ti,
m u n p. Units: bit (b), byte (B), bit/s (bps), B/s, s, min, h, packets, bdp. 1 kB is 1000 B,
1 KiB 1024 B. Fractions are numbers, counts are digits.

**1 bdp** is the link's rate times the mean propagation RTT of the flows, in packets of the mean
size; in `"1 bdp/sqrt(n)"` n is the number of flows. Both count only flows whose data crosses that
link; for the bottleneck's other direction these are the classes in reverse. Long flows count; if
there are none, users; for the bdp, if there are neither, short flows. A link without TCP data uses
the flows whose ACKs cross it, or else all flows.

**Wrong input** is refused, never clamped or ignored: an unknown key, or a value out of range.
Shorthands (`99.5 %`, `100G`, `10k`, `10-180 ms`, `155e6`) are refused too, and the message has the
form to write.

**The order of classes** is a part of the draw: the random numbers of a class come from its place in
`traffic`. Two files whose classes stand in another order are two draws of the same traffic.

`--set PATH=VALUE` replaces one field before the check; entries of `traffic` are counted from 0:
`--set queue.size="64 packets" --set traffic.0.flows=100`. VALUE is a TOML value or a number such
as `.95`, otherwise text.
"""
_UNITS: dict[Any, str] = {BufferSize: "as written"}
_IN_PYTHON = re.compile(r"\n\n(Made from|>>>).*", re.DOTALL)


@cache
def meanings(model: type[BaseModel]) -> dict[str, str]:
    """Return what stands below the fields of a class, by name; each is a string of its own.

    Pydantic could read it too, at every start of Forebay.
    """
    texts = dict[str, str]()
    for kind in reversed(model.__mro__):
        if issubclass(kind, BaseModel) and kind.__module__.startswith("forebay."):
            body = ast.parse(dedent(getsource(kind))).body[0].body  # type: ignore[attr-defined]
            for field, below in pairwise(body):
                match field, below:
                    case ast.AnnAssign(ast.Name(name)), ast.Expr(ast.Constant(str(text))):
                        texts[name] = " ".join(text.split())
    if issubclass(model, Queue):
        texts |= {name: f"{', '.join(by)}: {texts[name]}" for name, by in READ_BY.items()}
    return texts


class _Schema(GenerateJsonSchema):
    """Pydantic's generator, with defaults as in a file; its own exposes our types' internals."""

    def encode_default(self, dft: Any) -> Any:
        return _written(dft)

    def model_schema(self, schema: Any) -> dict[str, Any]:
        result = super().model_schema(schema)
        result["description"] = _IN_PYTHON.sub("", result["description"])
        for name, meaning in meanings(schema["cls"]).items():
            if name in result.get("properties", {}):
                result["properties"][name]["description"] = meaning
        return result


def schema() -> str:
    """Return the JSON Schema of a scenario file."""
    head = {"$schema": GenerateJsonSchema.schema_dialect}
    body = Scenario.model_json_schema(schema_generator=_Schema)
    return json.dumps(head | body, indent=2, ensure_ascii=False) + "\n"


def markdown() -> str:
    """Return the table of every field: unit, range, default, meaning."""
    sections = (_section(title, model) for title, model in _tables())
    return _HEAD + "".join(sections) + laws()


def _tables() -> Iterator[tuple[str, type[BaseModel]]]:
    """Return every table with its title; what entries of a list of the top level share, once."""
    yield "Top level", Scenario
    shown: set[type[BaseModel]] = {ClassGoals}
    for title, model, shared in _below(Scenario, ""):
        if not (shared and model in shown):
            yield title, model
        shown.add(model)
    yield "`goals` of a `[[traffic]]` of any kind", ClassGoals


def _below(
    table: type[BaseModel], path: str, shared: bool = False
) -> Iterator[tuple[str, type[BaseModel], bool]]:
    """Return the tables nested in a table, each before its own, and whether others share them.

    Kinds of traffic share tables such as `schedule`, and `[[links]]` has those of `[link]`.
    """
    for name, field in table.model_fields.items():
        if _is_law(field):
            continue
        listed = get_origin(field.annotation) is tuple
        header = f"`[[{path}{name}]]`" if listed else f"`[{path}{name}]`"
        for model in _models(field.annotation):
            kind = model.model_fields.get("kind")
            yield f'{header} of kind "{kind.default}"' if kind else header, model, shared
            yield from _below(model, f"{path}{name}.", shared or (listed and not path))


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def _section(title: str, model: type[BaseModel]) -> str:
    head = "| field | unit | range | default | meaning |\n|---|---|---|---|---|\n"
    fields = list(model.model_fields.items())
    fields.sort(key=lambda pair: (pair[0] != "kind", not pair[1].is_required()))
    rows = [_row(key, field, meanings(model).get(key)) for key, field in fields]
    return f"\n## {title}\n\n{_summary(model)}\n\n{head}{''.join(rows)}"


def _summary(model: type[BaseModel]) -> str:
    """Return the model's description, without the part on its use in Python."""
    return _IN_PYTHON.sub("", cleandoc(model.__doc__ or ""))


def _is_law(field: FieldInfo) -> bool:
    """Whether the field has a distribution or a length; these are explained after all tables."""
    return any(issubclass(model, Distribution | FlowLength) for model in _models(field.annotation))


def _row(key: str, field: FieldInfo, meaning: str | None) -> str:
    nested = not _is_law(field) and any(_models(field.annotation))
    meaning = field.description or meaning or _summary(next(_models(field.annotation)))
    default = _default(field, nested)
    unit = ("tables" if get_origin(field.annotation) is tuple else "table") if nested else ""
    cells = (f"`{key}`", unit or _unit(field), _range(field), default, meaning)
    return f"| {' | '.join(cells)} |\n"


def _between(field: FieldInfo) -> Between | None:
    return next((part for part in field.metadata if isinstance(part, Between)), None)


def _unit(field: FieldInfo) -> str:
    between = _between(field)
    if between is None:
        return "packets or B" if _is_law(field) else _UNITS.get(field.annotation, "")
    return between.least.unit if isinstance(between.least, Quantity) else between.unit


def _range(field: FieldInfo) -> str:
    between = _between(field)
    if between:
        return str(between.range)
    return ", ".join(f"`{_toml(one)}`" for one in _choices(field))


def _choices(field: FieldInfo) -> tuple[Any, ...]:
    parts = get_args(field.annotation)
    named = (one for part in (field.annotation, *parts) for one in get_args(part))
    choices = tuple(dict.fromkeys(one for one in named if isinstance(one, str)))
    return choices or ((True, False) if bool in parts else ())


def _default(field: FieldInfo, nested: bool) -> str:
    if field.is_required():
        return "required"
    if nested and field.get_default(call_default_factory=True):
        return "as in its table"
    if nested or field.default is None:
        return "not set"
    return f"`{_toml(_written(field.default))}`"


def _written(value: Any) -> Any:
    """Return a default in the notation of a scenario file."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_none=True)
    return str(value) if isinstance(value, Quantity | BufferSize) else value


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(one) for one in value) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else f'"{value}"'


def write() -> None:
    """Write the page and the schema."""
    (FOLDER / "scenario.schema.json").write_text(schema(), encoding="utf-8")
    (FOLDER / "scenario.md").write_text(markdown(), encoding="utf-8")
