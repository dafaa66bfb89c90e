"""The size of a link whose inputs are known only as ranges or distributions."""

from typing import Any

from forebay.outcome.document import Closed, Text, TextDocument
from forebay.outcome.model import Metric


class UncertainBuffer(Closed):
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


class InputInfluence(Closed):
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
    said: Text
    share: float
    shown: bool
    levels: tuple[tuple[str, float], ...]


class Draw(Closed):
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
    state: Text
    recommended: float | None = None


class UncertainSize(TextDocument):
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
    reason: Text | None
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

    def __repr__(self) -> str:
        size = self.recommended
        answer = "no size is recommended" if size is None else f"{size} packets"
        return f"UncertainSize({self.scenario!r}, {self.engine}: {answer})"


class Influence(Closed):
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


class Sensitivity(TextDocument):
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
    reason: Text | None = None
    sized: str = "buffer"

    def __repr__(self) -> str:
        return f"Sensitivity({self.engine!r}, {len(self.influences)} inputs)"
