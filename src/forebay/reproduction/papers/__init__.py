"""The papers' tables and figures: for each paper some modules, and a folder for each artefact.

An artefact's folder has the published values, the bands with their reasons, the scenario, the
testbed's recorded runs and its page. A folder's name is the artefact's with ``_`` for ``-``, and
so is that of the function which reproduces it.
"""

KEYS = {"A": "appenzeller-2004", "B": "theagarajan-2006", "C": "hisamatsu-2007", "D": "yang-2013"}
"""Short letters of the papers, as aliases of their keys: first author and year."""

MODULES = {
    "agreement": {"kernel": "cells offload shares"},
    "appenzeller-2004": {
        "arithmetic": "eq6 fig12-model memory",
        "campaign": "campaign",
        "congestion": "goodput-loss-fairness morris one-nth small-windows villamizar-song",
        "line_card": "fig11 fig15 headline oc3-campaign pareto",
        "mixes": "fig13 fig14 flood red scope",
        "one_flow": "appendix-a fig4 fig5 fig6 fig7",
        "short": "fig10 fig12 fig16 short-flows",
        "windows": "fig8 fig9 synchronization",
    },
    "hisamatsu-2007": {"networks": "fast-edge hops implied slow-edge"},
    "published": {"compared": "coexistence many-flows single-flow"},
    "theagarajan-2006": {"bottleneck": "fig4 fig5 fig7 text", "video": "fig2 fig3"},
    "yang-2013": {
        "laws": "curves deployment fig1 fig4 fig5 fig6 fig7 table2 table3 text",
        "mix": "delay eq19 fig2 fig9 fig10 fig11 fig12",
        "one_flow": "fig1-simulated fig3 table3-simulated",
    },
}
"""By paper and module, the artefacts that it has."""
