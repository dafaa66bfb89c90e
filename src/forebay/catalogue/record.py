"""A record of the catalogue: a frozen dataclass of which every property must be stated."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Self, TypeVar

from forebay.errors import ForebayError
from forebay.words import Fact


class IncompleteRecord(ForebayError):
    """A record, or what was registered for it, is incomplete: a defect of the catalogue.

    Attributes
    ----------
    what, name : kind and name of the record, such as "control" and "reno".
    """

    exit_status = 4

    def __init__(self, what: str, name: str, why: Fact) -> None:
        self.what, self.name = what, name
        super().__init__("incomplete-record", what=what, name=name, why=why)


@dataclass(frozen=True, kw_only=True)
class Record:
    """No property has a default, so that none is forgotten."""

    name: str

    def __new__(cls, **stated: Any) -> Self:
        missing = [field.name for field in fields(cls) if field.name not in stated]
        if missing:
            why = Fact("record.not-stated", missing=missing[0])
            raise IncompleteRecord(cls.__name__.lower(), str(stated.get("name", "?")), why)
        return super().__new__(cls)


R = TypeVar("R", bound=Record)
T = TypeVar("T")


def by_name(records: Iterable[R]) -> dict[str, R]:
    """Return records by name, in their order. Raises IncompleteRecord if two have one name."""
    index: dict[str, R] = {}
    for record in records:
        if record.name in index:
            what = type(record).__name__.lower()
            raise IncompleteRecord(what, record.name, Fact("record.twice"))
        index[record.name] = record
    return index


def registered(
    records: Mapping[str, R], named: Callable[[R], str | None], known: Mapping[str, T], where: str
) -> dict[str, T]:
    """Return by record what its layer has registered under the name that the record gives.

    Parameters
    ----------
    named : returns the name in a record, or None if the record needs nothing.
    known : what the layer has, by name.
    where : name of that table, for the message.

    Raises IncompleteRecord: a name that is not in ``known``, or an entry of it that none names.
    """
    names = {name: named(record) for name, record in records.items()}
    for record, name in names.items():
        if name is not None and name not in known:
            why = Fact("record.names-nothing", named=f"'{name}'", where=where)
            raise IncompleteRecord(type(records[record]).__name__.lower(), record, why)
    if unused := sorted(known.keys() - set(names.values())):
        raise IncompleteRecord("entry", unused[0], Fact("record.not-named", where=where))
    return {record: known[name] for record, name in names.items() if name is not None}
