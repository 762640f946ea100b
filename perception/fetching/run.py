"""One fetching run: downloads side by side, each once; files checked and written whole."""

from __future__ import annotations

import concurrent.futures
import contextlib
import hashlib
import shutil
import tempfile
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path

from perception.errors import StorageError, WeightsError
from perception.fetching.manifest import Wanted
from perception.fetching.source import Download, OnProgress, Source, SourceFailed
from perception.whole import whole_file

__all__ = ["fetch_files"]

_PARALLEL_DOWNLOADS = 4
"""Measured by ``cuelight checkpoints fetch`` with a cold cache on 2 cores: more gain nothing."""

_SCRATCH = ".fetching-"

_LARGEST_UNKNOWN_BYTES = 4 << 30
"""Where a file's size is not published: no checkpoint that is used here is larger."""


def fetch_files(wanted: Sequence[Wanted], folder: Path, on_progress: OnProgress) -> None:
    """Bring every wanted file to its target; the caller holds the lock of ``folder``.

    Args:
        wanted: what to fetch.
        folder: exists and can be written; scratch is kept here while the run lasts.
        on_progress: told about received bytes.

    Raises:
        WeightsError: no source worked for a file; the others are in place.
        StorageError: the disk is full or read-only.
    """
    for left_over in folder.glob(f"{_SCRATCH}*"):
        shutil.rmtree(left_over, ignore_errors=True)
    needed = sum(item.file.size for item in wanted)
    if (free := shutil.disk_usage(folder).free) < needed:
        raise StorageError(
            f"The weights need {needed / 1e6:.0f} MB in {str(folder)!r}, where {free / 1e6:.0f} MB "
            "are free. Free some space, or set CUELIGHT_CACHE to another folder."
        )
    reasons: dict[Wanted, list[str]] = {item: [] for item in wanted}
    with _scratch(folder) as scratch:
        pending = list(wanted)
        for attempt in range(max((len(item.file.sources) for item in wanted), default=0)):
            tried = {
                item: item.file.sources[attempt]
                for item in pending
                if attempt < len(item.file.sources)
            }
            failures = _attempt(tried, scratch, on_progress)
            for item, reason in failures.items():
                reasons[item].append(f"{tried[item].where}: {reason}")
            pending = [item for item in pending if item in failures or item not in tried]
            if not pending:
                break
    if pending:
        raise WeightsError(_report(pending, reasons))


@contextlib.contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    try:
        scratch = Path(tempfile.mkdtemp(prefix=_SCRATCH, dir=folder))
    except OSError as error:
        raise StorageError(f"Cannot write into {str(folder)!r}: {error.strerror}.") from error
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _attempt(
    tried: Mapping[Wanted, Source], scratch: Path, on_progress: OnProgress
) -> dict[Wanted, str]:
    """Try one source for each file; the files that could not be had, and why."""
    failures: dict[Wanted, str] = {}
    waiting = dict(tried)
    done: dict[Download, Path] = {}
    downloads = dict.fromkeys(one for source in tried.values() for one in source.downloads)
    with contextlib.closing(_outcomes(list(downloads), scratch, on_progress)) as outcomes:
        for download, outcome in outcomes:
            if download is not None and not isinstance(outcome, SourceFailed):
                done[download] = outcome
            for item, source in list(waiting.items()):
                try:
                    if download in source.downloads and isinstance(outcome, SourceFailed):
                        raise outcome
                    if all(each in done for each in source.downloads):
                        del waiting[item]
                        _assemble(item, source.chunks([done[each] for each in source.downloads]))
                except SourceFailed as failure:
                    waiting.pop(item, None)
                    failures[item] = str(failure)
            needed = {each for source in waiting.values() for each in source.downloads}
            for finished in done.keys() - needed:
                shutil.rmtree(done[finished], ignore_errors=True)
    return failures


def _outcomes(
    downloads: Sequence[Download], scratch: Path, on_progress: OnProgress
) -> Generator[tuple[Download | None, Path | SourceFailed], None, None]:
    """First None for the files that need no download, then each download as it ends."""
    yield None, scratch
    tell = threading.Lock()
    stop = threading.Event()

    def run(download: Download) -> Path | SourceFailed:
        last = (-1, 0)

        def report(received: int, total: int) -> None:
            nonlocal last
            if (received, total) != last:
                last = (received, total)
                with tell:
                    on_progress(download.label, received, total)

        report(0, download.size)
        try:
            folder = Path(tempfile.mkdtemp(dir=scratch))
            download.run(folder, report, stop)
        except SourceFailed as failure:
            return failure
        except OSError as error:
            raise StorageError(
                f"Cannot download {download.label} into {str(scratch.parent)!r}: "
                f"{error.strerror or error}."
            ) from error
        if download.size:
            report(download.size, download.size)
        return folder

    with concurrent.futures.ThreadPoolExecutor(_PARALLEL_DOWNLOADS) as pool:
        futures = {pool.submit(run, download): download for download in downloads}
        try:
            for future in concurrent.futures.as_completed(futures):
                yield futures[future], future.result()
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _assemble(item: Wanted, chunks: Iterator[bytes]) -> None:
    """Write the file, whole and with its sha256, or not at all."""
    digest = hashlib.sha256()
    size, limit = 0, item.file.size or _LARGEST_UNKNOWN_BYTES
    with whole_file(item.target) as target:
        for chunk in chunks:
            size += len(chunk)
            if size > limit:
                break
            digest.update(chunk)
            target.write(chunk)
        if size > limit or not item.file.has_content(digest.hexdigest(), size):
            expected = f"{item.file.size} bytes with " if item.file.size else ""
            raise SourceFailed(
                f"it holds {'more than ' if size > limit else ''}{size} bytes with the "
                f"sha256 {digest.hexdigest()[:12]}…, not {expected}{item.file.sha256[:12]}…"
            )


def _report(pending: Sequence[Wanted], reasons: Mapping[Wanted, Sequence[str]]) -> str:
    """One paragraph for each checkpoint: what lacks, what was tried, what to do by hand."""
    lines = []
    names = list(dict.fromkeys(item.checkpoint for item in pending))
    for name in names:
        items = [item for item in pending if item.checkpoint == name]
        files = ", ".join(item.file.name for item in items)
        lines.append(f"Cannot get the checkpoint {name!r} ({files}). Tried:")
        tried = dict.fromkeys(reason for item in items for reason in reasons[item])
        lines += [f"  - {reason}" for reason in tried]
        folder = items[0].target.parent
        lines.append(f"  By hand: cuelight checkpoints add FILE, or put {files} into {folder}")
    lines.append(f"Then check with: cuelight checkpoints verify {' '.join(names)}")
    return "\n".join(lines)
