"""Errors of the network engine for valid scenarios."""

from __future__ import annotations

from collections.abc import Sequence

from forebay.engines.errors import Unsupported
from forebay.errors import ForebayError


class NoNetwork(Unsupported):
    """The scenario has no topology, only a single link."""

    def __init__(self) -> None:
        super().__init__("network", "a single link", "topology")
        self.hint = "add a [topology], or size and run the link with another engine"
        self.args = (f"topology: network cannot run {self.what}; {self.hint}",)


class NoSteadyState(ForebayError):
    """The solver did not converge.

    Attributes
    ----------
    residual : float
        Largest residual of the equations, relative.
    worst : sequence of str
        Names of the links with the largest residuals.
    """

    code = "no-steady-state"
    exit_status = 3

    def __init__(self, residual: float, worst: Sequence[str]) -> None:
        self.residual, self.worst = residual, tuple(worst)
        self.hint = "check these links' rates and buffers, or write another topology.model"
        where = ", ".join(worst)
        super().__init__(
            f"engine network found no steady state: residual {residual:.1e}, largest at {where}; "
            f"{self.hint}"
        )
