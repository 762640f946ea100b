"""What a call would send to another machine, so that somebody can agree to it before it is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

__all__ = ["Egress", "total_of"]


@dataclass(frozen=True, slots=True)
class Egress:
    """What a call would send to another machine, known before it is made.

    Args:
        host: where to.
        frames: pictures of the video that would go there, or be looked at there.
        tokens: of the whole prompt, estimated, pictures included.
        cost_usd: estimated for the prompt and the longest reply; None where no price is known.
        whole_file: the video file itself goes there.
        sound: its sound goes with it.
    """

    host: str
    frames: int
    tokens: int
    cost_usd: float | None = None
    whole_file: bool = False
    sound: bool = False

    def sentence(self) -> str:
        """For a person who is asked to agree."""
        what = {0: "no pictures", 1: "1 picture"}.get(self.frames, f"{self.frames} pictures")
        what += " of the video"
        if self.whole_file:
            sound = "with its sound" if self.sound else "without its sound"
            what = f"the whole video file {sound} ({what} are looked at)"
        cost = "at a price that is not known here"
        if self.cost_usd is not None:
            cost = f"for about ${self.cost_usd:.4f}"
        return (
            f"This sends {what} and the prompt (about {self.tokens} tokens) to {self.host}, {cost}."
        )


def total_of(sent: Sequence[Egress]) -> Egress:
    """One or more calls together; no cost where that of one is not known."""
    costs = [each.cost_usd for each in sent if each.cost_usd is not None]
    return replace(
        sent[0],
        frames=sum(each.frames for each in sent),
        tokens=sum(each.tokens for each in sent),
        cost_usd=sum(costs) if len(costs) == len(sent) else None,
        whole_file=any(each.whole_file for each in sent),
        sound=any(each.sound for each in sent),
    )
