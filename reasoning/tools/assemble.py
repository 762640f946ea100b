"""``Tools`` for fusion, as the config says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from fusion.policy import Similarity, Tools
from perception.errors import UnknownName
from perception.plugins import build, names, options_of
from reasoning.tools.calibration import calibrations
from reasoning.tools.question_type import question_type
from reasoning.videollm import VideoLLM

__all__ = ["SIMILARITIES", "ToolOptions", "assemble"]

SIMILARITIES = "reasoning.similarities"


@dataclass(frozen=True, slots=True)
class ToolOptions:
    """What fusion is handed.

    Args:
        similarity: how close a cue is to a question: a file in ``reasoning/similarities``.
        similarities: by name, its ``Options``.
        calibrated: whether scores become probabilities where a calibration is known.
        question_type: whether the type of a question that is not annotated is told from its words.
    """

    similarity: str = "bm25"
    similarities: Mapping[str, Any] = options_of(SIMILARITIES)
    calibrated: bool = True
    question_type: bool = True

    def __post_init__(self) -> None:
        if self.similarity not in (known := names(SIMILARITIES)):
            raise UnknownName("similarity", self.similarity, known)


def assemble(options: ToolOptions | None = None, model: VideoLLM | None = None) -> Tools:
    """The tools.

    Args:
        options: None = the defaults.
        model: whose tokens are counted; None = they are estimated.

    Raises:
        UserError: what the similarity says of its options.
    """
    options = options or ToolOptions()
    similarity: Similarity = build(SIMILARITIES, options.similarity, options.similarities)
    tools = Tools(
        similarity=similarity,
        question_type=question_type if options.question_type else None,
        calibration=calibrations() if options.calibrated else None,
    )
    return tools if model is None else replace(tools, count_tokens=model.count_tokens)
