"""Finished tracks, keyed by content: video bytes, span, recognizer, checkpoint and settings.

A second run over the same video therefore loads no model. File names never enter the key, and a
file appears whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from perception import traces
from perception.cue import CueTimeline, Source, Span, VideoInfo
from perception.errors import CuelightError, StorageError
from perception.recognizer import Recognition
from perception.weights import cache_folder
from perception.whole import write_whole

__all__ = ["LEFTOVER_S", "TrackCache", "Usage", "track_key"]

LEFTOVER_S = 3600.0
"""No process takes so long to finish one file; what is half there for longer was left by a dead
one."""


def track_key(video_sha256: str, span: Span | None, kind: str, source: Source) -> str:
    """Hex key of one recognizer's track of one video (or of ``span`` of it)."""
    content = [
        video_sha256,
        [span.start_s, span.end_s] if span else None,
        kind,
        [source.name, source.version, source.checkpoint_sha256, dict(source.settings)],
    ]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Usage:
    """What the cache holds."""

    tracks: int
    bytes: int


class TrackCache:
    """A folder of ``KEY.json`` (a timeline of one track) and ``KEY.npz`` (its traces)."""

    def __init__(self, folder: Path | None = None) -> None:
        """Use ``folder``, else ``tracks`` in Cuelight's cache folder; made on the first write."""
        self.folder = folder or cache_folder() / "tracks"

    def load(self, key: str) -> Recognition | None:
        """The stored recognition, or None; an unreadable entry counts as absent."""
        path = self.folder / f"{key}.json"
        if not path.is_file():
            return None
        try:
            timeline = CueTimeline.read(path)
            arrays = traces.load(path.with_suffix(".npz"))
        except CuelightError:
            return None
        if len(timeline.tracks) != 1:
            return None
        return Recognition(timeline.tracks[0], arrays)

    def store(self, key: str, video: VideoInfo, recognition: Recognition) -> None:
        """Store under ``key``; the JSON is written last, so that it vouches for the traces.

        Raises:
            StorageError: the folder cannot be written.
        """
        path = self.folder / f"{key}.json"
        traces.save(path.with_suffix(".npz"), recognition.traces)
        write_whole(path, CueTimeline(video, (recognition.track,)).to_json().encode())

    def usage(self) -> Usage:
        """Number of tracks and bytes in all."""
        entries = list(self._entries())
        return Usage(len(entries), sum(size for _, size, _ in entries))

    def prune(self, older_than_s: float = 0.0) -> Usage:
        """Remove tracks last written ``older_than_s`` seconds ago or longer; 0 = all of them.

        What a killed process left behind an hour ago or earlier goes too.

        Raises:
            StorageError: the folder cannot be written.
        """
        now = time.time()
        removed = freed = 0
        try:
            for path, size, written in list(self._entries()):
                if now - written >= older_than_s:
                    for file in (path, path.with_suffix(".npz")):
                        file.unlink(missing_ok=True)
                    removed += 1
                    freed += size
            for path in list(self._leftovers(now - LEFTOVER_S)):
                path.unlink(missing_ok=True)
        except OSError as error:
            raise StorageError(
                f"Cannot remove tracks from {str(self.folder)!r}: {error.strerror or error}."
            ) from None
        return Usage(removed, freed)

    def _entries(self) -> Iterator[tuple[Path, int, float]]:
        for path, status in self._files("*.json"):
            beside = path.with_suffix(".npz")
            extra = beside.stat().st_size if beside.is_file() else 0
            yield path, status.st_size + extra, status.st_mtime

    def _leftovers(self, before: float) -> Iterator[Path]:
        """Traces that no JSON vouches for, and files that were never finished."""
        for pattern in ("*.npz", ".cuelight-*"):
            for path, status in self._files(pattern):
                if status.st_mtime < before and not path.with_suffix(".json").exists():
                    yield path

    def _files(self, pattern: str) -> Iterator[tuple[Path, os.stat_result]]:
        """Files by name; one that another process removes meanwhile is passed over."""
        for path in sorted(self.folder.glob(pattern)) if self.folder.is_dir() else ():
            with suppress(FileNotFoundError):
                yield path, path.stat()
