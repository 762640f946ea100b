"""A plain web address, resumed where a connection breaks off; also a member of a zip there."""

from __future__ import annotations

import http.client
import threading
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from perception.errors import BadInput
from perception.fetching.source import CHUNK_BYTES, Download, Report, SourceFailed
from perception.whole import whole_file

__all__ = ["Address", "Options", "body_of", "build"]

_TIMEOUT_S = 30.0
"""Silence after which a connection counts as broken."""

_ATTEMPTS = 4
"""Connections tried for one file; each goes on where the last one broke off."""

_BODY = "body"


@dataclass(frozen=True, slots=True)
class Options:
    """Keys of a source of the kind ``https``.

    Args:
        url: ``https://``, or ``http://`` on the loopback address (a mirror on this machine).
        member: path inside, where a zip lies at the address; empty = the file itself.
    """

    url: str
    member: str = ""


@dataclass(frozen=True, slots=True)
class Address:
    """Downloads one web address.

    Args:
        url: the address.
        headers: sent to its server, and to none that it redirects to.
    """

    url: str
    headers: tuple[tuple[str, str], ...] = (("User-Agent", "cuelight"),)

    @property
    def label(self) -> str:
        """The file name at the address."""
        return self.url.partition("?")[0].rpartition("/")[2] or self.url

    @property
    def size(self) -> int:
        """Not known before."""
        return 0

    def run(self, folder: Path, report: Report, stop: threading.Event) -> None:
        """Fetch into ``folder``.

        Raises:
            SourceFailed: no connection, or the server refuses.
            StorageError: the folder cannot be written.
        """
        with whole_file(folder / _BODY) as file:
            for attempt in range(_ATTEMPTS):
                try:
                    self._receive(file, report, stop)
                    return
                except urllib.error.HTTPError as error:
                    with error:
                        why = f"the server answers {error.code} {error.reason}"
                    raise SourceFailed(why) from error
                except (urllib.error.URLError, http.client.HTTPException, TimeoutError) as error:
                    if attempt == _ATTEMPTS - 1 or not file.tell():
                        reason = getattr(error, "reason", error)
                        raise SourceFailed(f"no connection ({reason})") from error

    def _receive(self, file: BinaryIO, report: Report, stop: threading.Event) -> None:
        start = file.tell()
        request = urllib.request.Request(self.url)  # noqa: S310
        for name, value in self.headers:
            request.add_unredirected_header(name, value)
        if start:
            request.add_header("Range", f"bytes={start}-")
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as response:  # noqa: S310
            if start and response.status != http.HTTPStatus.PARTIAL_CONTENT:
                file.seek(0)
                file.truncate()
            total = file.tell() + (response.length or 0)
            while chunk := response.read(CHUNK_BYTES):
                file.write(chunk)
                report(file.tell(), total if response.length is not None else 0)
                if stop.is_set():
                    raise SourceFailed("stopped")
            if file.tell() < total:
                raise http.client.IncompleteRead(b"", total - file.tell())


@dataclass(frozen=True, slots=True)
class _Web:
    address: Address
    member: str

    @property
    def where(self) -> str:
        return self.address.url

    @property
    def downloads(self) -> tuple[Download, ...]:
        return (self.address,)

    @property
    def in_place(self) -> Path | None:
        return None

    def chunks(self, folders: Sequence[Path]) -> Iterator[bytes]:
        return _member_of(folders[0], self.member) if self.member else body_of(folders[0])


def _member_of(folder: Path, member: str) -> Iterator[bytes]:
    """A member of the zip that ``Address.run`` left in ``folder``."""
    try:
        with zipfile.ZipFile(folder / _BODY) as archive, archive.open(member) as file:
            while chunk := file.read(CHUNK_BYTES):
                yield chunk
    except (KeyError, zipfile.BadZipFile) as error:
        raise SourceFailed(f"it is no zip that holds {member!r}") from error


def body_of(folder: Path) -> Iterator[bytes]:
    """What ``Address.run`` left in ``folder``."""
    with (folder / _BODY).open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk


def build(options: Options) -> _Web:
    """The source that ``options`` describe.

    Raises:
        BadInput: the address is neither https nor on this machine.
    """
    if not options.url.startswith(("https://", "http://127.0.0.1:", "http://localhost:")):
        raise BadInput(f"url must begin with https://, not {options.url!r}")
    return _Web(Address(options.url), options.member)
