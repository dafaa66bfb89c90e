"""What can be wrong with a question before any buffer is tried."""

from __future__ import annotations

from forebay.errors import ForebayError, option, setting


class SizingError(ForebayError, ValueError):
    """Bad input to a sizing; ``str()`` is one line: what is wrong; what to write instead.

    Attributes
    ----------
    code : stable name of the mistake.
    field : place in the scenario or argument that is wrong.
    hint : what to write instead.
    """

    def __init__(self, code: str, field: str, wrong: str, hint: str) -> None:
        super().__init__(f"{field}: {wrong}; {hint}")
        self.code = code
        self.field = field
        self.hint = hint


class NoGoals(SizingError):
    """The scenario asks for nothing that a buffer could meet or miss."""

    def __init__(self) -> None:
        super().__init__(
            "no-goals",
            "goals",
            "the scenario states none, so no buffer is too small",
            f"write {setting('goals.utilization', 0.98)}",
        )


class NobodyCrosses(SizingError):
    """No data crosses the link whose buffer is asked for."""

    def __init__(self, link: str) -> None:
        super().__init__(
            "nobody-crosses",
            "traffic",
            f"no class sends data over {link}, so no buffer is too small",
            f'name "{link}" in a route, or leave route out',
        )


class GoalNotAnswered(SizingError):
    """The engine has no value for a metric that a goal is about; a law cannot be helped to one."""

    def __init__(self, goal: str, engine: str) -> None:
        super().__init__(
            "goal-not-answered",
            f"goals.{goal}",
            f"engine {engine} has no answer to it",
            f"choose another engine ({option('engine', 'simulation')}) or leave this goal out"
            if engine != "simulation"
            else "write a longer measure.duration, for nothing of it is seen in the window, "
            "or leave this goal out",
        )
        self.exit_status = 3 if engine == "theory" else 2
