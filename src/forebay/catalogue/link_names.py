"""Names of links that the simulator, the models of answers and the search agree on."""

BOTTLENECK = "bottleneck"
"""The link under study, whose buffer is sized."""

REVERSE = "reverse"
"""Its reverse direction, which exists if a class sends that way."""
