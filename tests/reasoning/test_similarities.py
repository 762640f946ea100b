"""Every similarity is closer to what speaks of the question."""

from __future__ import annotations

import importlib.util
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusion.policy import Similarity
from perception import plugins
from perception.errors import BadInput, MissingExtra
from reasoning.similarities import bm25, sentence_embeddings
from reasoning.tools.assemble import SIMILARITIES

HAS_EXTRA = importlib.util.find_spec("sentence_transformers") is not None
needs_extra = pytest.mark.skipif(not HAS_EXTRA, reason="needs the extra 'embeddings'")

NAMES = [
    pytest.param(name, marks=[needs_extra, pytest.mark.weights] if "embeddings" in name else [])
    for name in plugins.names(SIMILARITIES)
]


def built(name: str) -> Similarity:
    similarity: Similarity = plugins.build(SIMILARITIES, name, {})
    return similarity


@pytest.mark.parametrize("name", NAMES)
def test_what_speaks_of_the_question_is_closest(name: str) -> None:
    texts = ["she plays a guitar", "a dog runs", "somebody opens a door"]
    similarity = built(name)
    for question, best in (("What guitar is played?", 0), ("Which door is opened?", 2)):
        scores = list(similarity(question, texts))
        assert scores.index(max(scores)) == best
    assert list(similarity("What?", [])) == []
    assert list(similarity("What guitar?", texts)) == list(similarity("What guitar?", texts))


def test_bm25_by_hand() -> None:
    """Two texts of lengths 1 and 3 (mean 2); "dog" stands in one of them: idf ln(1 + 1.5 / 1.5)."""
    scores = built("bm25")("dog?", ["dog", "cat bird fish"])
    norm = 1 + 1.2 * (1 - 0.75 + 0.75 * 1 / 2)
    assert scores == [pytest.approx(math.log(2) * 2.2 / norm), 0.0]


def test_common_words_and_endings_do_not_count() -> None:
    assert built("bm25")("What is the person doing?", ["the person is", "runs"]) == [0.0, 0.0]
    first, second = built("bm25")("Who is sitting?", ["he sits", "he stands"])
    assert first > second == 0


@given(st.text(max_size=30), st.lists(st.text(max_size=30), max_size=6))
def test_bm25_takes_any_text(question: str, texts: list[str]) -> None:
    scores = built("bm25")(question, texts)
    assert len(scores) == len(texts)
    assert all(0 <= each < math.inf for each in scores)


@needs_extra
@pytest.mark.weights
def test_embeddings_see_what_words_do_not_share() -> None:
    close, far = built("sentence_embeddings")("Who leaps?", ["a man jumps", "a cup of tea"])
    assert close > far


@pytest.mark.skipif(HAS_EXTRA, reason="the extra 'embeddings' is installed")
def test_a_missing_extra_says_what_to_install() -> None:
    with pytest.raises(MissingExtra, match=r"pip install 'cuelight\[embeddings\]'"):
        built("sentence_embeddings")("q", ["a"])


def test_mistakes_are_sentences() -> None:
    with pytest.raises(BadInput, match="no sentence embedding model 'nope'"):
        sentence_embeddings.build(sentence_embeddings.Options(model="nope"))
    with pytest.raises(BadInput, match="k1"):
        bm25.Options(k1=-1)
