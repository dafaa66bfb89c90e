"""Answers kept beside the tests, whole: every number, and every sentence with its numbers.

A known answer says that one number is right; these say that no other moved. After a change that is
meant to move some, ``FOREBAY_KEEP=1 pytest -n 0 tests -k kept`` writes them anew: read the
difference before it is committed.
"""

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

RENEWS = os.environ.get("FOREBAY_KEEP") == "1"
_DIGITS = 8
_RELATIVE, _ABSOLUTE = 1e-6, 1e-12
"""What another machine's logarithms may differ by."""


class Kept:
    """The answers of a table of cases in one file, a line for each part of an answer."""

    def __init__(self, path: str | Path, table: Mapping[str, Callable[[], Any]]) -> None:
        self.path, self.table = Path(path), table
        self._known: dict[str, Any] = {}

    def check(self, name: str) -> None:
        """Compare a case's answer with the one that is kept, or keep it."""
        found = plain(self.table[name]())
        known = self._read()
        if RENEWS:
            known[name] = found
            self._write({each: known[each] for each in self.table if each in known})
        assert name in known, "FOREBAY_KEEP=1 pytest -n 0 -k kept keeps it"
        assert list(_different("", known[name], found)) == []

    def _read(self) -> dict[str, Any]:
        if not self._known and self.path.exists():
            self._known = json.loads(self.path.read_text("utf-8"))
        return self._known

    def _write(self, answers: Mapping[str, Any]) -> None:
        lines = []
        for name, answer in answers.items():
            parts = answer.items() if isinstance(answer, dict) else [("", answer)]
            inner = (f"  {_text(key)}: {_text(part)}" for key, part in parts)
            body = ",\n".join(inner)
            whole = f"{{\n{body}\n}}" if isinstance(answer, dict) else _text(answer)
            lines.append(f"{_text(name)}: {whole}")
        self.path.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def plain(answer: Any) -> Any:
    """Return an answer as what JSON has; what is not there is left out."""
    if isinstance(answer, BaseModel):
        return plain(answer.model_dump(mode="json", by_alias=True))
    if is_dataclass(answer) and not isinstance(answer, type):
        return plain(asdict(answer))
    if isinstance(answer, Mapping):
        return {str(key): plain(value) for key, value in answer.items() if value is not None}
    if isinstance(answer, np.ndarray):
        return plain(answer.tolist())
    if isinstance(answer, list | tuple | set):
        return [plain(each) for each in answer]
    if isinstance(answer, float):
        return _number(float(answer))
    return answer if isinstance(answer, bool | int | str | None) else str(answer)


def _number(value: float) -> float | str:
    return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else str(value)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _different(where: str, known: Any, found: Any) -> Iterator[str]:
    """Yield the place of each difference, with what was kept and what is found."""
    if isinstance(known, dict) and isinstance(found, dict):
        for key in {**known, **found}:
            yield from _different(f"{where}.{key}", known.get(key), found.get(key))
    elif isinstance(known, list) and isinstance(found, list) and len(known) == len(found):
        for place, (a, b) in enumerate(zip(known, found, strict=True)):
            yield from _different(f"{where}.{place}", a, b)
    elif not _alike(known, found):
        yield f"{where}: {known} is now {found}"


def _alike(known: Any, found: Any) -> bool:
    if isinstance(known, float) and isinstance(found, float | int):
        return math.isclose(known, found, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE)
    return bool(known == found)
