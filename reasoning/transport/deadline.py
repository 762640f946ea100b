"""A call that is waited for until its time is up, whatever it is doing."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import TypeVar

__all__ = ["within"]

T = TypeVar("T")


def within(seconds: float, call: Callable[[], T]) -> T:
    """What ``call`` returns or raises; it runs in a thread of its own.

    A call whose time is up is left behind: end what it waits for (its connection), so that the
    thread ends too. It never keeps the process from ending.

    Raises:
        TimeoutError: the time was up first.
    """
    outcomes: queue.SimpleQueue[tuple[T, None] | tuple[None, BaseException]] = queue.SimpleQueue()

    def run() -> None:
        try:
            outcomes.put((call(), None))
        except BaseException as error:
            outcomes.put((None, error))

    threading.Thread(target=run, name="within", daemon=True).start()
    try:
        outcome = outcomes.get(timeout=seconds)
    except queue.Empty:
        raise TimeoutError(f"not done within {seconds:g} s") from None
    if outcome[1] is not None:
        raise outcome[1]
    return outcome[0]
