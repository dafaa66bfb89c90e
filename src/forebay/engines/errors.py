"""Errors of engines: one that is not known, cannot run here, or cannot run a scenario."""

from collections.abc import Iterator, Sequence
from typing import Any

from forebay.errors import ForebayError
from forebay.scenario import Long, Scenario, Session
from forebay.words import Fact


class UnknownEngine(ForebayError, ValueError):
    """No engine has that name."""

    def __init__(self, name: object, known: Sequence[str]) -> None:
        self.name = name
        super().__init__("unknown-engine", field="engine", value=name, known=", ".join(known))


class EngineUnavailable(ForebayError):
    """An engine that exists cannot run on this machine.

    Attributes
    ----------
    engine : name of the engine.
    missing : what is missing.
    hint : how to get it, as an imperative.
    """

    code = "engine-unavailable"
    exit_status = 3

    def __init__(self, kind: str, hint: str | Fact = "", *, engine: str, **values: Any) -> None:
        self.engine, self._missing = engine, Fact(kind, **values)
        wrong = Fact("engine-unavailable", engine=engine, missing=self._missing)
        super().__init__(kind, wrong, hint, **values)

    @property
    def missing(self) -> str:
        return str(self._missing)


class Unsupported(ForebayError):
    """An engine that runs here cannot run some of a scenario's traffic.

    Attributes
    ----------
    engine, what : name of the engine; what it cannot run.
    field : the scenario's field that requires it, such as ``"traffic.1.kind"``.
    """

    exit_status = 3

    def __init__(self, engine: str, what: str | Fact, field: str) -> None:
        self.engine, self.what = engine, str(what)
        kind = "unsupported.anywhere" if engine == "simulation" else "unsupported.here"
        super().__init__(kind, field=field, engine=engine, what=what)


class NoLaw(ForebayError):
    """No published law covers a scenario, so theory has no answer.

    Attributes
    ----------
    why : what the link is, and why no law fits.
    instead : a small change with which a law would fit; empty if there is none.
    """

    exit_status = 3

    def __init__(self, why: str | Fact, instead: str | Fact = "") -> None:
        self.why, self.instead = str(why), str(instead)
        kind = "no-law.or-instead" if instead else "no-law.here"
        super().__init__(kind, why=why, instead=instead)


class OutsideAtlas(ForebayError):
    """A scenario that the atlas has not simulated the like of.

    Attributes
    ----------
    field : the scenario's field that passes the bound.
    value, bound : what it has, and what is covered, as text.
    """

    exit_status = 3

    def __init__(self, field: str, value: str | Fact, bound: str | Fact) -> None:
        super().__init__("outside-atlas", field=field, value=value, bound=bound)
        self.value, self.bound = str(value), str(bound)


_OF_LINKS = {
    "shaper": Fact("unsupported.shaper"),
    "policer": Fact("unsupported.policer"),
    "loss": Fact("unsupported.loss"),
    "rate_trace": Fact("unsupported.rate-trace"),
    "down": Fact("unsupported.down"),
    "jitter": Fact("unsupported.jitter"),
    "framing": Fact("unsupported.framing"),
}


def refuse_features(engine: str, scenario: Scenario, *names: str) -> None:
    """Raise Unsupported if the scenario has one of the features (see `_features`)."""
    for name, what, field in _features(scenario):
        if name in names:
            raise Unsupported(engine, what, field)


def _features(scenario: Scenario) -> Iterator[tuple[str, Fact, str]]:
    """Yield what not every engine can run: its name, in words, and its field."""
    if scenario.topology is not None:
        yield "topology", Fact("unsupported.topology"), "topology"
    others = {f"links.{index}": link for index, link in enumerate(scenario.links)}
    for place, link in {"link": scenario.link, **others}.items():
        if link.jitter is not None and link.jitter.reorder:
            yield "reorder", Fact("unsupported.reorder"), f"{place}.jitter.reorder"
        for name, what in _OF_LINKS.items():
            if getattr(link, name) is not None:
                yield name, what, f"{place}.{name}"
    queues = {f"{place}.queue": other.queue for place, other in others.items()}
    for place, queue in {"queue": scenario.queue, **queues}.items():
        if queue.classes:
            yield "class queues", Fact("unsupported.class-queues"), f"{place}.classes"
    for index, group in enumerate(scenario.traffic):
        if isinstance(group, Long | Session) and group.stop is not None:
            yield "stop", Fact("unsupported.stop"), f"traffic.{index}.stop"
        if isinstance(group, Long) and group.schedule is not None:
            yield "stop", Fact("unsupported.schedule"), f"traffic.{index}.schedule"
        yield group.kind, Fact("unsupported.kind", kind=group.kind), f"traffic.{index}.kind"
