"""Estimate where a link's curve crosses its goals; each level of a scaling study needs it."""
