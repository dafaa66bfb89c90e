"""The public verbs: each passes a scenario and seeds to an engine, or a question to the search."""
