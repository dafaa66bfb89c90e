"""What cannot be answered in the time that there is."""

from __future__ import annotations

from functools import partial

from forebay.budget.duration import in_words
from forebay.errors import ForebayError, option


class TooLittleTime(ForebayError):
    """The time is too short for the link, and no smaller one can stand for it.

    Attributes
    ----------
    why : why not.
    of_network : it is a link of a network, which the network engine sizes too.
    needs_s, budget_s : seconds that the whole link takes here, about, and that there were.
    hint : what to write instead.
    """

    code = "too-little-time"
    exit_status = 3

    def __init__(
        self, why: str, needs_s: float, budget_s: float, *, of_network: bool = False
    ) -> None:
        self.why, self.needs_s, self.budget_s, self.of_network = why, needs_s, budget_s, of_network
        more = option("budget", in_words(1.25 * needs_s))
        other = option("engine", "network" if of_network else "theory")
        what = "its steady state" if of_network else "what published laws say"
        self.hint = f"write {more}, or {other} for {what}"
        super().__init__(
            f"simulation cannot answer in {in_words(budget_s)}: {why}, and the whole link takes "
            f"about {in_words(needs_s)} here; {self.hint}"
        )

    def __reduce__(self) -> tuple[object, ...]:
        made = partial(type(self), of_network=self.of_network)
        return (made, (self.why, self.needs_s, self.budget_s))
