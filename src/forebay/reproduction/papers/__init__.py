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
        "campaign": "campaign oc3-campaign",
        "line_card": "fig11 fig15 headline pareto",
        "mixes": "fig13 fig14 flood goodput-loss-fairness morris one-nth red scope small-windows "
        "villamizar-song",
        "short": "fig10 fig12 fig16 short-flows",
        "windows": "appendix-a fig4 fig5 fig6 fig7 fig8 fig9 synchronization",
    },
    "hisamatsu-2007": {"networks": "fast-edge hops implied slow-edge"},
    "published": {"compared": "coexistence many-flows single-flow"},
    "theagarajan-2006": {"bottleneck": "fig2 fig3 fig4 fig5 fig7 text"},
    "yang-2013": {
        "laws": "curves fig1 fig4 fig5 fig6 fig7 table2 table3 text",
        "mix": "delay deployment eq19 fig1-simulated fig2 fig3 fig9 fig10 fig11 fig12 "
        "table3-simulated",
    },
}
"""By paper and module, the artefacts that it has."""
