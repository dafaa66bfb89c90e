"""What is dropped on the page: a scenario file, a stored answer, a small capture."""

from __future__ import annotations

import json
import tempfile
import time
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import forebay
from forebay.web import answers
from forebay.web.question import PARTS, Refused, question_of, scenario_of

_MEASURED_S = 10.0


def opened(text: str) -> dict[str, Any]:
    """Return the question of a scenario file, or of a stored answer with it. Raises Refused."""
    if text.lstrip().startswith("{"):
        return _stored(text)
    try:
        tree = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        wrong = f"the file is no TOML ({str(error)[:80]})"
        raise Refused(wrong, "drop a scenario file, or an answer of --json") from None
    scenario = scenario_of(tree)
    try:
        json.dumps(tree)
    except TypeError:  # a date
        return {"question": question_of(scenario)}
    return {"question": tree}


@cache
def shipped() -> tuple[str, ...]:
    """Return the names of the shipped scenarios that the page can ask."""
    return tuple(name for name in forebay.shipped() if _is_askable(name))


def shipped_question(name: object) -> dict[str, Any]:
    """Return the question of a shipped scenario, by its name alone. Raises Refused."""
    if name not in shipped():
        raise Refused(f"{str(name)[:40]!r} is not shipped", f"write {', '.join(shipped())}")
    return {"question": question_of(forebay.load(str(name)))}


def measured(content: bytes, rate: str) -> dict[str, Any]:
    """Return the question that a capture gives, and what was estimated. Raises ForebayError."""
    from forebay import measure

    until = time.monotonic() + _MEASURED_S

    def ends(_fraction: float) -> None:
        if time.monotonic() > until:
            raise KeyboardInterrupt

    with tempfile.TemporaryDirectory(prefix="forebay-") as folder:
        path = Path(folder) / "capture"
        path.write_bytes(content)
        try:
            found = measure.capture(path, rate=rate, progress=ends)
        except KeyboardInterrupt:
            wrong = f"the capture takes more than {_MEASURED_S:.0f} s"
            raise Refused(wrong, "measure it with forebay measure --scenario") from None
        except measure.MeasureError as error:
            wrong = str(error).replace(str(path), "the file")
            raise Refused(wrong, "drop a pcap or pcapng file of the link") from None
    try:
        scenario = found.scenario().replace({"name": "measured from a capture"})
    except measure.MeasureError as error:
        hint = "measure it with forebay measure, which takes more options"
        raise Refused(str(error), hint) from None
    notes = [f"{found.packets} packets in {found.seconds:.3g} s", *found.notes]
    return {"question": question_of(scenario), "notes": notes}


def _stored(text: str) -> dict[str, Any]:
    from forebay.report import read_answer

    answer = read_answer(text, "the file")
    if not isinstance(answer, forebay.SizeResult) or not answer.curve:
        raise Refused("the document is no answer of size", "drop one of forebay size --json")
    asked = answer.curve[0].outcome.scenario
    scenario = scenario_of({part: asked[part] for part in PARTS if part in asked})
    return {"question": question_of(scenario), "sized": answers.sized(answer)}


def _is_askable(name: str) -> bool:
    try:
        question_of(forebay.load(name))
    except forebay.ForebayError:
        return False
    return True
