"""One store of replications and documents: an SQLite file, shared by every verb that takes one."""

from __future__ import annotations

from forebay.store.file import Store, StoreError, to_blob
from forebay.store.rows import Column, MetricRow, to_numbers
from forebay.store.stored import StoredEngine, code_of, digest_of_files, with_store

__all__ = [
    "Column",
    "MetricRow",
    "Store",
    "StoreError",
    "StoredEngine",
    "code_of",
    "digest_of_files",
    "to_blob",
    "to_numbers",
    "with_store",
]
