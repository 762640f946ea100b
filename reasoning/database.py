"""A file of SQLite in WAL mode: transactions that stand whole or not at all, and its errors in
words. Several threads and processes may use one at once."""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from perception.errors import BadInput, StorageError

__all__ = ["IN_MEMORY", "Database"]

IN_MEMORY = ":memory:"
"""A path that is no file: what is written is gone when it is closed."""

_BUSY_S = 60.0
"""How long a second process waits for the first one's transaction."""

_DAMAGE = ("malformed", "Could not decode")
"""In what SQLite says of a file that is no longer as it was written."""


_NAMES = re.compile(r"CREATE TABLE IF NOT EXISTS (\w+)")


class Database:
    """One file of tables, made where there is none.

    Where nothing can be written, what is there can still be read.

    Args:
        path: of the file.
        kind: what it is, in words.
        tables: SQL that makes them where they are missing.
        schema: version of the tables, which stands in the table ``about``.

    Raises:
        BadInput: the file is none of this kind, of another version, or damaged.
        StorageError: it cannot be made (disk full, read-only place).
    """

    def __init__(self, path: Path, kind: str, tables: str, schema: int) -> None:
        if path.is_dir():
            raise BadInput(
                f"{str(path)!r} is a folder; the records are one file, "
                f"e.g. {str(path / 'study.sqlite')!r}."
            )
        self.path, self._kind = path, kind
        place = path if str(path) == IN_MEMORY else path.resolve()
        self._names = {"about", *_NAMES.findall(tables)}
        self._lock = threading.Lock()
        with self._spoken():
            is_fixed = _is_fixed(place)
            self._connection = _connected(place, is_fixed)
            try:
                self._check(schema, must_be=is_fixed)
                self._identity = _identity(path)
                if not is_fixed:
                    self._prepare(tables, schema)
            except BaseException:
                self._connection.close()
                raise

    def read(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        with self._lock, self._spoken():
            return self._connection.execute(query, values).fetchall()

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it stands, or nothing.

        Raises:
            StorageError: it could not be written, or the file is no longer there.
        """
        with self._lock, self._spoken():
            if _identity(self.path) != self._identity:
                raise StorageError(
                    f"The records {str(self.path)!r} were moved, removed or replaced while they "
                    "were written to. Put them back, then run the same command."
                )
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def whole(self) -> Iterator[None]:
        """What was written reads as it was written, or the file is damaged.

        Raises:
            BadInput: it does not read.
        """
        try:
            yield
        except (ValueError, KeyError, TypeError) as error:
            raise self._damaged(f"a row does not read: {error}") from error

    def close(self) -> None:
        """Fold the write-ahead log into the file and let go of it."""
        with self._lock, contextlib.suppress(sqlite3.Error):
            self._connection.close()

    def _check(self, schema: int, must_be: bool) -> None:
        """See that what is there may be used."""
        columns = [row[1] for row in self.read("PRAGMA table_info(about)")]
        for (found,) in self.read("SELECT schema FROM about") if columns == ["schema"] else ():
            if found != schema:
                raise BadInput(
                    f"{str(self.path)!r} has version {found} of {self._kind}; this Cuelight reads "
                    f"version {schema}. Give the study another file."
                )
        named = self.read("SELECT name FROM sqlite_master WHERE type = 'table'")
        tables = {name for (name,) in named}
        if not self._names <= tables and (tables or must_be):
            holds = ", ".join(sorted(tables - self._names or tables)[:3]) or "no table"
            raise BadInput(
                f"{str(self.path)!r} is not a file of {self._kind}: it is a database with {holds}. "
                "Give the study another file."
            )

    def _prepare(self, tables: str, schema: int) -> None:
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=FULL")
        with self.writing() as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS about (schema INTEGER NOT NULL)")
            for statement in tables.split(";"):
                connection.execute(statement)
            connection.execute(
                "INSERT INTO about SELECT ? WHERE NOT EXISTS (SELECT * FROM about)", (schema,)
            )

    @contextlib.contextmanager
    def _spoken(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            if any(words in str(error) for words in _DAMAGE):
                raise self._damaged(str(error).partition(" with text")[0]) from error
            if isinstance(error, sqlite3.OperationalError):
                raise StorageError(
                    f"The records {str(self.path)!r} cannot be written ({error}). What was recorded"
                    " stands; free space or make the place writable, then run the same command."
                ) from error
            raise BadInput(
                f"{str(self.path)!r} is not a file of {self._kind} ({error})."
            ) from error
        except UnicodeDecodeError as error:
            raise self._damaged(str(error)) from error
        except UnicodeEncodeError as error:
            raise BadInput(
                f"{error.object!r} cannot be put on record: it holds half a character."
            ) from error
        except OSError as error:
            raise StorageError(f"Cannot make {str(self.path)!r}: {error.strerror}.") from error

    def _damaged(self, reason: str) -> BadInput:
        return BadInput(
            f"The records {str(self.path)!r} are damaged ({reason}). Take a copy from before, or "
            "what sqlite3's command .recover saves of them; or begin anew with another file."
        )


def _identity(path: Path) -> tuple[int, int] | None:
    """Of the file at a path, None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _is_fixed(path: Path) -> bool:
    """Whether the file is there and nothing can be written to it or beside it."""
    return path.is_file() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))


def _connected(path: Path, is_fixed: bool) -> sqlite3.Connection:
    """To the file; where nothing can be written only to read, with the write-ahead log that lies
    beside it, if any."""
    address = str(path)
    if is_fixed:
        log = path.with_name(f"{path.name}-wal")
        how = "mode=ro" if log.is_file() and log.stat().st_size else "immutable=1"
        address = f"{path.as_uri()}?{how}"
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
    return sqlite3.connect(
        address, timeout=_BUSY_S, isolation_level=None, check_same_thread=False, uri=is_fixed
    )
