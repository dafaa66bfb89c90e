"""``forebay size --class-queues``: all class queues of a port, sized together."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

import forebay
from forebay import platforms, report
from forebay.api import class_queues
from forebay.cli.output import answered, print_json, progress, say
from forebay.progress import never_less

if TYPE_CHECKING:
    from forebay.platforms import ClassEmission


BUDGET = "4 min"


def size_together(
    scenario: forebay.Scenario,
    how: dict[str, Any],
    memory: str | None,
    platform: str | None,
    as_json: bool,
) -> int:
    """Size the class queues, print them, and return the exit status.

    Parameters
    ----------
    how : further parameters of `forebay.size`; its budget is that of all sizings together.
    """
    if platform is not None:
        platforms.check_class_platform(platform)
    budget = forebay.Duration.parse_argument("budget", how.pop("budget") or BUDGET)
    runs = {name: how[name] for name in ("seed", "seeds", "jobs", "memory_limit", "store")}

    def sizing(one: forebay.Scenario, seconds: float) -> forebay.SizeResult:
        try:
            return forebay.size(one, budget=f"{seconds:.6g} s", progress=still, **how)
        except forebay.TooLittleTime as stop:
            # The time asked for is that of one sizing: say that of all.
            raise stop.but(
                why=f"a class queue has {seconds:.2g} s, {share:.2g} of the budget: {stop.why}",
                needs_s=stop.needs_s / share, budget_s=float(budget),
            ) from None  # fmt: skip

    sought = sum(queue.is_sized for queue in scenario.queue.classes)
    share = class_queues.share_of_sizing(max(sought, 1))

    queues = "1 class queue" if sought == 1 else f"{sought} class queues"
    each = "" if sought == 1 else f", {share * float(budget):.3g} s for each sizing"
    say(f"sizing {queues}: at most {budget}{each}, and then one run of the port")
    with progress("sizing class queues") as shown:
        update, began = never_less(shown), time.monotonic()
        assert update is not None

        def still(_: float) -> None:
            update(min((time.monotonic() - began) / float(budget), 0.95))

        found = class_queues.size_class_queues(
            scenario, sizing, lambda port: forebay.run(port, **runs),
            memory=memory, budget_s=float(budget), progress=update,
        )  # fmt: skip
    made = None if platform is None or found.exit_status else _emitted(found, platform)
    if as_json:
        configuration = None if made is None else made.to_dict()
        print_json(found.model_copy(update={"configuration": configuration}).to_dict())
    else:
        report.print_class_queues(found)
        answered()
    if made is not None and not as_json:
        click.echo(f"\nConfiguration for {made.platform}\n{made.text}", nl=False)
    if platform is not None and made is None:
        say(f"no configuration for {platform}: these sizes do not meet all goals for certain")
    return found.exit_status


def _emitted(found: forebay.ClassQueueSizes, platform: str) -> ClassEmission:
    return platforms.emit_classes(forebay.Scenario.from_dict(found.outcome.scenario), platform)
