"""Laws of other distributions: entry points of the group ``forebay.laws``, each a `Law`."""

from __future__ import annotations

from forebay import plugins
from forebay.laws.answer import Law

GROUP = "forebay.laws"


def of_others() -> tuple[Law, ...]:
    """Return them in the order of their entry points' names.

    Raises
    ------
    BrokenPlugin
        An entry point that cannot be loaded, or is no `Law`.
    """
    return tuple(_law(name) for name in sorted(plugins.found(GROUP)))


def _law(name: str) -> Law:
    law = plugins.load(GROUP, name)
    if not isinstance(law, Law):
        raise plugins.refuse(GROUP, name, "is no forebay.laws.Law")
    return law
