"""Errors of congestion controls from outside."""

from __future__ import annotations

from forebay.errors import ForebayError


class ControlError(ForebayError):
    """A control that cannot be built, or whose name, source or record does not do.

    Attributes
    ----------
    wrong, hint : what is wrong, and what to write instead.
    """

    code = "control"

    def __init__(self, where: str, wrong: str, hint: str) -> None:
        self.where, self.wrong, self.hint = where, " ".join(wrong.split()), hint
        super().__init__(f"{where}: {self.wrong}; {hint}")


class ControlFailed(ForebayError):
    """A control that crashed, did not return, or set what no window can be.

    Attributes
    ----------
    names : the control; several, if it is one of these.
    wrong : what it did.
    """

    code = "control-failed"
    exit_status = 3

    def __init__(self, names: tuple[str, ...], wrong: str) -> None:
        self.names, self.wrong = names, " ".join(wrong.split())
        self.hint = "mend it and build it again with `forebay controls build`"
        who = " or ".join(map(repr, names))
        super().__init__(f"congestion control {who}: {self.wrong}; {self.hint}")
