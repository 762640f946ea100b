"""Calls held to so many requests and so many tokens a minute, as a server's contract has them."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from perception.errors import BadInput

__all__ = ["RateLimiter", "RateOptions", "Slot"]

WINDOW_S = 60.0


@dataclass(frozen=True, slots=True)
class RateOptions:
    """What a server allows; 0 = no limit.

    Args:
        requests_per_minute: tries, the repeated ones counted.
        tokens_per_minute: of prompts and replies together, counted before a call by the estimate
            and after it by what the server reports.
    """

    requests_per_minute: int = 0
    tokens_per_minute: int = 0

    def __post_init__(self) -> None:
        if min(self.requests_per_minute, self.tokens_per_minute) < 0:
            raise BadInput(
                f"A rate is 0 (no limit) or more a minute, not {self.requests_per_minute} requests "
                f"and {self.tokens_per_minute} tokens."
            )


@dataclass(slots=True)
class Slot:
    """One call that was let through: when, and how many tokens it counts for. Setting ``tokens``
    to what the server reports makes room for the next one, or takes it."""

    time_s: float
    tokens: int


class RateLimiter:
    """Lets calls through so that no sixty seconds hold more than the options allow. Threads take
    turns, in no promised order.

    Args:
        options: the limits.
        clock: seconds that never go back.
        sleep: waits for so many seconds.
    """

    def __init__(
        self,
        options: RateOptions,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._options, self._clock, self._sleep = options, clock, sleep
        self._turn = threading.Lock()
        self._sent: deque[Slot] = deque()

    def wait(self, tokens: int) -> Slot:
        """Return when a call of ``tokens`` may be made. One that alone is over the limit waits
        until nothing else counts: what to make of it is the server's to say."""
        with self._turn:
            while (pause_s := self._pause_s(tokens)) > 0:
                self._sleep(pause_s)
            slot = Slot(self._clock(), tokens)
            self._sent.append(slot)
        return slot

    def _pause_s(self, tokens: int) -> float:
        now_s = self._clock()
        while self._sent and self._sent[0].time_s + WINDOW_S <= now_s:
            self._sent.popleft()
        requests = self._options.requests_per_minute or math.inf
        room = self._options.tokens_per_minute or math.inf
        counted, used = len(self._sent), sum(slot.tokens for slot in self._sent)
        pause_s = 0.0
        for slot in self._sent:
            if counted < requests and used + tokens <= room:
                break
            counted, used = counted - 1, used - slot.tokens
            pause_s = slot.time_s + WINDOW_S - now_s
        return pause_s
