"""A file of a Hugging Face repository at a pinned revision."""

from __future__ import annotations

import concurrent.futures
import errno
import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from perception.errors import BadInput, MissingExtra, StorageError
from perception.fetching.source import CHUNK_BYTES, Download, Report, SourceFailed

__all__ = ["Options", "build"]

_POLL_S = 0.2


@dataclass(frozen=True, slots=True)
class Options:
    """Keys of a source of the kind ``huggingface``.

    Args:
        repository: ``owner/name``.
        revision: the commit, 40 hex digits.
        filename: path inside the repository.
    """

    repository: str
    revision: str
    filename: str


@dataclass(frozen=True, slots=True)
class _HubFile:
    repository: str
    revision: str
    filename: str

    @property
    def label(self) -> str:
        return f"{self.filename} ({self.repository})"

    @property
    def size(self) -> int:
        return 0

    def run(self, folder: Path, report: Report, stop: threading.Event) -> None:
        try:
            import huggingface_hub
        except ImportError:
            raise SourceFailed(
                str(MissingExtra("huggingface_hub", "huggingface", "Hugging Face")).rstrip(".")
            ) from None
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            future = pool.submit(
                huggingface_hub.hf_hub_download,
                self.repository,
                self.filename,
                revision=self.revision,
                local_dir=folder,
            )
            while not future.done() and not stop.is_set():
                concurrent.futures.wait([future], timeout=_POLL_S)
                report(sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()))
            try:
                future.result()
            except (HfHubHTTPError, LocalEntryNotFoundError, ValueError) as error:
                raise SourceFailed(_first_line(error)) from error
            except OSError as error:
                if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES):
                    raise StorageError(
                        f"Cannot write {str(folder)!r}: {error.strerror}."
                    ) from error
                raise SourceFailed(_first_line(error)) from error


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].rstrip(".")


@dataclass(frozen=True, slots=True)
class _Hub:
    file: _HubFile

    @property
    def where(self) -> str:
        return f"Hugging Face {self.file.repository} {self.file.filename}"

    @property
    def downloads(self) -> tuple[Download, ...]:
        return (self.file,)

    @property
    def in_place(self) -> Path | None:
        return None

    def chunks(self, folders: Sequence[Path]) -> Iterator[bytes]:
        with (folders[0] / self.file.filename).open("rb") as file:
            while chunk := file.read(CHUNK_BYTES):
                yield chunk


def build(options: Options) -> _Hub:
    """The source that ``options`` describe.

    Raises:
        BadInput: the revision is not a commit.
    """
    if not re.fullmatch(r"[0-9a-f]{40}", options.revision):
        raise BadInput(f"revision must be a commit of 40 hex digits, not {options.revision!r}")
    return _Hub(_HubFile(options.repository, options.revision, options.filename))
