"""How the answer is found: by bisection, or by the crossings of links of several scales."""
