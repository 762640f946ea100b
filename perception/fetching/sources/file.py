"""A weight of our own that ships in ``checkpoints/``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from perception.errors import BadInput
from perception.fetching.source import CHUNK_BYTES, Download, SourceFailed
from perception.shipped import shipped

__all__ = ["Options", "build"]


@dataclass(frozen=True, slots=True)
class Options:
    """Keys of a source of the kind ``file``.

    Args:
        path: below ``checkpoints/``, with forward slashes.
    """

    path: str


@dataclass(frozen=True, slots=True)
class _File:
    path: str

    @property
    def where(self) -> str:
        return f"file checkpoints/{self.path}"

    @property
    def downloads(self) -> tuple[Download, ...]:
        return ()

    @property
    def in_place(self) -> Path | None:
        return shipped("checkpoints") / self.path

    def chunks(self, folders: Sequence[Path]) -> Iterator[bytes]:
        del folders
        try:
            with (shipped("checkpoints") / self.path).open("rb") as file:
                while chunk := file.read(CHUNK_BYTES):
                    yield chunk
        except OSError as error:
            raise SourceFailed(error.strerror or str(error)) from error


def build(options: Options) -> _File:
    """The source that ``options`` describe.

    Raises:
        BadInput: the path leaves ``checkpoints/``.
    """
    if Path(options.path).is_absolute() or ".." in Path(options.path).parts:
        raise BadInput(f"path must lie below checkpoints/, not {options.path!r}")
    return _File(options.path)
