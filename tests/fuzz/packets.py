"""How many packets a run of a scenario moves, about: random scenarios are made cheap by it."""

from forebay.scenario import Scenario, Session, Short, Tcp


def packets(scenario: Scenario) -> float:
    """Return about how many packets, of data or of ACKs, a run moves."""
    seconds = scenario.measure.warmup + scenario.measure.duration
    total = 0.0
    for group in scenario.traffic:
        if isinstance(group, Tcp):
            total += _tcp_packets(scenario, group, seconds)
        elif hasattr(group, "packets_in"):
            total += group.packets_in(seconds, scenario.link.rate)
        else:
            total += group.most_packets()
    return total


def _tcp_packets(scenario: Scenario, group: Tcp, seconds: float) -> float:
    rates = [scenario.link.rate, *(each.rate for each in scenario.links)]
    bits = 8 * group.packet
    first = float(group.initial_window or 10)
    carried = 2 * max(rates) * seconds / bits
    if isinstance(group, Short):
        starting = group.arrivals_per_second(scenario.link.rate) * seconds
        length = group.length.mean_packets(group.packet)
        return 20 * starting + min(starting * length, carried)
    flows = int(group.flows)
    if isinstance(group, Session):
        flows = round(flows * group.files_in(seconds))
    if group.max_window is not None:
        first = min(first, group.max_window)
    return flows * first + carried
