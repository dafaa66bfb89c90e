"""Studies: many questions, planned before the first run, with one row for each replication."""
