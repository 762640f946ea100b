"""What a call would send to another machine, so that somebody can agree to it before it is made."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Egress"]


@dataclass(frozen=True, slots=True)
class Egress:
    """What a call would send to another machine, known before it is made.

    Args:
        host: where to.
        frames: pictures of the video that would go there.
        tokens: of the whole prompt, estimated, pictures included.
        cost_usd: estimated for the prompt and the longest reply; None where no price is known.
    """

    host: str
    frames: int
    tokens: int
    cost_usd: float | None = None

    def sentence(self) -> str:
        """For a person who is asked to agree."""
        pictures = {0: "no pictures", 1: "1 picture"}.get(self.frames, f"{self.frames} pictures")
        cost = "at a price that is not known here"
        if self.cost_usd is not None:
            cost = f"for about ${self.cost_usd:.4f}"
        return (
            f"This sends {pictures} of the video and the prompt (about {self.tokens} tokens) to "
            f"{self.host}, {cost}."
        )
