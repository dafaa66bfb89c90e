"""Networks as arrays: topology, demand and routes.

Two engines use it: `engines/network` solves for the steady state, `engines/simulation` simulates
packets.
"""

from forebay.network.building import build
from forebay.network.graph import Graph
from forebay.network.problem import Kind, Problem, make_problem
from forebay.network.sized import SizedLinks, check_goals_of_links, choose_links

__all__ = [
    "Graph",
    "Kind",
    "Problem",
    "SizedLinks",
    "build",
    "check_goals_of_links",
    "choose_links",
    "make_problem",
]
