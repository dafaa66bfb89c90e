"""The size of a link whose inputs are known only as ranges or distributions."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape
from importlib import import_module
from typing import Any

from forebay.outcome.model import Metric


def size_words(sized: str, packets: float) -> str:
    """Return a size in words: "135 packets", or of an AQM "a target of 8 packets at line rate"."""
    amount = f"{packets:.0f} packet{'' if round(packets) == 1 else 's'}"
    return amount if sized == "buffer" else f"a {sized} of {amount} at line rate"


@dataclass(frozen=True, slots=True)
class UncertainBuffer:
    """A size that meets the goals in enough draws.

    Attributes
    ----------
    packets, bytes : the size.
    low, high : 95 % interval of the size that holds in the share that was asked, packets; `high` is
        None if so few draws cannot show that any size does.
    """

    packets: int
    bytes: int
    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class InputInfluence:
    """What an uncertain input does to the size.

    Attributes
    ----------
    said : its range or distribution in words.
    share : of the variance of the size over draws, that the input makes alone; at least 0.
    shown : whether it differs from none (F test, 5 %).
    levels : the input in words, and the median size of the draws there, packets: of the lowest and
        the highest quarter, or of each value of a list.
    """

    path: str
    said: str
    share: float
    shown: bool
    levels: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Draw:
    """One draw of the inputs, in their order, and what it needs.

    Attributes
    ----------
    least, largest : smallest and largest size that meets the goals, packets; None if there is no
        smallest one, or no largest one.
    state : "sized", "no buffer" if none meets the goals, "undecided", or why there is no answer.
    recommended : what a sizing of this draw recommends, packets; None without one. It may be more
        than the goals ask, for a usable loss and for bursts.
    """

    values: tuple[Any, ...]
    least: float | None
    largest: float | None
    state: str
    recommended: float | None = None


@dataclass(frozen=True, slots=True)
class UncertainSize:
    """The smallest buffer that meets the goals in a share of all draws of the inputs.

    Attributes
    ----------
    holds : the share that was asked, such as 0.95.
    buffer : None if no size meets the goals in so many draws.
    held : share of draws in which `buffer` meets the goals, or in which the best size does, with
        its exact binomial interval. A draw without an answer counts as one in which it does not.
    recommended : packets to configure: the upper end of the interval; None with `reason`.
    as_written : smallest buffer for the scenario as it is, packets; None without one.
    impossible, unanswered : draws in which no buffer meets the goals, and without an answer.
    influences : the strongest first.
    sized : "buffer"; under an AQM "target" or, of red, "min", in packets at line rate.
    """

    scenario: str
    engine: str
    holds: float
    buffer: UncertainBuffer | None
    held: Metric
    recommended: int | None
    reason: str | None
    as_written: float | None
    impossible: int
    unanswered: int
    influences: tuple[InputInfluence, ...]
    inputs: tuple[str, ...]
    draws: tuple[Draw, ...]
    sized: str = "buffer"

    @property
    def exit_status(self) -> int:
        """0 with a recommended size, 1 if no buffer holds in so many draws, 3 if undecided."""
        if self.recommended is not None:
            return 0
        possible = len(self.draws) - self.impossible
        cannot = self.buffer is None and not self.unanswered
        return 1 if cannot or possible < self.holds * len(self.draws) else 3

    def to_dict(self) -> dict[str, Any]:
        """Return JSON types."""
        return {"schema": 1} | asdict(self) | {"held": self.held.model_dump(mode="json")}

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> list[str]:
        lines = [self._answer(), self._held()]
        if self.recommended is not None:
            lines.append(
                f"configure {size_words(self.sized, self.recommended)}, the upper end of that "
                "interval"
            )
            lines += self._recommended_above(self.recommended)
        elif self.reason is not None:
            lines.append(f"no size is recommended: {self.reason}")
        if self.as_written is not None:
            lines.append(
                f"the scenario as it is written needs {size_words(self.sized, self.as_written)}"
            )
        lines += self._missing()
        return lines + [self._line(each) for each in self.influences]

    def _answer(self) -> str:
        if self.buffer is None:
            what = "no size is shown to meet" if self.exit_status == 3 else "no buffer meets"
            return f"{what} the goals in {self.holds:.0%} of the draws, by {self.engine}"
        low, high = self.buffer.low, "…" if self.buffer.high is None else self.buffer.high
        return (
            f"{size_words(self.sized, self.buffer.packets)} ({self.buffer.bytes:,} B) "
            f"{'meet' if self.sized == 'buffer' else 'meets'} the goals in {self.holds:.0%} of the "
            f"draws, by {self.engine}; 95 % interval {low} to {high}"
        )

    def _held(self) -> str:
        ends = (
            f" (95 % interval {self.held.low:.1%} to {self.held.high:.1%})"
            if self.held.low is not None and self.held.high is not None
            else ""
        )
        held = "they hold in" if self.sized == "buffer" else "it holds in"
        what = held if self.buffer is not None else "the best size holds in"
        return f"{what} {self.held.value:.1%} of {len(self.draws)} draws{ends}"

    def _recommended_above(self, packets: int) -> list[str]:
        """Say what only a sizing of one scenario counts beside its goals."""
        each = [draw.recommended for draw in self.draws if draw.recommended is not None]
        above = [size for size in each if size > packets]
        if not above:
            return []
        return [
            f"this counts the goals alone: in {len(above)} of {len(self.draws)} draws a sizing "
            f"recommends more, up to {max(above):.0f} packets, for a usable loss or for bursts"
        ]

    def _missing(self) -> list[str]:
        found = []
        if self.impossible:
            found.append(f"no buffer at all meets the goals in {self.impossible} draws")
        if self.unanswered:
            why = next(d.state for d in self.draws if d.least is None and d.state != "no buffer")
            found.append(f"{self.unanswered} draws have no answer, the first: {why}")
        return found

    def _line(self, each: InputInfluence) -> str:
        share = f"{each.share:4.0%} of the variance" if each.shown else "no influence shown"
        levels = ", ".join(f"{packets:.0f} at {said}" for said, packets in each.levels)
        return f"  {each.path:32} {share:>20}: {levels}"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def figure(self) -> Any:
        """Return the picture as a Matplotlib figure."""
        return import_module("forebay.report.figures.study").uncertain_figure(self)


@dataclass(frozen=True, slots=True)
class Influence:
    """What an input does to the answer.

    Attributes
    ----------
    path, value : the field and its value.
    low, high : packets with the input below and above; None where there is no answer.
    elasticity : of the answer, between them; None without both, and of words.
    first, total : share of the answer's variance that the input makes alone, and with all others:
        the first-order and total indices of Sobol', with 95 % intervals; None where not asked.
    """

    path: str
    value: Any
    low: float | None
    high: float | None
    elasticity: float | None
    first: Metric | None = None
    total: Metric | None = None


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The influence of every input, the strongest first.

    Attributes
    ----------
    packets : the answer for the scenario as it is; None without one.
    change : share by which each input was changed; None if ranges were given.
    method : "one-at-a-time", or "sobol", which has indices beside it.
    draws : rows of Sobol's design that all have an answer, from which the indices are.
    asked_draws : rows of the design that was asked.
    reason : why the scenario as it is has no answer; None with one.
    sized : "buffer"; under an AQM "target" or, of red, "min", in packets at line rate.
    """

    engine: str
    packets: float | None
    change: float | None
    influences: tuple[Influence, ...]
    method: str = "one-at-a-time"
    draws: int = 0
    asked_draws: int = 0
    reason: str | None = None
    sized: str = "buffer"

    def to_dict(self) -> dict[str, Any]:
        """Return JSON types."""
        found = {"schema": 1} | asdict(self)
        for each in found["influences"]:
            for name in ("first", "total"):
                if each[name] is not None:
                    each[name] = each[name].model_dump(mode="json")
        return found

    def __str__(self) -> str:
        answer = "no answer" if self.packets is None else size_words(self.sized, self.packets)
        how = "by its range" if self.change is None else f"by ±{self.change:.0%}"
        lines = [f"{answer} by {self.engine}; each input changed {how}"]
        if self.reason is not None:
            lines.append(self.reason)
        lines += [self._line(each) for each in self.influences]
        if self.method == "sobol":
            lines.append(self._of_indices())
        return "\n".join(lines)

    def _line(self, each: Influence) -> str:
        ends = " … ".join("–" if v is None else f"{v:.0f}" for v in (each.low, each.high))
        power = "–" if each.elasticity is None else f"{each.elasticity:+.2f}"
        line = f"  {each.path:34} {ends:>16} packets, elasticity {power:>5}"
        if each.first is None or each.total is None:
            return line
        return f"{line}, variance {each.first.value:4.0%} alone, {each.total.value:4.0%} in all"

    def _of_indices(self) -> str:
        if not self.draws:
            return (
                f"no shares of the variance: of {self.asked_draws} rows of the design too few had "
                "an answer at every place"
            )
        return (
            f"variance: Sobol's first-order and total index of {self.draws} draws of all inputs "
            f"together, 95 % intervals up to ±{100 * self._widest():.0f} points; an input whose "
            "total is larger acts together with others"
        )

    def _widest(self) -> float:
        """Return the largest half-width of the indices' intervals."""
        known = [m for each in self.influences for m in (each.first, each.total) if m is not None]
        return max(
            (max(m.high - m.value, m.value - m.low) for m in known
             if m.low is not None and m.high is not None), default=0.0,
        )  # fmt: skip

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def figure(self) -> Any:
        """Return the picture as a Matplotlib figure."""
        return import_module("forebay.report.figures.study").sensitivity_figure(self)
