"""Stretches of a file in which neither pictures nor sound are stored: a demuxer that finds its way
again behind damaged bytes says nothing of them."""

from __future__ import annotations

from collections import deque

__all__ = ["Holes"]

SHORTEST_S = 1.0
"""What is missing for less may be a rounding of the container or a pause of the recorder."""

PICTURES_AHEAD = 4096
"""Pictures that may lie ahead of the sound in the file and are remembered: two minutes of them."""


class Holes:
    """Feed it the packets' times as they come; pictures and sound may lie apart in the file.

    Sound that stops and goes on later is a hole where no picture begins in between. A file of one
    stream has none that could be told from a pause.
    """

    def __init__(self) -> None:
        self._sound_end_s: float | None = None
        self._pictures: deque[float] = deque(maxlen=PICTURES_AHEAD)
        self._gaps: list[tuple[float, float]] = []

    def see_picture(self, time_s: float) -> None:
        """A picture begins."""
        self._pictures.append(time_s)
        self._gaps = [gap for gap in self._gaps if not _lies_in(time_s, gap)]

    def see_sound(self, start_s: float, end_s: float) -> None:
        """A packet of sound."""
        before_s = self._sound_end_s
        if before_s is not None and start_s - before_s > SHORTEST_S:
            gap = (before_s, start_s)
            if not any(_lies_in(time_s, gap) for time_s in self._pictures):
                self._gaps.append(gap)
        self._sound_end_s = end_s if before_s is None else max(end_s, before_s)

    def found(self) -> tuple[tuple[float, float], ...]:
        """Start and end of each hole, in seconds; none where there were no pictures."""
        return tuple(self._gaps) if self._pictures else ()


def _lies_in(time_s: float, gap: tuple[float, float]) -> bool:
    margin_s = SHORTEST_S / 2
    return gap[0] + margin_s < time_s < gap[1] - margin_s
