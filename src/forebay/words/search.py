"""Sizing: what is asked wrongly, and what the time is too short for."""

SENTENCES: dict[str, str | tuple[str, str]] = {
    "no-goals": (
        "the scenario has none, so every buffer is large enough",
        "write {setting:goals.utilization=0.98}",
    ),
    "nobody-crosses": (
        "no class sends data over {link}, so every buffer is large enough",
        'name "{link}" in a route, or leave route out',
    ),
    "goal-not-answered.by-engine": (
        "engine {engine} cannot compute it",
        "choose another engine ({option:engine=simulation}) or leave this goal out",
    ),
    "goal-not-answered.in-window": (
        "engine {engine} cannot compute it",
        "write a longer measure.duration, because the window contains none of it, or leave this "
        "goal out",
    ),
    "bad-seeds": ("got {seeds}", "give one or more, each once"),
    "too-little-time": (
        "simulation cannot answer in {budget}: {why}, and {of_network:the network|the whole link} "
        "takes {more_than:more than|about} {needs} here",
        "write {more}{other}{kept}",
    ),
    "too-little-time.or-network": ", or {option:engine=network} for its steady state",
    "too-little-time.or-theory": ", or {option:engine=theory} for what published laws say",
    "too-little-time.kept": (
        "; finished simulations are kept in {store}, and it continues from there"
    ),
}
