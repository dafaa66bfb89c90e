"""Variants of a set-up that a paper leaves open; none is chosen because it fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from forebay.outcome import Metric
from forebay.report.tables import NOT_MEASURED, show


@dataclass(frozen=True, slots=True)
class Variants:
    """The rows of a reproduction for several variants of its set-up.

    Attributes
    ----------
    says : which of the variants the paper may have used, in one or two sentences.
    names : names of the variants; the first is the one chosen beforehand, which has the verdict.
    rows : for each row its name, its band as text, and for each variant the number (a Metric, a
        float, or None if it was not run) and whether it is in the band.
    """

    says: str
    names: list[str]
    rows: list[tuple[str, str, list[tuple[Metric | float | None, bool]]]]

    @property
    def columns(self) -> list[str]:
        """Headings of the table."""
        first, *others = self.names
        return ["row", "band", f"{first} (verdict)", *others]

    def cells(self) -> list[list[str]]:
        """Return the table as text; numbers out of their band are marked."""
        body = [
            [name, band, *(_cell(value, good) for value, good in found)]
            for name, band, found in self.rows
        ]
        inside = [
            sum(good for _, good in c) for c in zip(*(r for _, _, r in self.rows), strict=True)
        ]
        return [*body, [f"in their band, of {len(body)}", "", *map(str, inside)]]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON types only; `from_document` reads them back."""
        rows = [
            {"row": name, "band": band, "cells": [[_json(v), good] for v, good in found]}
            for name, band, found in self.rows
        ]
        return {"says": self.says, "names": list(self.names), "rows": rows}


def from_dict(document: Mapping[str, Any] | None) -> Variants | None:
    """Read what `Variants.to_dict` wrote."""
    if document is None:
        return None
    rows = [
        (each["row"], each["band"], [(_read(value), bool(good)) for value, good in each["cells"]])
        for each in document["rows"]
    ]
    return Variants(document["says"], list(document["names"]), rows)


def plain(number: float) -> str:
    """Return a number with four digits and without exponent: 10231, not 1.023e+04."""
    return f"{number:.4g}" if abs(number) < 1e4 else f"{number:.0f}"


def _cell(value: Metric | float | None, good: bool) -> str:
    if value is None:
        return NOT_MEASURED
    text = show(value, digits=_digits(value.value)) if isinstance(value, Metric) else plain(value)
    return text if good else f"{text} out"


def _digits(value: float) -> int:
    return 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3


def _json(value: Metric | float | None) -> Any:
    return value.model_dump(mode="json") if isinstance(value, Metric) else value


def _read(value: Any) -> Metric | float | None:
    return Metric.model_validate(value) if isinstance(value, Mapping) else value
