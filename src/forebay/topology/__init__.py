"""Networks as arrays: topology, demand and routes.

Two engines use it: `engines/fixed_point` solves for the steady state, `engines/simulation`
simulates packets.
"""

from forebay.topology.building import build
from forebay.topology.graph import Graph
from forebay.topology.problem import Kind, Problem, make_problem
from forebay.topology.sized_links import SizedLinks, check_goals_of_links, choose_links

__all__ = [
    "Graph", "Kind", "Problem", "SizedLinks", "build", "check_goals_of_links", "choose_links",
    "make_problem",
]  # fmt: skip
