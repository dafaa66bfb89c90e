"""Values that are read from a file that a scenario names."""

from __future__ import annotations

import os
import stat
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar, Self

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, SerializationInfo, ValidationInfo
from pydantic_core import CoreSchema, core_schema

from forebay.scenario.errors import ScenarioError, show

FOLDER = "folder"
"""Key of the validation context: where relative paths begin."""

_MOST_BYTES = 256 * 1024 * 1024


class FromFile(ABC):
    """A file's content, read once. `path` is relative to the current folder, or absolute."""

    __slots__ = ()
    file_kind: ClassVar[str]
    """What the file is, with its article, in the hints of errors."""
    path: str

    @classmethod
    @abstractmethod
    def of(cls, path: str, content: bytes) -> Self:
        """Return the value of a file's content. Raises ScenarioError."""

    @abstractmethod
    def canonical(self) -> dict[str, str]:
        """Return what the file holds, wherever it lies."""

    @classmethod
    def read(cls, path: str) -> Self:
        """Read a regular file: to open a pipe or a device could wait for ever.

        Raises ScenarioError.
        """
        hint = f"write the path of {cls.file_kind} that you may read"
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):
                raise ScenarioError("file-unreadable", f"{show(path)} is no regular file", hint)
            with Path(path).open("rb") as file:
                content = file.read(_MOST_BYTES + 1)
        except (OSError, ValueError) as error:
            if isinstance(error, ScenarioError):
                raise
            reason = getattr(error, "strerror", None) or error
            wrong = f"{show(path)} cannot be read ({reason})"
            raise ScenarioError("file-unreadable", wrong, hint, value=path) from None
        if len(content) > _MOST_BYTES:
            hint = "write the path of a smaller file"
            wrong = f"{show(path)} is larger than 256 MiB"
            raise ScenarioError("file-too-large", wrong, hint, value=path)
        return cls.of(path, content)

    @classmethod
    def parse(cls, value: object, info: ValidationInfo) -> Self:
        """Read what a path names, or return the value if it is one. Raises ScenarioError."""
        if isinstance(value, cls):
            return value
        if not isinstance(value, str) or not value:
            hint = f"write the path of {cls.file_kind} in quotes"
            raise ScenarioError("wrong-type", f"{show(value)} is not a path", hint, value=value)
        return cls.read(os.path.join((info.context or {}).get(FOLDER, ""), value))

    def _written(self, info: SerializationInfo) -> Any:
        """Return the path as a file in the context's folder writes it, or the content's digest."""
        if info.mode != "json":
            return self.canonical()
        folder = (info.context or {}).get(FOLDER)
        if folder is None or os.path.isabs(self.path):
            return self.path
        return os.path.relpath(self.path, folder)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(
            cls.parse,
            serialization=core_schema.plain_serializer_function_ser_schema(
                cls._written, info_arg=True
            ),
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"type": "string", "minLength": 1}
