"""One store of replications and documents: an SQLite file, shared by every verb that takes one."""

from __future__ import annotations

from forebay.store.errors import StoreError
from forebay.store.file import Store
from forebay.store.stored import StoredEngine, with_store

__all__ = ["Store", "StoreError", "StoredEngine", "with_store"]
