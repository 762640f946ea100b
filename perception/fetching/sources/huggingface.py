"""A file of a Hugging Face repository at a pinned revision.

``huggingface_hub`` says where the file is and under whose name we ask (``HF_ENDPOINT``, the token
that was logged in with, ``HF_HUB_OFFLINE``); the bytes come as in ``https``.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from perception.errors import BadInput, MissingExtra
from perception.fetching.source import Download, Report, SourceFailed
from perception.fetching.sources.https import Address, body_of

__all__ = ["Options", "build"]


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
        return f"{self.filename} of {self.repository}"

    @property
    def size(self) -> int:
        return 0

    def run(self, folder: Path, report: Report, stop: threading.Event) -> None:
        try:
            from huggingface_hub import constants, hf_hub_url
            from huggingface_hub.utils import build_hf_headers
        except ImportError:
            missing = MissingExtra("huggingface_hub", "huggingface", "This source")
            raise SourceFailed(str(missing)) from None
        if constants.HF_HUB_OFFLINE:
            raise SourceFailed("HF_HUB_OFFLINE is set")
        url = hf_hub_url(self.repository, self.filename, revision=self.revision)
        headers = build_hf_headers(library_name="cuelight")
        Address(url, tuple(headers.items())).run(folder, report, stop)


@dataclass(frozen=True, slots=True)
class _Hub:
    file: _HubFile

    @property
    def where(self) -> str:
        return f"Hugging Face {self.file.repository}"

    @property
    def downloads(self) -> tuple[Download, ...]:
        return (self.file,)

    @property
    def in_place(self) -> Path | None:
        return None

    def chunks(self, folders: Sequence[Path]) -> Iterator[bytes]:
        return body_of(folders[0])


def build(options: Options) -> _Hub:
    """The source that ``options`` describe.

    Raises:
        BadInput: the revision is not a commit.
    """
    if not re.fullmatch(r"[0-9a-f]{40}", options.revision):
        raise BadInput(f"revision must be a commit of 40 hex digits, not {options.revision!r}")
    return _Hub(_HubFile(options.repository, options.revision, options.filename))
