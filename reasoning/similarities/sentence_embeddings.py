"""Closeness in meaning: cosines of sentence embeddings (Reimers and Gurevych 2019), which
sentence-transformers makes with all-MiniLM-L6-v2 or any model that it loads from a folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from fusion.policy import Similarity
from perception.errors import BadInput, MissingExtra

__all__ = ["Options", "build"]

_DEFAULT = "all_minilm_l6_v2"


@dataclass(frozen=True, slots=True)
class Options:
    """Which model.

    Args:
        model: a name in the manifest of checkpoints, or the path of a sentence-transformers folder.
        device: as torch names it, e.g. ``cpu``, ``cuda``.
        batch: texts that go through the network together.
    """

    model: str = _DEFAULT
    device: str = "cpu"
    batch: int = 32

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise BadInput(f"The sentence embeddings' batch is 1 or more, not {self.batch}.")


def build(options: Options) -> Similarity:
    """The similarity; the model is loaded by the first call, which raises where it cannot be.

    Raises:
        BadInput: ``options.model`` is neither in the manifest nor a folder.
        MissingExtra: sentence-transformers is not installed.
    """
    folder = Path(options.model).expanduser()
    if not folder.is_dir():
        from perception import weights

        if options.model not in weights.checkpoints():
            raise BadInput(
                f"There is no sentence embedding model {options.model!r}; give {_DEFAULT!r} or "
                "the path of a folder that sentence-transformers has saved."
            )

    @lru_cache(maxsize=1)
    def model() -> Any:
        return _load(options, folder)

    def similarity(question: str, texts: Sequence[str]) -> list[float]:
        if not texts:
            return []
        vectors = model().encode(
            [question, *texts],
            batch_size=options.batch,
            normalize_embeddings=True,
            show_progress_bar=False,
        )
        return [float(each) for each in vectors[1:] @ vectors[0]]

    return similarity


def _load(options: Options, folder: Path) -> Any:
    """A folder of sentence-transformers as it stands; the manifest's files are the transformer
    alone, whose tokens are averaged."""
    try:
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    except ImportError as error:
        raise MissingExtra(
            "sentence-transformers", "embeddings", "Closeness by sentence embeddings"
        ) from error
    if folder.is_dir():
        return SentenceTransformer(str(folder), device=options.device)
    from perception import weights

    transformer = Transformer(str(weights.path(options.model)), max_seq_length=256)
    pooling = Pooling(transformer.get_embedding_dimension(), "mean")
    return SentenceTransformer(modules=[transformer, pooling], device=options.device)
