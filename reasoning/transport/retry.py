"""Trying again: which failures pass, and waiting between tries, exponential, bounded, and as long
as the server asks for."""

from __future__ import annotations

import logging
import math
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from perception.errors import BadInput
from reasoning.answer import FailureKind

__all__ = ["BAD_REQUEST", "NotAnswered", "RetryOptions", "asked_for_s", "pause_s", "persevere"]

T = TypeVar("T")

_LOG = logging.getLogger(__name__)

_BUSY = frozenset({408, 409, 425, 429})
SERVER_ERROR = 500
BAD_REQUEST = frozenset({400, 422})


@dataclass(frozen=True, slots=True)
class RetryOptions:
    """How often a call that failed for the moment is tried again.

    Args:
        tries: in all, the first one counted.
        first_pause_s: before the second try; doubles with every further one. Up to a quarter is
            added at random, so that parallel runs do not come back together.
        longest_pause_s: no pause is longer. A server that asks for more gets no further try.
    """

    tries: int = 4
    first_pause_s: float = 1.0
    longest_pause_s: float = 60.0

    def __post_init__(self) -> None:
        if self.tries < 1 or not 0 <= self.first_pause_s <= self.longest_pause_s:
            raise BadInput(
                f"A retry needs at least one try and 0 <= first_pause_s <= longest_pause_s, not "
                f"{self.tries} tries, {self.first_pause_s} s and {self.longest_pause_s} s."
            )


@dataclass(frozen=True, slots=True)
class NotAnswered:
    """A server gave no reply that can be used.

    Args:
        reason: for a person, without a full stop at its end.
        status: of the last HTTP reply; 0 when there was none.
        final: trying again is known to be of no use.
        asked_s: how long the server asked to be left alone.
        tries: made in all.
    """

    kind: FailureKind
    reason: str
    status: int = 0
    final: bool = False
    asked_s: float | None = None
    tries: int = 1

    @property
    def may_pass(self) -> bool:
        """Whether the same call may succeed later: no reply, too busy, or an error of the server's
        own (RFC 9110, section 15)."""
        if self.final or self.kind is not FailureKind.UNAVAILABLE:
            return False
        return self.status == 0 or self.status in _BUSY or self.status >= SERVER_ERROR

    def sentence(self) -> str:
        """The reason with the number of tries."""
        tries = f" (after {self.tries} tries)" if self.tries > 1 else ""
        return f"{self.reason}{tries}."


def persevere(options: RetryOptions, attempt: Callable[[], T | NotAnswered]) -> T | NotAnswered:
    """What ``attempt`` returns, tried again after a pause while its failure may pass.

    Each failure that is followed by another try is logged as information.
    """
    tries = 0
    while True:
        tries += 1
        outcome = attempt()
        if not isinstance(outcome, NotAnswered):
            return outcome
        outcome = replace(outcome, tries=tries)
        wait_s = pause_s(options, tries, outcome.asked_s) if outcome.may_pass else None
        if wait_s is None:
            return outcome
        _LOG.info(
            "%s; trying again in %.1f s (try %d of %d).",
            outcome.reason,
            wait_s,
            tries + 1,
            options.tries,
        )
        time.sleep(wait_s)


def pause_s(options: RetryOptions, failed_tries: int, asked_s: float | None) -> float | None:
    """Seconds to wait after ``failed_tries`` failures; None = give up.

    Args:
        asked_s: what the server asked for, which is a minimum.
    """
    if failed_tries >= options.tries:
        return None
    if asked_s is not None and asked_s > options.longest_pause_s:
        return None
    doubled = options.first_pause_s * 2.0 ** (failed_tries - 1)
    jitter = 1 + secrets.randbelow(1000) / 4000
    return max(min(doubled * jitter, options.longest_pause_s), asked_s or 0.0)


def asked_for_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that a reply asks to wait: ``Retry-After-Ms``, or ``Retry-After`` as a number or as
    a date (RFC 9110, section 10.2.3); None where it says nothing usable."""
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) * unit_s
        except ValueError:
            seconds = _until(value)
        if math.isfinite(seconds):
            return max(0.0, seconds)
    return None


def _until(date: str) -> float:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return math.nan
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - datetime.now(UTC)).total_seconds()
