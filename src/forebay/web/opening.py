"""What goes from the page to the public API, and its answers as the JSON that the page draws."""

from __future__ import annotations

import json
import math
import tempfile
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import tomli_w

import forebay
from forebay import measure, platforms, report
from forebay.errors import ForebayError
from forebay.outcome import LinkOutcome, Metric, Price
from forebay.packages import check_file
from forebay.report.size import reasons, sentence
from forebay.scenario.io import without_empty
from forebay.words import Fact, Notation

PARTS = ("name", "link", "queue", "traffic", "goals", "measure")
_NOTHING: list[tuple[str, object]] = [("links", [])]
"""What every written scenario has, and says nothing."""
_MOST_CLASSES, _MOST_FLOWS, _DEEPEST = 16, 200_000, 12


class Refused(ForebayError):
    """A question that the workbench does not ask, whatever the command line does with it."""

    def worded(self, notation: Notation) -> str:
        """Return the line without the field, which the page shows beside its input."""
        return ForebayError.worded(self.but(field=""), notation)


def scenario_of(asked: object) -> forebay.Scenario:
    """Return the scenario of a question. Raises Refused or ScenarioError.

    A question has the structure of a scenario file. Networks and further links are refused, and so
    is every path, before the file is opened.
    """
    if not isinstance(asked, Mapping):
        raise Refused("refused.no-table")
    asked = {name: part for name, part in asked.items() if (name, part) not in _NOTHING}
    for name in asked:
        if name not in PARTS:
            raise Refused("refused.part", value=str(name), known=", ".join(PARTS))
    _check_depth(asked)
    scenario = forebay.Scenario.from_dict(asked, files=False)
    flows = sum(float(group.flows or 0) for group in scenario.traffic)
    if len(scenario.traffic) > _MOST_CLASSES:
        raise Refused("refused.classes", field="traffic", most=_MOST_CLASSES)
    if flows > _MOST_FLOWS:
        raise Refused("refused.flows", field="traffic.0.flows", value=flows, most=_MOST_FLOWS)
    return scenario


def _check_depth(value: object, depth: int = 0) -> None:
    """Refuse what is nested more deeply than a scenario is."""
    if depth > _DEEPEST:
        raise Refused("refused.too-deep")
    parts = list(value.values()) if isinstance(value, Mapping) else value
    if isinstance(parts, list):
        for part in parts:
            _check_depth(part, depth + 1)


def question_of(scenario: forebay.Scenario) -> dict[str, Any]:
    """Return a scenario as a question, in the notation of a file. Raises Refused."""
    asked: dict[str, Any] = without_empty(scenario.to_dict(defaults=False))
    scenario_of(asked)
    return asked


def toml_of(asked: Any) -> str:
    """Return a question as a scenario file, word for word."""
    return tomli_w.dumps(without_empty(asked))


def error_of(error: BaseException) -> dict[str, Any]:
    """Return an error for the page: the field, what is wrong, what to write."""
    wrong, hint = getattr(error, "wrong", ""), getattr(error, "hint", "")
    field = getattr(error, "field", "")
    if not wrong:  # the text has the hint
        wrong, hint = str(error), ""
    return {"field": str(field), "wrong": str(wrong), "hint": str(hint), "text": str(error)}


_MEASURED_S = 10.0


def opened(text: str, keep: Keep) -> dict[str, Any]:
    """Return the question of a scenario file, or of a stored answer with it. Raises Refused."""
    if text.lstrip().startswith("{"):
        return _stored(text, keep)
    try:
        tree = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise Refused("refused.no-toml", why=str(error)[:80]) from None
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
        raise Refused("refused.not-shipped", value=str(name), known=", ".join(shipped()))
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
            capture = measure.capture(path, rate=rate, progress=ends)
        except KeyboardInterrupt:
            raise Refused("refused.long-capture", seconds=_MEASURED_S) from None
        except measure.MeasureError as error:
            said = error.worded(Notation.FILE).replace(str(path), "the file")
            raise Refused(said) from None
    try:
        scenario = capture.scenario().replace({"name": "measured from a capture"})
    except measure.MeasureError as error:
        raise Refused("refused.no-scenario", why=error.wrong) from None
    seen = Fact("workbench.measured", packets=capture.packets, seconds=capture.seconds)
    notes = [note.replace(f"{path}: ", "") for note in capture.notes]
    return {"question": question_of(scenario), "notes": [str(seen), *notes]}


def _stored(text: str, keep: Keep) -> dict[str, Any]:
    answer = report.read_answer(text, "the file")
    if not isinstance(answer, forebay.SizeResult) or not answer.curve:
        raise Refused("refused.no-answer-of-size")
    scenario = scenario_of(answer.asked or answer.curve[0].outcome.scenario)
    return {"question": question_of(scenario), "sized": sized(answer, keep)}


def _is_askable(name: str) -> bool:
    try:
        question_of(forebay.load(name))
    except forebay.ForebayError:
        return False
    return True


_SOURCE = "forebay serve"


def page_of(answer: forebay.SizeResult) -> str:
    """Return the answer as one HTML page, as ``forebay size --html`` writes it.

    Raises MissingPackage without ``forebay[report]``.
    """
    check_file("report.html")
    return report.size_page(answer)


def configuration(answer: forebay.SizeResult, platform: str) -> dict[str, Any]:
    """Return the recommended size for a platform, with its notes. Raises PlatformError."""
    emission = platforms.emit(*platforms.of_sizing(answer, _SOURCE), platform)
    comments = [] if emission.comment_mark else list(emission.comments)
    return {"platform": emission.platform, "text": emission.text, "comments": comments}


BUFFERS = 8
_CAKE_TARGETS = 20
"""Targets of cake in its rtt: this package sees public names alone, not the catalogue."""
_SPAN = 8.0
"""The curve goes from an eighth of the laws' guess to eight times it."""


def laws_of(scenario: forebay.Scenario) -> dict[str, Any]:
    """Return what published laws say, the sizes of the curve, and the question's exports."""
    answers = forebay.laws.for_scenario(scenario)
    regime = forebay.laws.regime_of(scenario)
    marks = [
        {
            "law": answer.law,
            "packets": answer.packets_whole,
            "holds": answer.assumptions_hold,
            "broken": list(answer.broken_assumptions),
            "source": answer.source,
        }
        for answer in answers
        if answer.packets is not None
    ]
    return {
        "laws": marks,
        "bdp": scenario.bdp_packets,
        "buffer": scenario.buffer_packets,
        "packet_s": 8 * float(scenario.packet) / float(scenario.link.capacity),
        "packet_bytes": int(scenario.packet),
        "sizes": sizes(scenario, answers),
        "regime": None if regime is None else {"name": regime.regime, "why": str(regime.why)},
    }


def sizes(scenario: forebay.Scenario, answers: Sequence[forebay.laws.LawAnswer]) -> list[int]:
    """Return the buffers of the curve, packets: geometric about the laws' guess."""
    known = sorted(a.packets for a in answers if a.packets and a.assumptions_hold)
    guess = scenario.bdp_packets / math.sqrt(max(1, scenario.n_flows))
    middle = max(1.0, known[(len(known) - 1) // 2] if known else guess)
    low = max(1.0, middle / _SPAN)
    high = max(middle * _SPAN, low * 2 * BUFFERS)
    ratio = (high / low) ** (1 / (BUFFERS - 1))
    return sorted({round(low * ratio**index) for index in range(BUFFERS)})


def is_of(outcome: forebay.Outcome, scenario: forebay.Scenario) -> bool:
    """Return whether a run is of the question's own link, not of a smaller one of its kind."""
    asked = scenario.to_dict()
    return all(outcome.scenario[part] == asked[part] for part in ("link", "traffic"))


def point_of(outcome: forebay.Outcome) -> dict[str, Any]:
    """Return the curves' values of one run."""
    link = outcome.links["bottleneck"]
    aim = _aim_packets(outcome.scenario)
    packets = link.buffer_packets if aim is None else aim
    return {**point(packets, link), "replications": len(outcome.provenance.seeds)}


def _aim_packets(asked: dict[str, Any]) -> int | None:
    """Return what an AQM aims at, in packets at line rate; None for a limit.

    A search varies the target of codel, fq_codel and pie, a twentieth of cake's rtt, RED's min.
    """
    scenario = forebay.Scenario.from_dict(asked, files=False)
    queue, packet = scenario.queue, float(scenario.packet)
    packet_s = 8 * packet / float(scenario.link.capacity)
    if asked["queue"].get("target") is not None:
        return round(float(queue.target or 0.0) / packet_s)
    if asked["queue"].get("rtt") is not None:
        return round(float(queue.rtt or 0.0) / _CAKE_TARGETS / packet_s)
    if asked["queue"].get("min") is not None:
        return round(float(queue.min or 0.0) / packet)
    return None


def point(packets: int, link: LinkOutcome | Price) -> dict[str, Any]:
    """Return the curves' values at one buffer."""
    delay = link.queue_delay_s
    return {
        "packets": packets,
        "utilization": _metric(link.utilization),
        "loss_rate": _metric(link.loss_rate),
        "queue_delay_mean": _metric(None if delay is None else delay.mean),
        "queue_delay_p99": _metric(None if delay is None else delay.p99),
    }


def _metric(metric: Metric | None) -> dict[str, float | None] | None:
    return None if metric is None else metric.model_dump(exclude={"n"})


Keep = Callable[[str], str]
"""Keeps an answer, as JSON, and returns the name by which it is written out."""


def sized(found: forebay.SizeResult, keep: Keep) -> dict[str, Any]:
    """Return a sizing: its two sizes, its region, its sentences, its curve and its name."""
    best, least, document = found.recommended, found.buffer, found.model_dump_json(by_alias=True)
    return {
        "recommended": None if best is None else best.model_dump(mode="json"),
        "least": None if least is None else least.model_dump(mode="json"),
        "guess": least is not None and least.is_guess,
        "status": found.exit_status,
        "headline": sentence(found),
        "sentences": reasons(found),
        "price": [
            {**point(each.packets, each), "why": each.why, "approximate": each.approximate}
            for each in found.price
        ],
        "binding": list(found.binding),
        "region": [interval.model_dump(mode="json") for interval in found.region],
        "goals": [goal.model_dump(mode="json") for goal in found.goals],
        "relaxations": [relaxation.model_dump(mode="json") for relaxation in found.relaxations],
        "aims": found.aqm is not None,
        "queue": _aimed(found),
        "curve": [point(each.packets, each.link) for each in found.curve],
        "document": document,
        "kept": keep(document),
    }


def _aimed(answer: forebay.SizeResult) -> dict[str, str]:
    """Return what a question's queue has with the recommended aim of an AQM."""
    aqm = answer.aqm
    if aqm is None or answer.recommended is None:
        return {}
    queue = {"size": f"{aqm.limit_packets} packets"}
    if aqm.parameter == "min":
        return {**queue, "min": f"{aqm.min_bytes} B", "max": f"{aqm.max_bytes} B"}
    if aqm.discipline == "cake":  # its target follows from its rtt
        return {**queue, "rtt": f"{aqm.interval_s or 0.0:.9f} s"}
    return {**queue, "target": f"{aqm.target_s:.9f} s"}
