"""What cannot be answered in the time that there is."""

from __future__ import annotations

from forebay.budget.duration import in_words
from forebay.errors import ForebayError, option


class TooLittleTime(ForebayError):
    """The time is too short for the link, and no smaller one can stand for it.

    Attributes
    ----------
    why : why not.
    needs_s, budget_s : seconds that the whole link takes here, about, and that there were.
    hint : what to write instead.
    """

    code = "too-little-time"
    exit_status = 3

    def __init__(self, why: str, needs_s: float, budget_s: float) -> None:
        self.why, self.needs_s, self.budget_s = why, needs_s, budget_s
        more = in_words(1.25 * needs_s)
        theory = option("engine", "theory")
        self.hint = f"write {option('budget', more)}, or {theory} for what published laws say"
        super().__init__(
            f"simulation cannot answer in {in_words(budget_s)}: {why}, and the whole link takes "
            f"about {in_words(needs_s)} here; {self.hint}"
        )

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.why, self.needs_s, self.budget_s))
