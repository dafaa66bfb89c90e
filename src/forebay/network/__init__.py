"""Networks as arrays: topology, demand and routes. It solves and plays nothing.

Two engines share it: `engines/network` solves for the steady state, `engines/simulation` plays the
packets.
"""

from forebay.network.building import build
from forebay.network.graph import Graph
from forebay.network.problem import Kind, Problem, make_problem

__all__ = ["Graph", "Kind", "Problem", "build", "make_problem"]
