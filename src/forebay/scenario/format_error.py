"""The first error of a scenario, in our own words instead of pydantic's."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel, Tag, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from forebay.errors import either, entry, literal
from forebay.scenario import errors
from forebay.scenario.distribution import LAWS
from forebay.scenario.errors import ScenarioError, did_you_mean, nearest, one_of, show
from forebay.scenario.flow_length import LENGTH_LAWS
from forebay.scenario.traffic import KINDS, Traffic

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
    laws = LAWS + LENGTH_LAWS
    if known[0] in laws:
        return _extra_key(key, known)
    guess = nearest(key, known)
    path = ".".join(map(str, (*place.path[:-1], guess)))
    hint = f'write "{path}"' if guess else f"write one of {', '.join(known)}"
    if place.path[:-1] and key == place.path[-2]:  # queue.queue.ecn
        hint = f'write "{key}" once'
    example = getattr(place.table, "example", None)
    if example:
        hint = f"write {literal(example)}"
    other = [name for name, kind in tagged(Traffic) if key in kind.model_fields]
    if other and len(place.path) == 3 and place.path[0] == "traffic":
        own = place.table.model_fields["kind"].default
        wrong = f"a class of kind {own} has no such key"
        hint = f"write one of {', '.join(known)}; kinds with it: {', '.join(other)}"
        return ScenarioError("unknown-key", wrong, hint, value=key)
    return ScenarioError("unknown-key", "there is no such key", hint, value=key)


def _extra_key(key: str, known: list[str]) -> ScenarioError:
    law = known[0]
    inside = literal({law: "…"}).replace('"…"', "{ … }")
    hint = f"write one law, or what belongs to it into its own table: {inside}"
    if key in LAWS + LENGTH_LAWS:
        hint = "write one law only"
    return ScenarioError("unknown-key", f"{show(key)} in addition to {show(law)}", hint)


def _unknown_law(value: dict[Any, Any], place: _Place) -> ScenarioError:
    known = dict(tagged(place.field.annotation)) if place.field else {}
    laws = [name for name in known if name not in ("constant", "fixed")]
    names = ", ".join(show(key) for key in value) or "nothing"
    guess = nearest(str(next(iter(value))), laws) if value else None
    meant = f' (did you mean "{guess}"?)' if guess else ""
    write = f'write "100 ms" or {literal({"uniform": ["80 ms", "120 ms"]})}'
    what = "a distribution"
    if "fixed" in known:
        write, what = f'write "14 packets" or {literal({"geometric": "14 packets"})}', "a length"
    hint = f"{write}; known are {', '.join(laws)}"
    return ScenarioError("unknown-key", f"{what} of {names}{meant}", hint)


def _missing(place: _Place) -> ScenarioError:
    field, name = place.field, str(place.last)
    if field is not None and field.examples:
        hint = f"write {entry(name, field.examples[0])}"
    elif name == "traffic":
        hint = "write at least one " + either(
            "class, such as traffic=[Long(flows=100)]", "[[traffic]] with its number of flows"
        )
    elif name == "link":
        table = 'a table [link] with rate = "155 Mbit/s"'
        hint = "write " + either('link=Link(rate="155 Mbit/s")', table)
    else:
        hint = f"write {name} too"
    return ScenarioError("missing", "is missing", hint)


def _unknown_name(error: ErrorDetails) -> ScenarioError:
    names = [part.strip("'") for part in error["ctx"]["expected"].replace(" or ", ", ").split(", ")]
    name = str(error["input"])
    wrong = f"{show(name)} is not known{did_you_mean(name, names, also=_ALSO_CALLED)}"
    return ScenarioError("unknown-name", wrong, f"write {one_of(names)}", value=error["input"])


def _unknown_kind(kind: str) -> ScenarioError:
    wrong = f"{show(kind)} is not a known kind{did_you_mean(kind, KINDS, also=_ALSO_CALLED)}"
    return ScenarioError("unknown-name", wrong, f"write {one_of(KINDS)}", field="kind", value=kind)


def _not_a_table(error: ErrorDetails, place: _Place) -> ScenarioError:
    text, name = show(error["input"]), place.last
    what = f"an entry of {place.path[-2]}" if isinstance(name, int) else f"a {name}"
    what = what if place.path else f"a {place.table.__name__}"
    models = list(models_in(place.field.annotation)) if place.field else []
    calls = " or ".join(dict.fromkeys(f"{model.__name__}(…)" for model in models[:3]))
    header = f"[[{place.path[0]}]]" if isinstance(name, int) and place.path else f"[{name}]"
    hint = either(f"{calls}, or a dict" if calls else "a dict", f"its keys under {header}")
    wrong = f"{text} where {either(what, 'a table')} belongs"
    return ScenarioError("wrong-type", wrong, f"write {hint}")


def _wrong_type(kind: str, error: ErrorDetails, place: _Place) -> ScenarioError:
    value = error["input"]
    examples = (place.field.examples if place.field else None) or []
    number = next((one for one in examples if isinstance(one, int | float)), None)
    wanted, hint = {
        "int_type": ("a whole number", f"write digits only, such as {number or 100}"),
        "float_type": ("a number", f"write a plain number, such as {number or 0.98}"),
        "bool_type": (
            f"{literal(True)} or {literal(False)}",
            f"write {literal(True)} or {literal(False)}" + either("", ", without quotes"),
        ),
        "string_type": ("text", "write it in quotes"),
        "tuple_type": (
            f"a list{either('', ' of tables')}",
            "write " + either("traffic=[Long(flows=100)]", "each entry under its own [[traffic]]"),
        ),
        "string_too_short": ("a name", "write at least one character"),
        "string_too_long": ("a name", "write at most 200 characters"),
    }.get(kind, ("valid", error["msg"]))  # fmt: skip
    wrong = f"{show(value)} is not {wanted}"
    exact = errors.count(value) if kind == "int_type" else errors.fraction(value)
    if exact and kind in ("int_type", "float_type"):
        hint = f"write {exact}"
    if kind == "tuple_type" and place.path[-1:] != ("traffic",):
        wrong = f"{show(value)} is not a list"
        listed = [value]
        inside = entry(place.last, listed) if isinstance(place.last, str) else literal(listed)
        hint = f"write it in brackets: {inside}"
    return ScenarioError("wrong-type", wrong, hint, value=value)
