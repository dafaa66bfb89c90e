"""An engine of another distribution, which need not subclass ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from forebay import plugins
from forebay.effort import DEFAULT, Effort
from forebay.engines import GROUP
from forebay.engines.base import Capabilities, Engine
from forebay.outcome import Outcome, violations

if TYPE_CHECKING:
    from forebay.scenario import Scenario


_PATIENCE_S = 600.0
"""Seconds without an answer, or a call of progress, after which an engine is said to hang."""


class OtherEngine(Engine):
    """Calls an object with ``name`` and ``run``; what else it can do are methods of these names:

    ``limit_memory``, ``capture_to``, ``count_by``, ``trace`` and ``size_links``.
    """

    def __init__(self, name: str, made: Any) -> None:
        self._name, self._made = name, made

    @property
    def name(self) -> str:
        """Name of its entry point."""
        return self._name

    @property
    def capabilities(self) -> Capabilities:
        """The methods that it has."""
        made = self._made
        if isinstance(made, Engine):
            return made.capabilities
        names = ("limit_memory", "capture_to", "count_by", "trace", "size_links")
        return Capabilities(**{name: getattr(made, name, None) for name in names})

    def run(self, scenario: Scenario, seeds: Sequence[int], effort: Effort = DEFAULT) -> Outcome:
        """Run it, and check what it returns.

        Raises BrokenPlugin: it raises, or returns no Outcome or an impossible one.
        """
        patience_s = getattr(self._made, "patience_s", _PATIENCE_S)
        asked = plugins.Asked(patience_s, effort.progress)
        with plugins.blamed(GROUP, self._name):
            made = asked.of(lambda told: self._made.run(scenario, seeds, effort.telling(told)))
        if made is plugins.NOTHING:
            wrong = f"has not answered for {patience_s:g} s (its patience_s), nor called progress"
            raise plugins.refuse(GROUP, self._name, wrong)
        if not isinstance(made, Outcome):
            wrong = f"returned a {type(made).__name__} from run, not a forebay.Outcome"
            raise plugins.refuse(GROUP, self._name, wrong)
        try:
            found = violations(made)
        except Exception as error:
            wrong = f"returned an Outcome that cannot be checked ({type(error).__name__}: {error})"
            raise plugins.refuse(GROUP, self._name, wrong) from error
        if found:
            wrong = f"computed an impossible value ({found[0]})"
            raise plugins.refuse(GROUP, self._name, wrong)
        return made
