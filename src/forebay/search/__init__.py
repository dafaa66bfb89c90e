"""Find the smallest buffer that meets the goals, with a given engine.

`search.search` is the entry of every sizing; `network_links.smallest_set` finds one size for each
class of a network's links.
"""
