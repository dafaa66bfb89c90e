"""The error of a store that cannot be used."""

from __future__ import annotations

from forebay.errors import ForebayError


class StoreError(ForebayError):
    """A store cannot be opened, read or written.

    Attributes
    ----------
    path, wrong, hint : str
        The file, what is wrong with it, and what to write or do instead.
    """

    code = "store"

    def __init__(self, path: str, wrong: str, hint: str) -> None:
        self.path, self.wrong, self.hint = path, wrong, hint
        super().__init__(f"store {path}: {wrong}; {hint}")
