"""How the cost of a network's steady state grows with its links.

.venv/bin/python benches/network.py [LINKS ...]
"""

from __future__ import annotations

import resource
import sys
import time

from forebay.engines.fixed_point import NetworkEngine
from forebay.scenario import loads

TEXT = """
[link]
rate = "100 Gbit/s"
delay = "1 ms"
[queue]
size = "1 bdp/sqrt(n)"
[[traffic]]
flows = {flows}
[topology]
max_pairs = {pairs}
[topology.isp]
cores = {cores}
metros = {metros}
edges = {edges}
hosts = {hosts}
[[topology.classes]]
name = "core"
[[topology.classes]]
name = "middle"
rate = "40 Gbit/s"
delay = "0.5 ms"
[[topology.classes]]
name = "edge"
rate = "10 Gbit/s"
delay = "0.2 ms"
[[topology.classes]]
name = "access"
rate = "100 Mbit/s"
delay = "1 ms"
"""


def main() -> None:
    """Solve a provider of each size; links count the hosts of a router as one each way."""
    print("links  paths  loading_s  cpu_s  steps  residual  MB")
    for links in [int(each) for each in sys.argv[1:]] or [1_000, 3_000, 10_000]:
        edges = links * 23 // 100
        text = TEXT.format(
            cores=max(6, int(0.2 * links**0.5)), metros=max(8, links // 50), edges=edges,
            hosts=10 * links, flows=50 * links, pairs=links,
        )  # fmt: skip
        begun = time.process_time()
        solution, _ = NetworkEngine().solution(loads(text))
        whole = time.process_time() - begun
        problem = solution.balance.problem
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{problem.graph.links}  {len(problem.share)}  {whole - solution.cpu_s:.2f}  "
            f"{solution.cpu_s:.2f}  {solution.steps}  {solution.residual:.1e}  {memory:.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
