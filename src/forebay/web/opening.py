"""What is dropped on the page: a scenario file, a stored answer, a small capture."""

from __future__ import annotations

import json
import tempfile
import time
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import tomli_w

import forebay
from forebay import measure, platforms, report
from forebay.errors import ForebayError, Words, written_in
from forebay.packages import check_file
from forebay.web import answers

PARTS = ("name", "link", "queue", "traffic", "goals", "measure")
_NOTHING: list[tuple[str, object]] = [("links", [])]
"""What every written scenario has, and says nothing."""
_MOST_CLASSES, _MOST_FLOWS, _DEEPEST = 16, 200_000, 12


class Refused(ForebayError):
    """A question that the workbench does not ask, whatever the command line does with it."""

    code = "refused"

    def __init__(self, wrong: str, hint: str, field: str = "") -> None:
        self.wrong, self.hint, self.field = wrong, hint, field
        super().__init__(f"{wrong}; {hint}")


def scenario_of(asked: object) -> forebay.Scenario:
    """Return the scenario of a question. Raises Refused or ScenarioError.

    A question has the structure of a scenario file. Networks and further links are refused, and so
    is every path, before the file is opened.
    """
    if not isinstance(asked, Mapping):
        raise Refused("the question is no table", "send the JSON of a scenario")
    asked = {name: part for name, part in asked.items() if (name, part) not in _NOTHING}
    for name in asked:
        if name not in PARTS:
            raise Refused(
                f"{str(name)[:40]!r} is not for the workbench", f"write {', '.join(PARTS)}"
            )
    _check_depth(asked)
    with written_in(Words.FILE):
        scenario = forebay.Scenario.from_dict(asked, files=False)
    flows = sum(float(group.flows or 0) for group in scenario.traffic)
    if len(scenario.traffic) > _MOST_CLASSES:
        raise Refused("too many classes", f"write at most {_MOST_CLASSES}", "traffic")
    if flows > _MOST_FLOWS:
        wrong = f"{flows:.0f} flows are more than the workbench simulates"
        raise Refused(wrong, f"write at most {_MOST_FLOWS}", "traffic.0.flows")
    return scenario


def _check_depth(value: object, depth: int = 0) -> None:
    """Refuse what is nested more deeply than a scenario is."""
    if depth > _DEEPEST:
        raise Refused("the question is nested too deeply", "send the JSON of a scenario")
    parts = list(value.values()) if isinstance(value, Mapping) else value
    if isinstance(parts, list):
        for each in parts:
            _check_depth(each, depth + 1)


def question_of(scenario: forebay.Scenario) -> dict[str, Any]:
    """Return a scenario as a question, in the notation of a file. Raises Refused.

    A measured window that nobody set is left out, because a search may then choose it.
    """
    tree = tomllib.loads(scenario.to_toml())
    if "measure" not in scenario.model_fields_set:
        tree.pop("measure", None)
    asked: dict[str, Any] = _without_empty(tree)
    scenario_of(asked)
    return asked


def toml_of(asked: Any) -> str:
    """Return a question as a scenario file, word for word."""
    return tomli_w.dumps(_without_empty(asked))


def _without_empty(value: Any) -> Any:
    if isinstance(value, Mapping):
        kept = {name: _without_empty(part) for name, part in value.items()}
        return {name: part for name, part in kept.items() if part is not None and part != []}
    return [_without_empty(each) for each in value] if isinstance(value, list) else value


def error_of(error: BaseException) -> dict[str, Any]:
    """Return an error for the page: the field, what is wrong, what to write."""
    wrong, hint = getattr(error, "wrong", ""), getattr(error, "hint", "")
    field = getattr(error, "field", "")
    if not wrong:  # the text has the hint
        wrong, hint = str(error), ""
    return {"field": str(field), "wrong": str(wrong), "hint": str(hint), "text": str(error)}


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
    answer = report.read_answer(text, "the file")
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


_SOURCE = "forebay serve"


def page_of(scenario: forebay.Scenario, answer: forebay.SizeResult) -> str:
    """Return the answer as one HTML page, as ``forebay size --html`` writes it.

    Raises MissingPackage without ``forebay[report]``.
    """
    check_file("report.html")
    return report.size_page(answer, scenario.to_toml())


def configuration(answer: forebay.SizeResult, platform: str) -> dict[str, Any]:
    """Return the recommended size for a platform, with its notes. Raises PlatformError."""
    made = platforms.emit(*platforms.of_sizing(answer, _SOURCE), platform)
    comments = [] if made.comment_mark else list(made.comments)
    return {"platform": made.platform, "text": made.text, "comments": comments}
