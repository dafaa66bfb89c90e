"""The first error of a scenario, in our own words instead of pydantic's."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel, Tag, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from forebay.scenario import errors
from forebay.scenario.distribution import LAWS
from forebay.scenario.errors import ScenarioError, did_you_mean, nearest
from forebay.scenario.flow_length import LENGTH_LAWS
from forebay.scenario.traffic import KINDS, Traffic
from forebay.words import Fact, entry, one_of, show

_LAWS = LAWS + LENGTH_LAWS

_ALSO_CALLED = {
    "pfifo": "drop-tail", "fifo": "drop-tail", "taildrop": "drop-tail", "cake": "fq_codel",
    "tcp": "long", "bulk": "long", "web": "short", "cbr": "udp", "poisson": "udp",
}  # fmt: skip
"""Names of other tools, normalized as in `errors.nearest`, and our name or the nearest one."""


@dataclass(frozen=True)
class _Place:
    """The place of pydantic's error: the dotted path without the names of kinds."""

    path: tuple[int | str, ...]
    table: type[BaseModel]
    field: FieldInfo | None

    @property
    def dotted(self) -> str:
        return ".".join(map(str, self.path))

    @property
    def last(self) -> int | str:
        return self.path[-1] if self.path else ""


def format_error(error: ValidationError, model: type[BaseModel]) -> ScenarioError:
    """Return the first error; a mistyped key comes before the field that it leaves missing."""
    details = error.errors(include_url=False)
    first = next((one for one in details if one["type"] == "extra_forbidden"), details[0])
    place = _find(model, first["loc"])
    return _explain(first, place).at("", place.dotted)


def _find(model: type[BaseModel], loc: tuple[int | str, ...]) -> _Place:
    path: list[int | str] = []
    table, field = model, None
    kinds: dict[str, Any] = {}
    for part in loc:
        if part in kinds:
            chosen, kinds = kinds[str(part)], {}
            table = chosen if _is_table(chosen) else table
            continue
        path.append(part)
        if isinstance(part, str):
            field = table.model_fields.get(part)
            kinds = dict(tagged(field.annotation)) if field else {}
            single = [] if kinds or field is None else list(models_in(field.annotation))
            table = single[0] if len(single) == 1 and part != loc[-1] else table
    return _Place(tuple(path), table, field)


def _is_table(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def tagged(annotation: Any) -> Iterator[tuple[str, Any]]:
    """Return the kinds of a discriminated union inside an annotation, by name."""
    if get_origin(annotation) is Annotated:
        for part in annotation.__metadata__:
            if isinstance(part, Tag):
                yield part.tag, annotation.__origin__
                return
    for part in get_args(getattr(annotation, "forms", annotation)):
        yield from tagged(part)


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """Return the models inside an annotation, in order."""
    if _is_table(annotation):
        yield annotation
    for part in get_args(getattr(annotation, "forms", annotation)):
        yield from models_in(part)


def _explain(error: ErrorDetails, place: _Place) -> ScenarioError:
    own = error.get("ctx", {}).get("error")
    if isinstance(own, ScenarioError):
        return own
    match error["type"]:
        case "extra_forbidden":
            return _unknown_key(place)
        case "missing" | "too_short":
            return _missing(place)
        case "literal_error":
            return _unknown_name(error)
        case "union_tag_invalid":
            return _unknown_kind(error["ctx"]["tag"])
        case "union_tag_not_found":
            return _unknown_law(error["input"], place)
        case "model_type" | "model_attributes_type":
            return _not_a_table(error, place)
        case kind:
            return _wrong_type(kind, error, place)


def _unknown_key(place: _Place) -> ScenarioError:
    key, known = str(place.last), list(place.table.model_fields)
    if known[0] in _LAWS:
        kind = "unknown-key.second-law" if key in _LAWS else "unknown-key.beside-law"
        return ScenarioError(kind, value=key, law=known[0])
    other = [name for name, kind in tagged(Traffic) if key in kind.model_fields]
    if other and len(place.path) == 3 and place.path[0] == "traffic":
        return ScenarioError(
            "unknown-key.of-class", value=key, own=place.table.model_fields["kind"].default,
            known=", ".join(known), other=", ".join(other),
        )  # fmt: skip
    hint = Fact("unknown-key.known", known=", ".join(known))
    if guess := nearest(key, known):
        path = ".".join(map(str, (*place.path[:-1], guess)))
        hint = Fact("unknown-key.similar", path=path)
    if place.path[:-1] and key == place.path[-2]:  # queue.queue.ecn
        hint = Fact("unknown-key.once", key=key)
    if example := getattr(place.table, "example", None):
        hint = Fact("unknown-key.example", example=example)
    return ScenarioError("unknown-key", hint=hint, value=key)


def _unknown_law(value: dict[Any, Any], place: _Place) -> ScenarioError:
    known = dict(tagged(place.field.annotation)) if place.field else {}
    laws = [name for name in known if name not in ("constant", "fixed")]
    return ScenarioError(
        "unknown-key.no-length" if "fixed" in known else "unknown-key.no-distribution",
        names=", ".join(show(key) for key in value) or "nothing", laws=", ".join(laws),
        meant=did_you_mean(str(next(iter(value), "")), laws),
    )  # fmt: skip


def _missing(place: _Place) -> ScenarioError:
    name = str(place.last)
    if place.field is not None and place.field.examples:
        example = entry(name, place.field.examples[0])
        return ScenarioError("missing", hint=Fact("missing.example", example=example))
    kinds = {"traffic": "missing.traffic", "link": "missing.the-link"}
    return ScenarioError("missing", hint=Fact(kinds.get(name, "missing.other"), name=name))


def _unknown_name(error: ErrorDetails) -> ScenarioError:
    names = [part.strip("'") for part in error["ctx"]["expected"].replace(" or ", ", ").split(", ")]
    name = str(error["input"])
    return ScenarioError(
        "unknown-name.here", value=error["input"], name=name, known=one_of(names),
        meant=did_you_mean(name, names, also=_ALSO_CALLED),
    )  # fmt: skip


def _unknown_kind(kind: str) -> ScenarioError:
    meant = did_you_mean(kind, KINDS, also=_ALSO_CALLED)
    return ScenarioError(
        "unknown-name.kind", field="kind", value=kind, meant=meant, known=one_of(KINDS)
    )


def _not_a_table(error: ErrorDetails, place: _Place) -> ScenarioError:
    models = list(models_in(place.field.annotation)) if place.field else []
    calls = " or ".join(dict.fromkeys(f"{model.__name__}(…)" for model in models[:3]))
    calls, value = f"{calls}, or " if calls else "", error["input"]
    header = ".".join(part for part in place.path if isinstance(part, str))
    if isinstance(place.last, int):
        name = str(place.path[-2])
        return ScenarioError("wrong-type.entry", value=value, name=name, header=header, calls=calls)
    name = place.last or place.table.__name__
    return ScenarioError("wrong-type.table", value=value, name=name, header=header, calls=calls)


_TYPES = {
    "int_type": "wrong-type.whole-number", "float_type": "wrong-type.number",
    "bool_type": "wrong-type.bool", "string_type": "wrong-type.text",
    "tuple_type": "wrong-type.traffic", "string_too_short": "wrong-type.empty",
    "string_too_long": "wrong-type.long", "string_pattern_mismatch": "wrong-type.name",
}  # fmt: skip


def _wrong_type(kind: str, error: ErrorDetails, place: _Place) -> ScenarioError:
    value = error["input"]
    of_tables = place.field is not None and any(models_in(place.field.annotation))
    if kind == "tuple_type" and not (of_tables and place.last == "traffic"):
        kind = "wrong-type.not-a-list" if isinstance(place.last, str) else "wrong-type.no-list"
        inside = entry(str(place.last), [value])
        return ScenarioError(kind, value=value, listed=[value], inside=inside)
    examples = (place.field.examples if place.field else None) or []
    number = next((one for one in examples if isinstance(one, int | float)), None)
    read = {"int_type": errors.count, "float_type": errors.fraction}.get(kind)
    exact = read(value) if read else None
    return ScenarioError(
        _TYPES.get(kind, "wrong-type.other"), value=value, message=error["msg"],
        hint=Fact("wrong-type.exact", exact=exact) if exact else "",
        example=number or (100 if kind == "int_type" else 0.98),
    )  # fmt: skip
