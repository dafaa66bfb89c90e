"""The papers' tables and figures: a folder a paper, in it a folder an artefact.

An artefact's folder holds the published values, the band with its reason, the scenario, the
testbed's recorded runs, and ``artefact.py``, which makes it again. What artefacts of a paper
share lies beside their folders. A folder's name is the artefact's with ``_`` for ``-``.
"""

KEYS = {
    "A": "appenzeller-2004",
    "B": "theagarajan-2006",
    "C": "hisamatsu-2007",
    "D": "yang-2013",
}
"""Short letters of the papers, as aliases of their keys: first author and year."""
