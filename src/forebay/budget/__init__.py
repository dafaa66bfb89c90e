"""A sizing within a time limit."""

from forebay.lazy import attributes

__getattr__ = attributes(
    __name__,
    {
        "TooLittleTime": "cost",
        "fitted": "run",
        "size_links_within": "links",
        "predict_run": "run",
        "size_within": "size",
    },
)
