"""Which input moves a sizing how much."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from forebay.outcome.model import Metric
from forebay.outcome.uncertain import size_words


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
        from importlib import import_module

        return import_module("forebay.report.figures.uncertain").sensitivity_figure(self)
