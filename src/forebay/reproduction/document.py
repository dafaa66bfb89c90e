"""A reproduction as a document that is read back equal: the cache of ``reproduce --all``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from forebay.outcome import Metric
from forebay.report.figures.style import Line, Panel, Picture
from forebay.reproduction.result import Check, Reproduction
from forebay.reproduction.variants import from_dict

SCHEMA = 3
"""Increased if older documents can no longer be read."""


@dataclass(frozen=True, slots=True)
class CachedResult:
    """A reproduction, its arguments, and its duration.

    Attributes
    ----------
    made : the reproduction.
    seeds : number of replications.
    quick : whether with fewer seeds and shorter windows.
    wall_s : wall time in seconds, on the machine that made it.
    """

    made: Reproduction
    seeds: int
    quick: bool
    wall_s: float

    def to_document(self) -> dict[str, Any]:
        """Return JSON types only; `from_document` reads them back."""
        made = self.made
        return {
            "schema": SCHEMA,
            "seeds": self.seeds,
            "quick": self.quick,
            "wall_s": self.wall_s,
            "artefact": made.artefact,
            "title": made.title,
            "columns": list(made.columns),
            "rows": [[_write(cell) for cell in row] for row in made.rows],
            "reasons": list(made.reasons),
            "notes": list(made.notes),
            "labels": made.labels,
            "drawn": list(made.drawn),
            "unit": made.unit,
            "units": list(made.units),
            "picture": None if made.picture is None else asdict(made.picture),
            "checks": [asdict(check) for check in made.checks],
            "unjudged": list(made.unjudged),
            "causes": list(made.causes),
            "prints_wrong": list(made.prints_wrong),
            "variants": None if made.variants is None else made.variants.to_dict(),
        }


def from_document(document: Mapping[str, Any]) -> CachedResult:
    """Read what `CachedResult.to_document` wrote. Raises KeyError or ValueError otherwise."""
    if document["schema"] != SCHEMA:
        raise ValueError(f"schema {document['schema']}, not {SCHEMA}")
    made = Reproduction(
        artefact=document["artefact"],
        title=document["title"],
        columns=document["columns"],
        rows=[[_read(cell) for cell in row] for row in document["rows"]],
        reasons=document["reasons"],
        notes=document["notes"],
        labels=document["labels"],
        drawn=tuple(document["drawn"]),
        unit=document["unit"],
        units=document["units"],
        picture=_picture(document["picture"]),
        checks=[Check(**each) for each in document["checks"]],
        unjudged=document["unjudged"],
        variants=from_dict(document["variants"]),
        causes=document["causes"],
        prints_wrong=document["prints_wrong"],
    )
    return CachedResult(made, document["seeds"], document["quick"], document["wall_s"])


def _write(cell: Any) -> Any:
    """Return a cell as JSON; NumPy's numbers become Python's."""
    if isinstance(cell, Metric):
        return {"metric": cell.model_dump(mode="json")}
    return cell.item() if hasattr(cell, "item") else cell


def _read(cell: Any) -> Any:
    return Metric.model_validate(cell["metric"]) if isinstance(cell, Mapping) else cell


def _picture(document: Mapping[str, Any] | None) -> Picture | None:
    if document is None:
        return None
    panels = [
        Panel(**{**panel, "lines": [_line(line) for line in panel["lines"]]})
        for panel in document["panels"]
    ]
    return Picture(panels, document["columns"])


def _line(document: Mapping[str, Any]) -> Line:
    bounds = {
        name: tuple((low, high) for low, high in document[name])
        for name in ("x_bounds", "y_bounds")
    }
    return Line(**{**document, **bounds})
