"""JSON Schemas of the answers, generated from the models.

``python -m forebay.outcome.reference`` writes them next to this file, as part of the package, and
into docs/reference.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from forebay.files.atomic import replacing
from forebay.outcome.document import Document
from forebay.outcome.model import Comparison, Outcome
from forebay.outcome.size_result import SizeResult
from forebay.outcome.trace import Trace
from forebay.outcome.transient import Transient

SHIPPED = Path(__file__).parent / "schemas"
DOCUMENTS: dict[str, type[Document]] = {
    "comparison": Comparison,
    "outcome": Outcome,
    "size-result": SizeResult,
    "trace": Trace,
    "transient": Transient,
}
"""What ``compare``, ``run``, ``size``, ``trace``, ``network --transient`` print by ``--json``."""


def schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of one of `DOCUMENTS`."""
    made = DOCUMENTS[name].model_json_schema(mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | made


def text(name: str) -> str:
    """Return a schema as the text of its file."""
    return json.dumps(schema(name), indent=2, ensure_ascii=False) + "\n"


def write(folders: Iterable[Path]) -> None:
    """Write every schema into each folder."""
    for folder in folders:
        for name in DOCUMENTS:
            with replacing(folder / f"{name}.schema.json") as file:
                file.write(text(name).encode())


if __name__ == "__main__":
    write((SHIPPED, Path("docs/reference")))
