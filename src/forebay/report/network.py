"""The report of a network: classes of links, connections by hops, the fullest links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from forebay.outcome import LinkOutcome, NetworkOutcome, Outcome
from forebay.report.outcome import print_broken
from forebay.report.tables import (
    assumed_lines,
    console,
    count,
    number,
    show_table,
    table,
    with_prefix,
)

if TYPE_CHECKING:
    from rich.table import Table


_SHOWN, _NAMED = 10, 5
_LEAST_LOSS = 1e-12
_NONE = "no connection responds to loss"


def print_network(outcome: Outcome) -> None:
    """Print a network's answer as text."""
    out = console()
    whole = outcome.network
    out.print(f"{outcome.scenario.get('name', 'network')}", style="bold")
    if whole is not None:
        out.print(_totals(whole))
    for line in _overloads(outcome):
        out.print(line, style="bold")
    if whole is not None:
        show_table(out, _hops(whole))
    for line in _fixed_points(outcome):
        out.print(line)
    out.print()
    smallest = (outcome.provenance.model_extra or {}).get("smallest_buffers")
    if smallest is not None:
        show_table(out, _smallest(smallest))
        filled, links = smallest["filled"], smallest["links"]
        if filled == links:
            out.print(f"The goal on utilization applies to all {links} links.")
        elif filled is not None:
            asked = f"The goal on utilization applies to {filled} of {links} links"
            out.print(f"{asked}; no buffer fills the others.")
        if smallest["unsolved"]:
            tried = f"{smallest['unsolved']} of {smallest['solved']} sets tried"
            out.print(f"No steady state was found for {tried}: less may be enough.")
        out.print()
    show_table(out, _classes(outcome))
    out.print()
    shown = min(_SHOWN, len(outcome.links))
    most = "lose most" if any(map(_loss, outcome.links.values())) else "are used most"
    out.print(f"The links that {most}, {shown} of {len(outcome.links)}", style="bold")
    show_table(out, _worst(outcome))
    print_broken(out, [outcome], [""])
    for line in assumed_lines(outcome.assumptions):
        out.print(line)


def print_failures(found: list[dict[str, Any]]) -> None:
    """Print the network as it is, and what each single failure changes, the worst first."""
    out = console()
    out.print(f"{count(len(found) - 1, 'single failure')}, the worst first", style="bold")
    grid = table("link down", "worst link", "offered, %", "utilization, %", "loss, %", "loses most")
    failed = []
    for row in found:
        name = row["link"] or "nothing"
        if row["error"] is not None:
            failed.append(f"{name}: {row['error']}")
            continue
        grid.add_row(
            name, row["worst"], number(row["offered_load"], 100),
            number(row["utilization"], 100), number(row["loss_rate"], 100), row["sufferers"],
        )  # fmt: skip
    show_table(out, grid)
    for line in failed[:_SHOWN]:
        out.print(line)
    if len(failed) > _SHOWN:
        out.print(f"and {len(failed) - _SHOWN} more that leave no answer")


def _totals(whole: NetworkOutcome) -> str:
    responding = f"{whole.connections:,.0f} connections" if whole.connections else _NONE
    parts = [
        responding,
        f"propagation {number(whole.mean_propagation_s, 1e3)} ms",
        f"round trip {number(whole.mean_rtt_s, 1e3)} ms",
    ]
    if whole.mean_throughput_bps is not None:
        parts.append(f"throughput {number(whole.mean_throughput_bps, 1e-6)} Mbit/s each")
    if whole.residual is not None:
        parts.append(f"residual {whole.residual:.1e}")
    return ", ".join(parts)


def _overloads(outcome: Outcome) -> list[str]:
    """Return a line for the links that are offered more than they carry, the worst first."""
    offered = {name: link.offered_load or 0.0 for name, link in outcome.links.items()}
    above = sorted((name for name in offered if offered[name] > 1.0), key=lambda n: -offered[n])
    lines = [f"{name} is offered {100 * offered[name]:.0f} %: add capacity" for name in above]
    more = len(lines) - _NAMED
    return lines[:_NAMED] + ([f"and {more} more links are offered above 100 %"] if more > 0 else [])


def _fixed_points(outcome: Outcome) -> list[str]:
    """Return the results of random starts, if there were any."""
    search = (outcome.provenance.model_extra or {}).get("fixed_points")
    if search is None:
        return []
    one = search["points"] == 1
    lost = search["not_converged"]
    return [
        f"{search['starts']} random starts: {search['points']} fixed point{'' if one else 's'}, "
        f"rates of paths {search['rate_difference']:.1e} apart and loss rates of links "
        f"{search['loss_difference']:.1e} at most, residual {search['residual']:.1e}"
        + (f"; {lost} did not converge" if lost else "")
    ]


def _smallest(sizes: dict[str, Any]) -> Table:
    """Show the size of each class of links, and the total of all buffers."""
    grid = table("smallest buffers", "number", "packets", "of bdp", "all together")
    for name, group in sizes["classes"].items():
        low, high = group["packets_min"], group["packets_max"]
        grid.add_row(
            name, str(group["links"]), str(low) if low == high else f"{low} to {high}",
            f"{group['of_bdp']:.3g}", with_prefix(group["bytes"], "B"),
        )  # fmt: skip
    grid.add_row("all", "", "", "", with_prefix(sizes["bytes"], "B"))
    return grid


def _hops(whole: NetworkOutcome) -> Table:
    grid = table("hops", "connections", "throughput, Mbit/s", "round trip, ms", "loss, %")
    for hop in whole.by_hops:
        grid.add_row(
            str(hop.hops), f"{hop.connections:,.0f}", number(hop.throughput_bps, 1e-6),
            number(hop.rtt_s, 1e3), number(hop.loss_rate, 100),
        )  # fmt: skip
    return grid


def _classes(outcome: Outcome) -> Table:
    grid = table(
        "links", "number", "offered, %", "utilization, %", "fullest, %", "loss, %", "wait, ms"
    )
    groups: dict[str, list[LinkOutcome]] = {}
    for link in outcome.links.values():
        groups.setdefault(link.link_class or "", []).append(link)
    for name, links in groups.items():
        used = [float(link.utilization or 0.0) for link in links]
        lost = [_loss(link) for link in links]
        wait = [
            float(link.queue_delay_s.mean or 0.0) if link.queue_delay_s else 0.0 for link in links
        ]
        grid.add_row(
            name, str(len(links)), _offered(links),
            number(sum(used) / len(used), 100), number(max(used), 100),
            number(sum(lost) / len(lost), 100), number(sum(wait) / len(wait), 1e3),
        )  # fmt: skip
    return grid


def _worst(outcome: Outcome) -> Table:
    grid = table(
        "link", "class", "connections", "buffer, packets", "offered, %", "utilization, %", "loss, %"
    )
    ranked = sorted(
        outcome.links.items(),
        key=lambda item: (-_loss(item[1]), -float(item[1].utilization or 0.0)),
    )
    for name, link in ranked[:_SHOWN]:
        grid.add_row(
            name, link.link_class or "", number(link.flows, 1), str(link.buffer_packets),
            _offered([link]), number(float(link.utilization or 0.0), 100), number(_loss(link), 100),
        )  # fmt: skip
    return grid


def _offered(links: list[LinkOutcome]) -> str:
    """Return the mean offered load in per cent; a dash where nothing but greedy flows comes."""
    known = [link.offered_load for link in links if link.offered_load is not None]
    return number(sum(known) / len(links) if known else None, 100)


def _loss(link: LinkOutcome) -> float:
    """Return a loss rate, below 1e-12 none."""
    lost = float(link.loss_rate or 0.0)
    return lost if lost >= _LEAST_LOSS else 0.0


def print_designs(names: tuple[str, str], demands: Any) -> None:
    """Print a table for each demand of ``network --against --json``."""
    out, columns = console(), ("worst link", "offered, %", "loss, %", "loses most")
    for demand in demands:
        grown = "" if demand["growth"] == 1 else f", demand x {demand['growth']:g}"
        out.print(f"{names[0]} beside {names[1]}{grown}", style="bold")
        for line in _summary(names, demand):
            out.print(line)
        grid = table("link down", *(f"{name}: {what}" for name in names for what in columns))
        for state in demand["states"]:
            cells = [cell for side in state["designs"] for cell in _cells(side)]
            grid.add_row(state["link"] or "none", *cells)
        show_table(out, grid)
        out.print()


def _summary(names: tuple[str, str], demand: dict[str, Any]) -> list[str]:
    lines = []
    for place, name in enumerate(names):
        sides = [state["designs"][place] for state in demand["states"]]
        failures = [side for side in sides[1:] if side is not None]
        parts = sum(side["error"] is not None for side in failures)
        above = demand["overloaded_failures"][place] - parts
        said = f"{name}: of {len(failures)} single failures {above} overload a link"
        lines.append(said + (f", {parts} have no answer." if parts else "."))
    first, second = demand["demand_bps"]
    if first is not None and second is not None and abs(first - second) > 1e-6 * first:
        both = f"{with_prefix(first, 'bit/s')} and {with_prefix(second, 'bit/s')}"
        lines.append(f"Their demands differ: {both}.")
    return lines


def _cells(side: dict[str, Any] | None) -> Sequence[str]:
    if side is None:
        return ("not in it", "", "", "")
    if side["error"] is not None:
        return (side["error"], "", "", "")
    load, lost = number(side["offered_load"], 100), number(side["loss_rate"], 100)
    return (side["worst"], load, lost, side["sufferers"])
