"""What is believed of a transcript: each guard drops what it is there for, and tells so."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perception.audio.belief import Belief, believe, dropped_traces, read_dropped
from perception.audio.guards import Guard, GuardRules
from perception.audio.pieces import Piece
from perception.audio.transcription import Segment, Word, most_tokens, stamps
from perception.audio.utterances import words_to_utterances
from perception.audio.word_times import in_voice, timed
from perception.cue import Span
from perception.errors import BadInput
from perception.recognizer import AUDIO_RATE_HZ
from tests.perception.sounds import Samples, silence, white

BEGIN_S = 100.0
"""Where the pieces of sound lie in their videos."""


def segment(
    *words: tuple[str, float, float],
    logprob: float = -0.3,
    silence: float = 0.0,
    probability: float = 0.9,
) -> Segment:
    return Segment(
        tuple(Word(start, end, text, probability) for text, start, end in words), logprob, silence
    )


def sentence(
    text: str,
    logprob: float = -0.3,
    no_speech: float = 0.0,
    stamped: tuple[float | None, float | None] = (None, None),
) -> Segment:
    """Two words a second from the piece's start on."""
    words = tuple(Word(i / 2, (i + 1) / 2, f" {each}", 0.9) for i, each in enumerate(text.split()))
    return Segment(words, logprob, no_speech, *stamped)


def judge(
    *segments: Segment,
    seconds: float = 30.0,
    voiced: Sequence[Span] | None = None,
    second: Sequence[Segment] | None = None,
    sound: Samples | None = None,
    rules: GuardRules | None = None,
    backwards: Sequence[Segment] = (),
) -> Belief:
    """Believe segments of a piece of noise that is voiced throughout."""
    samples = white(seconds) if sound is None else sound
    whole = Span(BEGIN_S, BEGIN_S + len(samples) / AUDIO_RATE_HZ)
    piece = Piece(BEGIN_S, samples, tuple(voiced or [whole]))

    def look_again() -> Sequence[Segment]:
        return segments if second is None else second

    rules = rules or GuardRules()
    return believe(piece, segments, look_again, lambda: backwards, rules, 0.8)


def guards_of(belief: Belief) -> list[Guard]:
    return [each.doubt.guard for each in belief.dropped]


@pytest.mark.parametrize(
    "segment",
    [
        sentence("come down from there"),
        sentence("Yes.", logprob=-0.84, no_speech=0.55),
        sentence("well in the noise", logprob=-1.09, no_speech=0.03),
        segment((" hard", 0.0, 0.5), (" to hear", 0.5, 1.0), probability=0.39),
        sentence("no no no no no"),
        sentence("1917"),
        sentence("over music", stamped=(10.0, 33.0)),
        sentence("Go team! Go team! Go team! Go team!"),
    ],
)
def test_true_speech_is_believed(segment: Segment) -> None:
    belief = judge(segment)
    assert belief.dropped == []
    assert [word.text for utterance in belief.kept for word in utterance.words] == [
        word.text for word in segment.words
    ]


def test_half_a_minute_of_speech_in_one_breath_is_believed() -> None:
    words = [str(number) for number in range(60)]
    assert judge(sentence(" ".join(words), stamped=(0.0, 30.0))).dropped == []


@pytest.mark.parametrize(
    ("segment", "guard", "why"),
    [
        (sentence("♪ ♪"), Guard.NO_LETTER, "no letter"),
        (sentence("je bovene kruis", -0.95, 0.23), Guard.NO_SPEECH, "no-speech probability 0.23"),
        (sentence("who knows", -1.11), Guard.UNSURE, "mean log probability -1.11"),
        (segment((" You", 0.0, 0.5), probability=0.12), Guard.UNLIKELY, "mean probability 0.12"),
        (sentence("the same sentence again " * 12), Guard.COMPRESSION, "compression ratio"),
        (sentence("no no no no no no no no"), Guard.LOOP, "the same words 8 times in a row"),
        (sentence("gif m'as gif m'as gif m'as gif m'as"), Guard.LOOP, "the same words 4 times"),
        (sentence("Thank you", stamped=(0.0, 30.0)), Guard.GRID, "grid of 30 s (2 words)"),
        (sentence("Thank you", stamped=(32.0, 35.0)), Guard.PAST_END, "32.0 s of 30.0 s"),
    ],
)
def test_each_guard_drops_what_it_is_there_for(segment: Segment, guard: Guard, why: str) -> None:
    belief = judge(segment)
    [dropped] = belief.dropped
    assert belief.kept == []
    assert dropped.doubt.guard is guard
    assert why in dropped.doubt.why
    assert dropped.text == "".join(word.text for word in segment.words).strip()
    assert (dropped.span.start_s, dropped.span.end_s) == (
        BEGIN_S,
        pytest.approx(BEGIN_S + min(30, len(segment.words) / 2)),
    )


def test_every_guard_can_be_turned_off() -> None:
    off = GuardRules(
        *(1, -100, -100, -100, 100, 0, 1000, 1000, 30, 30, 0),
        unaligned=1,
        silence=0,
    )
    for segment in (
        sentence("je bovene kruis", -5.0, 0.9, (55.0, 57.0)),
        sentence("no " * 60, stamped=(0.0, 30.0)),
    ):
        assert guards_of(judge(segment, rules=off)) == []


def test_text_on_silence_is_dropped() -> None:
    sound = np.concatenate([white(2), silence(28)])
    heard = Segment((Word(0.2, 1.5, " Hello", 0.9), Word(5.0, 7.0, " You", 0.9)), -0.3, 0.1)
    belief = judge(heard, sound=sound)
    assert [utterance.text for utterance in belief.kept] == ["Hello"]
    assert [(each.text, each.doubt.guard) for each in belief.dropped] == [("You", Guard.SILENT)]


def test_words_away_from_the_voice_or_past_the_end_are_dropped() -> None:
    heard = segment((" far", 0.0, 0.4), (" here", 2.0, 3.0), (" late", 9.0, 9.5))
    belief = judge(heard, seconds=9.0, voiced=[Span(BEGIN_S + 2, BEGIN_S + 4)])
    assert [utterance.text for utterance in belief.kept] == ["here"]
    assert sorted((each.text, each.doubt.guard) for each in belief.dropped) == [
        ("far", Guard.NO_VOICE),
        ("late", Guard.PAST_END),
    ]


def test_an_utterance_whose_words_have_no_place_in_the_sound_is_dropped() -> None:
    flat = segment((" Thanks", 1.0, 1.0), (" for", 1.0, 1.0), (" watching", 1.0, 1.4))
    [dropped] = judge(flat).dropped
    assert dropped.doubt.guard is Guard.UNALIGNED
    assert "2 of its 3 words" in dropped.doubt.why


def test_a_word_without_a_place_is_laid_between_its_neighbours_and_flagged() -> None:
    heard = segment((" one", 1.0, 1.4), (" two", 1.4, 1.4), (" three", 1.8, 2.2))
    [kept] = judge(heard).kept
    assert [(word.start_s, word.end_s, word.interpolated) for word in kept.words] == [
        (pytest.approx(101.0), pytest.approx(101.4), False),
        (pytest.approx(101.4), pytest.approx(101.8), True),
        (pytest.approx(101.8), pytest.approx(102.2), False),
    ]


def test_what_makes_more_sense_backwards_is_dropped() -> None:
    doubtful = sentence("god is ill there is much scoff", logprob=-0.7)
    [dropped] = judge(doubtful, backwards=[sentence("the quick brown fox", -0.25)]).dropped
    assert dropped.doubt.guard is Guard.BACKWARDS
    assert "mean log probability -0.25, forwards -0.70" in dropped.doubt.why
    assert judge(doubtful, backwards=[sentence("xof nworb", -0.51)]).dropped == []
    assert judge(doubtful, backwards=[]).dropped == []
    assert judge(doubtful, backwards=[sentence("eight " * 40, -0.2)]).dropped == []
    sure = sentence("the quick brown fox", logprob=-0.5)
    assert judge(sure, backwards=[sentence("god is ill", -0.2)]).dropped == []


def test_after_a_loop_the_second_look_counts() -> None:
    stuck = sentence("eight " * 40, logprob=-0.2)
    belief = judge(stuck, second=[sentence("one two eight nine")])
    assert [utterance.text for utterance in belief.kept] == ["one two eight nine"]
    assert guards_of(belief) == [Guard.COMPRESSION]
    assert judge(stuck).kept == []


def test_what_was_dropped_survives_its_traces() -> None:
    dropped = judge(sentence("who knows?", -1.2), sentence("«♪»")).dropped
    traces = dropped_traces("speech", dropped)
    assert len(read_dropped("speech", traces)) == 2
    assert read_dropped("speech", traces) == tuple(dropped)
    assert read_dropped("speech", dropped_traces("speech", [])) == ()
    traces["speech/dropped/guard"] = np.array(["luck"] * len(dropped))
    with pytest.raises(BadInput, match="luck"):
        read_dropped("speech", traces)


# --- words and their times -----------------------------------------------------------------------


def test_utterances_end_with_sentences_and_pauses() -> None:
    spoken = segment(
        *((" Mr.", 0.0, 0.3), (" Smith", 0.3, 0.8), (" left.", 0.8, 1.2)),
        *((" Why?", 1.3, 1.6), (" Because", 1.7, 2.0), (" he", 3.0, 3.2), (" did", 3.2, 3.4)),
    )
    later = segment((" it", 3.4, 3.5), ("。", 3.5, 3.6), (" Yes", 3.6, 3.8))
    texts = [u.text for u in words_to_utterances([spoken, later], pause_s=0.8)]
    assert texts == ["Mr. Smith left.", "Why?", "Because", "he did it。", "Yes"]


def test_an_utterance_is_as_sure_as_its_segments() -> None:
    [both] = words_to_utterances(
        [
            segment((" a", 0, 1), logprob=-0.2, silence=0.1),
            segment((" b", 1, 2), (" c", 2, 3), logprob=-0.5, silence=0.6),
        ],
        pause_s=1,
    )
    assert both.avg_logprob == pytest.approx(-0.4)
    assert both.confidence == pytest.approx(math.exp(-0.4))
    assert both.no_speech_prob == 0.6
    assert (both.start_s, both.end_s) == (0, 3)


def test_words_are_fitted_to_the_voice_between_pauses() -> None:
    voiced = [Span(1.5, 2.2), Span(2.8, 4.0)]
    heard = segment((" And", 0.0, 1.9), (" so", 2.0, 3.2), (" it", 3.2, 3.6), (" was", 4.2, 4.5))
    [part] = in_voice([heard], voiced)
    first, second, third, outside = part.words
    assert 1.4 < first.start_s <= 1.5
    assert first.end_s == 2.2
    assert 2.7 < second.start_s <= 2.8
    assert (second.end_s, third.start_s, third.end_s) == (3.2, 3.2, 4.0)
    assert (outside.start_s, outside.end_s) == (4.2, 4.5)
    [before_a_word] = in_voice([segment((" one", 1.6, 1.8), (" two", 2.1, 2.2))], voiced)
    assert before_a_word.words[0].end_s == 1.8


def test_times_are_put_in_order_and_into_the_sound() -> None:
    heard = segment((" a", -0.5, 0.6), (" b", 0.4, 1.0), (" c", 1.2, 0.9), (" d", 2.5, 9.0))
    [part] = timed([heard], Span(0.0, 3.0))
    assert [(word.start_s, word.end_s, word.interpolated) for word in part.words] == [
        (0.0, 0.6, False),
        (0.6, 1.0, False),
        (1.0, 1.5, True),
        (2.5, 3.0, False),
    ]


TIMES = st.one_of(st.floats(-5, 40), st.just(math.nan))


@given(st.lists(st.lists(st.tuples(TIMES, TIMES), max_size=6), max_size=4))
def test_any_times_become_a_clock_that_runs_forwards_inside_the_sound(
    times: list[list[tuple[float, float]]],
) -> None:
    segments = [segment(*((" w", start, end) for start, end in each)) for each in times]
    limit = Span(3.0, 30.0)
    words = [word for each in timed(segments, limit) for word in each.words]
    assert len(words) == sum(map(len, times))
    for word in words:
        assert limit.start_s <= word.start_s <= word.end_s <= limit.end_s + 1e-9
        assert word.interpolated or word.end_s > word.start_s
    assert all(a.end_s <= b.start_s + 1e-9 for a, b in pairwise(words))
    flat = [pair for each in times for pair in each]
    good = [0.0 + start for start, end in flat if limit.start_s < start < end < limit.end_s]
    if len(good) == len(flat) and all(a[1] <= b[0] for a, b in pairwise(flat)):
        assert [(word.start_s, word.end_s) for word in words] == flat


def test_the_models_own_times_are_read_from_its_tokens() -> None:
    first_stamp = 50364
    assert stamps([first_stamp + 50, 11, 12, first_stamp + 150], first_stamp, 200) == (3.0, 5.0)
    assert stamps([11, 12], first_stamp, 0) == (None, None)
    assert stamps([], first_stamp, 0) == (None, None)


def test_a_piece_can_have_as_many_tokens_as_its_length_allows() -> None:
    assert most_tokens(0) == 16
    assert most_tokens(2 * AUDIO_RATE_HZ) == 48
    assert most_tokens(30 * AUDIO_RATE_HZ) == 224
