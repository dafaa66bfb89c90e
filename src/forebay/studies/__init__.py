"""Studies: many questions at once, planned before the first run, and one row for each replication."""
