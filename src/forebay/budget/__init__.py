"""What can be said of a link in the time that there is."""

from forebay.lazy import attributes

__getattr__ = attributes(
    __name__,
    {
        "Remembering": "store",
        "TooLittleTime": "errors",
        "fitted": "run",
        "size_links_within": "links",
        "predict_run": "run",
        "size_within": "size",
    },
)
