"""The papers' tables and figures: one folder for each paper, with a folder for each artefact.

An artefact's folder has the published values, the bands with their reasons, the scenario, the
testbed's recorded runs, and ``artefact.py``, which reproduces it. Modules shared by artefacts of a
paper are in the paper's folder. A folder's name is the artefact's with ``_`` for ``-``.
"""

KEYS = {
    "A": "appenzeller-2004",
    "B": "theagarajan-2006",
    "C": "hisamatsu-2007",
    "D": "yang-2013",
}
"""Short letters of the papers, as aliases of their keys: first author and year."""
