"""Links whose buffer is so small that bursts matter, which the steady state does not represent.

Independent bursts of X packets fill a queue of b packets with the
probability exp(-b 2 (1 - rho) / rho E[X] / E[X^2]) at the load rho (Appenzeller et al. 2004,
section 4). Solved for rho, this gives the load at which bursts alone cause the loss of the model.
Packets that cross an equally slow link before are spaced more evenly, so the estimate is low.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forebay.engines.fixed_point.exposure import mean_burst

if TYPE_CHECKING:
    from forebay.engines.fixed_point.solver import Solution
    from forebay.topology.graph import Floats, Ints

_LEAST_LOSS = 1e-4  # a smaller loss comes from few bursts and determines no load
_APART = 0.02


def burst_load(buffer: Floats, loss: Floats, burst: float) -> Floats:
    """Return the load at which bursts of so many packets overflow a buffer with this loss.

    Parameters
    ----------
    buffer : packets, 1 or more.
    loss : between 0 and 1, without both.
    burst : mean packets of a burst; all are taken as equally long, E[X^2] / E[X].
    """
    return np.asarray(1.0 / (1.0 + burst * np.log(1.0 / loss) / (2.0 * buffer)))


def burst_note(solution: Solution, links: Ints | None = None) -> str | None:
    """Return a note about bursts at these links; None if bursts change little there.

    Parameters
    ----------
    links : indices into ``balance.used``; default: all.
    """
    balance = solution.balance
    loss = np.exp(solution.state.log_loss)
    used = np.minimum(solution.flow.carried_bps / balance.rate_bps, 1.0)
    buffer = balance.problem.buffer_packets[balance.used]
    if not balance.responsive:
        return None
    burst = mean_burst(balance.problem)
    load = burst_load(buffer, np.clip(loss, 1e-300, 1.0 - 1e-12), burst)
    wrong = (loss > _LEAST_LOSS) & (load < used - _APART)
    if links is not None:
        wrong &= np.isin(np.arange(len(wrong)), links)
    if not wrong.any():
        return None
    worst = int(np.argmin(np.where(wrong, load, np.inf)))
    name = balance.problem.graph.link_names[balance.used[worst]]
    n = np.count_nonzero(wrong)
    which = name if n == 1 else f"{n} links, most of all {name}"
    return (
        f"bursts, which the model leaves out, matter at {which}: independent bursts of {burst:.2g} "
        f"packets overflow a buffer of {buffer[worst]:.0f} with this probability "
        f"({loss[worst]:.2%}) at a load of {load[worst]:.0%}, but the model has {used[worst]:.0%}; "
        "simulation has bursts"
    )
