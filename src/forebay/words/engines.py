"""Engines: what one cannot run, here or at all."""

SENTENCES: dict[str, str | tuple[str, str]] = {
    "unknown-engine": ("there is no '{value}'", "write one of: {known}"),
    "engine-unavailable": ("engine {engine} cannot run here: {missing}", ""),
    "unsupported.here": (
        "{engine} cannot run {what} yet",
        "write {option:engine=simulation}, or leave it out of the scenario",
    ),
    "unsupported.anywhere": (
        "{engine} cannot run {what} yet",
        "choose another engine, or leave it out of the scenario",
    ),
    "unsupported.without-network": (
        "add a [topology], or size and run the link with another engine"
    ),
    "no-law.here": ("theory has no law for this link ({why})", "write {option:engine=simulation}"),
    "no-law.or-instead": (
        "theory has no law for this link ({why})",
        "write {option:engine=simulation}, or {instead}",
    ),
    "outside-atlas": (
        "the atlas does not cover {value}, but {bound}",
        "write {option:engine=simulation}",
    ),
    "too-much-memory": ("{why}", "write {smaller}, or a larger {argument:memory_limit}"),
    "no-steady-state": (
        "engine network found no steady state: residual {residual:.1e}, largest at {worst}",
        "check these links' rates and buffers, or write another topology.model",
    ),
    "control-failed": (
        "congestion control {who}: {did}",
        "mend it and build it again with `forebay controls build`",
    ),
}
