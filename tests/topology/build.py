"""Small networks for the tests of this room."""

from forebay.scenario import Scenario, loads

HEAD = '[link]\nrate = "10 Gbit/s"\ndelay = "1 ms"\n[[traffic]]\nflows = {flows}\n[topology]\n'


def network(topology: str, flows: int = 100, changes: tuple[str, ...] = ()) -> Scenario:
    """Return a scenario with that [topology], its keys without a table's head first."""
    return loads(HEAD.format(flows=flows) + topology, overrides=list(changes))
