"""The store of a study: SQLite in WAL mode, one row for every answered question and every verdict.

What was asked is keyed by its content (``call_key``), not by the condition's name: two conditions
that come to the same request share one answer, and a study that is started again repeats no
recorded call. A row is written in one transaction as soon as it is known, so a kill at any moment
loses at most the calls in flight. Failures are logged beside the answers and never stand for one:
the next run asks again.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reasoning.answer import Answer, Failure, FailureKind, OptionScore, Unscored, Verdict
from reasoning.database import Database

__all__ = ["Call", "Records", "call_key", "digest"]

SCHEMA = 1

_VERDICTS: Mapping[str, type[Verdict | Unscored]] = {"verdict": Verdict, "unscored": Unscored}
_HALF = re.compile("[\ud800-\udfff]")
"""Half a character, which a model's reply may hold and SQLite's text may not: it is written as the
escape that JSON has for it."""

_TABLES = """
CREATE TABLE IF NOT EXISTS answers (
    key TEXT PRIMARY KEY, question TEXT NOT NULL, video TEXT NOT NULL, cues TEXT NOT NULL,
    prompt TEXT NOT NULL, model TEXT NOT NULL, settings TEXT NOT NULL, repeat INTEGER NOT NULL,
    answer TEXT NOT NULL, seconds REAL NOT NULL, at REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS failures (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, failure TEXT NOT NULL, at REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS failures_by_key ON failures (key);
CREATE TABLE IF NOT EXISTS verdicts (
    key TEXT NOT NULL, judge TEXT NOT NULL, verdict TEXT NOT NULL, at REAL NOT NULL,
    PRIMARY KEY (key, judge)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS plan (
    condition TEXT NOT NULL, question TEXT NOT NULL, repeat INTEGER NOT NULL, key TEXT NOT NULL,
    facts TEXT NOT NULL, model TEXT NOT NULL, PRIMARY KEY (condition, question, repeat, model)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs (id INTEGER PRIMARY KEY, stamp TEXT NOT NULL, at REAL NOT NULL);
"""


def digest(*parts: Any) -> str:
    """sha256 in hexadecimal of JSON values; the order of keys in objects counts for nothing."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Call:
    """Everything that decides an answer.

    Args:
        question: the item's id, with its benchmark.
        video: sha256 of the file; empty when no video is used.
        cues: digest of the kept cues, as they stand in the prompt.
        prompt: digest of all that goes out, pictures and their times included.
        model: name and revision.
        settings: how it is asked: limits, temperature, seed, the family's own.
        repeat: from 0.
    """

    question: str
    video: str
    cues: str
    prompt: str
    model: str
    settings: Mapping[str, Any]
    repeat: int = 0


def call_key(call: Call) -> str:
    """The key under which the answer to ``call`` is kept."""
    return digest(dataclasses.astuple(call))


class Records:
    """A study's records in one file; several threads and processes may use it at once.

    Raises:
        BadInput: the file is no such store, one of another version, or damaged.
        StorageError: it cannot be written (disk full, read-only place).
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = Database(path, "study records", _TABLES, SCHEMA)

    def plan(
        self, condition: str, question: str, repeat: int, call: Call, facts: Mapping[str, Any]
    ) -> str:
        """Note which call answers a cell of the study (a question under a condition in a repeat,
        for each model), with what the reports want to know of it (category, cues, …); returns
        the call's key."""
        key = call_key(call)
        with self._file.writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO plan VALUES (?, ?, ?, ?, ?, ?)",
                (condition, question, repeat, key, _json(facts), call.model),
            )
        return key

    def unplan(self, cells: Iterable[tuple[str, str, int]], model: str | None = None) -> None:
        """Forget that these cells, ``(condition, question, repeat)``, are part of the study, for
        every model or one; what was answered stays."""
        with self._file.writing() as connection:
            connection.executemany(
                "DELETE FROM plan WHERE condition = ? AND question = ? AND repeat = ? "
                "AND model = coalesce(?, model)",
                [(*cell, model) for cell in cells],
            )

    def cells(self) -> list[tuple[str, str, int, str, dict[str, Any]]]:
        """``(condition, question, repeat, key, facts)`` of every planned cell."""
        rows = self._file.read("SELECT condition, question, repeat, key, facts FROM plan")
        with self._file.whole():
            return [(*row[:4], _object(row[4])) for row in rows]

    def keep(self, call: Call, reply: Answer | Failure, seconds: float) -> str:
        """Record what came back; a failure goes to the log and leaves the call open."""
        key, now = call_key(call), time.time()
        with self._file.writing() as connection:
            if isinstance(reply, Failure):
                connection.execute(
                    "INSERT INTO failures (key, failure, at) VALUES (?, ?, ?)",
                    (key, _json(dataclasses.asdict(reply)), now),
                )
            else:
                row = (key, call.question, call.video, call.cues, call.prompt, call.model)
                connection.execute(
                    "INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        *row,
                        _json(call.settings),
                        call.repeat,
                        _json(dataclasses.asdict(reply)),
                        seconds,
                        now,
                    ),
                )
        return key

    def answer(self, key: str) -> Answer | None:
        """The recorded answer to a call, None when it is still to be asked."""
        rows = self._file.read("SELECT answer FROM answers WHERE key = ?", key)
        with self._file.whole():
            return _answer(json.loads(rows[0][0])) if rows else None

    def seconds(self, key: str) -> float | None:
        """How long the recorded answer took, None where there is none."""
        rows = self._file.read("SELECT seconds FROM answers WHERE key = ?", key)
        return float(rows[0][0]) if rows else None

    def failure(self, key: str) -> Failure | None:
        """The latest failure of a call that has no answer."""
        if self.answer(key) is not None:
            return None
        rows = self._file.read("SELECT failure FROM failures WHERE key = ? ORDER BY id DESC", key)
        if not rows:
            return None
        with self._file.whole():
            fields = json.loads(rows[0][0])
            return Failure(**{**fields, "kind": FailureKind(fields["kind"])})

    def answered(self) -> frozenset[str]:
        """Keys of all calls that have an answer."""
        return frozenset(row[0] for row in self._file.read("SELECT key FROM answers"))

    def judge(self, key: str, judge: str, verdict: Verdict | Unscored, truth: str = "") -> None:
        """Record ``judge``'s verdict on the answer of a call, in place of an earlier one that held
        it against the same.

        Args:
            truth: digest of what it was held against (``Item.truth``); empty = not told.
        """
        kind = "verdict" if isinstance(verdict, Verdict) else "unscored"
        with self._file.writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?)",
                (_held(key, truth), judge, _json({kind: dataclasses.asdict(verdict)}), time.time()),
            )

    def verdict(self, key: str, judge: str, truth: str = "") -> Verdict | Unscored | None:
        """What ``judge`` said of the answer of a call when it held it against ``truth``; None when
        it was not asked that."""
        rows = self._file.read(
            "SELECT verdict FROM verdicts WHERE key = ? AND judge = ?", _held(key, truth), judge
        )
        if not rows:
            return None
        with self._file.whole():
            ((kind, fields),) = _object(rows[0][0]).items()
            return _VERDICTS[kind](**fields)

    def judges(self) -> tuple[str, ...]:
        """Names of all judges with a verdict, in the order of their names."""
        return tuple(
            row[0] for row in self._file.read("SELECT DISTINCT judge FROM verdicts ORDER BY 1")
        )

    def stamp(self, facts: Mapping[str, Any]) -> None:
        """Note with what the study is run: commit, packages, settings, checkpoints."""
        with self._file.writing() as connection:
            connection.execute(
                "INSERT INTO runs (stamp, at) VALUES (?, ?)", (_json(facts), time.time())
            )

    def stamps(self) -> list[dict[str, Any]]:
        """The stamps of all runs, oldest first."""
        rows = self._file.read("SELECT stamp FROM runs ORDER BY id")
        with self._file.whole():
            return [_object(row[0]) for row in rows]

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


def _held(key: str, truth: str) -> str:
    """Under what a verdict on the answer of a call is kept."""
    return f"{key} {truth}" if truth else key


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, default=_plain)
    return _HALF.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _object(text: str) -> dict[str, Any]:
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError(f"an object should stand there, not {value!r}")
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{value!r} cannot be recorded")


def _answer(fields: dict[str, Any]) -> Answer:
    scores = tuple(OptionScore(**score) for score in fields.pop("option_scores"))
    return Answer(**fields, option_scores=scores)
