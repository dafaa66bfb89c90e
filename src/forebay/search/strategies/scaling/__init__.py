"""Extrapolate from smaller links of the same kind, or estimate the link's own crossing."""
