"""The first thing that is wrong with a file, in our own words instead of pydantic's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from forebay.scenario import exact_forms
from forebay.scenario.errors import ScenarioError, did_you_mean, nearest, one_of, show
from forebay.scenario.model import Scenario
from forebay.scenario.traffic import KINDS

_Place = tuple[int | str, ...]

_ALSO_CALLED = {
    "pfifo": "drop-tail", "fifo": "drop-tail", "taildrop": "drop-tail", "cake": "fq_codel",
    "tcp": "long", "bulk": "long", "web": "short", "cbr": "udp", "poisson": "udp",
}  # fmt: skip
"""Names that others use, as `errors.nearest` folds them, and ours for it or the next to it."""

_TYPES = {
    "int_type": ("a whole number", "write digits only, such as 100"),
    "float_type": ("a number", "write a plain number, such as 0.98"),
    "bool_type": ("true or false", "write true or false, without quotes"),
    "string_type": ("text", "write it in quotes"),
    "tuple_type": ("a list of tables", "write each entry under its own [[traffic]]"),
    "string_too_short": ("a name", "write at least one character"),
    "string_too_long": ("a name", "write at most 200 characters"),
}


def complaint(error: ValidationError) -> ScenarioError:
    """Return the first complaint, a mistyped key before what is missing because of it."""
    found = error.errors(include_url=False)
    first = next((one for one in found if one["type"] == "extra_forbidden"), found[0])
    return _explain(first).at("", _dotted(first["loc"]))


def _explain(error: ErrorDetails) -> ScenarioError:
    own = error.get("ctx", {}).get("error")
    if isinstance(own, ScenarioError):
        return own
    match error["type"]:
        case "extra_forbidden":
            return _unknown_key(error["loc"])
        case "missing" | "too_short":
            return _missing(error["loc"])
        case "literal_error":
            return _unknown_name(error)
        case "union_tag_invalid":
            return _unknown_kind(error["ctx"]["tag"])
        case "model_type":
            return _not_a_table(error)
        case kind:
            return _wrong_type(kind, error)


def _unknown_key(place: _Place) -> ScenarioError:
    known = list(_fields(place[:-1]))
    guess = nearest(str(place[-1]), known)
    path = ".".join(filter(None, (_dotted(place[:-1]), guess)))
    hint = f'write "{path}"' if guess else f"write one of {', '.join(known)}"
    return ScenarioError("unknown-key", "there is no such key", hint, value=place[-1])


def _missing(place: _Place) -> ScenarioError:
    field = _fields(place[:-1])[str(place[-1])]
    if place == ("traffic",):
        hint = "write at least one [[traffic]] with its number of flows"
    elif field.examples:
        hint = f"write {place[-1]} = {show(field.examples[0])}"
    else:
        hint = f'write a table [{place[-1]}] with rate = "155 Mbit/s"'
    return ScenarioError("missing", "is missing", hint)


def _unknown_name(error: ErrorDetails) -> ScenarioError:
    field = _fields(error["loc"][:-1])[str(error["loc"][-1])]
    names = [str(name) for name in get_args(field.annotation)]
    found = str(error["input"])
    wrong = f"{show(found)} is not known{did_you_mean(found, names, also=_ALSO_CALLED)}"
    return ScenarioError("unknown-name", wrong, f"write {one_of(names)}", value=error["input"])


def _unknown_kind(kind: str) -> ScenarioError:
    wrong = f"{show(kind)} is not a known kind{did_you_mean(kind, KINDS, also=_ALSO_CALLED)}"
    return ScenarioError("unknown-name", wrong, f"write {one_of(KINDS)}", field="kind", value=kind)


def _not_a_table(error: ErrorDetails) -> ScenarioError:
    wrong = f"{show(error['input'])} where a table belongs"
    place = _dotted(error["loc"]).split(".")
    header = f"[[{place[0]}]]" if place[-1].isdigit() else f"[{place[-1]}]"
    return ScenarioError("wrong-type", wrong, f"write its keys under {header}")


def _wrong_type(kind: str, error: ErrorDetails) -> ScenarioError:
    wanted, hint = _TYPES.get(kind, ("valid", error["msg"]))
    found, place = error["input"], error["loc"]
    wrong = f"{show(found)} is not {wanted}"
    exact = exact_forms.count(found) if kind == "int_type" else exact_forms.fraction(found)
    if exact and kind in ("int_type", "float_type"):
        hint = f"write {exact}"
    if kind == "tuple_type" and place[-1:] != ("traffic",):
        wrong = f"{show(found)} is not a list"
        hint = f"write it in brackets: {place[-1]} = [{show(found)}]"
    return ScenarioError("wrong-type", wrong, hint, value=error["input"])


def _fields(place: _Place) -> dict[str, Any]:
    """Return the fields of the table at a place."""
    model: type[BaseModel] = Scenario
    union: dict[str, type[BaseModel]] = {}
    for part in place:
        if union and part in union:
            model, union = union[str(part)], {}
        elif isinstance(part, str):
            found = list(_models(model.model_fields[part].annotation))
            model, union = found[0], _by_kind(found)
    return dict(model.model_fields)


def _dotted(place: _Place) -> str:
    """Return a place as a file has it; pydantic's also names the kind that it took."""
    return ".".join(str(p) for i, p in enumerate(place) if (place[0], i) != ("traffic", 2))


def _by_kind(found: list[type[BaseModel]]) -> dict[str, type[BaseModel]]:
    return {m.model_fields["kind"].default: m for m in found} if len(found) > 1 else {}


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)
