from __future__ import annotations

from dataclasses import replace

import pytest

from fusion.budget import estimate_tokens, fit
from fusion.options import FusionOptions
from fusion.render import RenderOptions
from fusion.selection import CuePrompt, DroppedCue, KeptCue, Selection
from perception.errors import BadInput
from tests.fusion.timelines import cue

SHORT = RenderOptions(notice="none", times=False, confidence=False)
"""With it the block of a, b, c is the heading of 24 characters, then "- action: a" of 11 each and
a line break before each: 36 characters for one cue, 48 for two, 60 for three."""


def kept(id: str, value: float, start_s: float, text: str | None = None) -> KeptCue:
    return KeptCue("action", cue(id, start_s, start_s + 1, text or id, 0.9), 0.9, value=value)


A, B, C = kept("a", 0.5, 0), kept("b", 0.9, 1), kept("c", 0.7, 2)
THREE = Selection((A, B, C))


def fitted(selection: Selection, tokens: int, gated: Selection | None = None) -> CuePrompt:
    return fit(selection, gated or selection, tokens, SHORT, len)


def split(prompt: CuePrompt) -> tuple[list[str], dict[str, str]]:
    return (
        [item.cue.id for item in prompt.selection.kept],
        {item.cue.id: item.reason for item in prompt.selection.dropped},
    )


@pytest.mark.parametrize(
    ("tokens", "ids"),
    [
        (60, ["a", "b", "c"]),
        (59, ["b", "c"]),
        (48, ["b", "c"]),
        (47, ["b"]),
        (36, ["b"]),
        (35, []),
        (0, []),
    ],
)
def test_the_least_value_goes_first(tokens: int, ids: list[str]) -> None:
    prompt = fitted(THREE, tokens)
    assert [item.cue.id for item in prompt.selection.kept] == ids
    assert len(prompt.text) == (24 + 12 * len(ids) if ids else 0)


def test_reasons() -> None:
    assert split(fitted(THREE, 48)) == (
        ["b", "c"],
        {"a": "does not fit into the budget of 48 tokens"},
    )
    even_alone = "does not fit even alone into the budget of 35 tokens"
    assert split(fitted(THREE, 35)) == ([], dict.fromkeys("abc", even_alone))


def test_no_budget_at_all() -> None:
    prompt = fitted(THREE, 0)
    assert prompt.text == ""
    assert split(prompt)[1] == dict.fromkeys("abc", "does not fit into the budget of 0 tokens")


def test_of_equals_the_later_goes_first() -> None:
    equals = Selection((kept("z", 0.5, 0), kept("y", 0.5, 1), kept("x", 0.5, 1)))
    assert split(fitted(equals, 48))[0] == ["z", "x"]


def test_a_cue_that_is_too_long_alone_does_not_push_out_the_others() -> None:
    long = kept("long", 1.0, 0, "x" * 40)
    ids, reasons = split(fitted(Selection((long, A, B)), 48))
    assert ids == ["a", "b"]
    assert reasons == {"long": "does not fit even alone into the budget of 48 tokens"}


def test_a_sentence_is_not_pushed_out_by_fragments_of_less_value() -> None:
    """In a block of 48 one line of 21 characters leaves no room for another; two of 11 fit."""
    sentence = kept("sentence", 0.9, 0, "x" * 11)
    assert split(fitted(Selection((sentence, A, kept("z", 0.5, 4))), 48))[0] == ["sentence"]


def test_what_does_not_fit_is_passed_over_for_what_does() -> None:
    long = kept("long", 0.8, 0, "x" * 6)
    ids, reasons = split(fitted(Selection((B, long, A)), 48))
    assert ids == ["a", "b"]
    assert reasons == {"long": "does not fit into the budget of 48 tokens"}


def test_of_equals_at_one_time_the_lines_of_a_sign_go_in_as_they_are_numbered() -> None:
    sign = [kept(f"screen_text-{n}", 0.5, 0, "x") for n in (10, 2, 1)]
    assert split(fitted(Selection(tuple(sign)), 48))[0] == ["screen_text-1", "screen_text-2"]


def test_one_of_each_kind_where_that_is_asked_for() -> None:
    poor = KeptCue("speech", cue("s", 3, 4, "s", 0.1), 0.1, value=0.1)
    four = Selection((A, B, C, poor))
    room = 24 + 74 + 2 * 14
    assert fit(four, four, room, SHORT, len, one_per_kind=True).selection.kept == (B, poor)
    assert fit(four, four, room, SHORT, len).selection.kept == (A, B, C)


def test_a_tokenizer_that_does_not_go_by_bytes_is_obeyed() -> None:
    def count(text: str) -> int:
        return 30 * text.count("a") + len(text)

    block = fit(THREE, THREE, 24 + 250, SHORT, count)
    assert count(block.text) <= 274


def test_room_that_bytes_did_not_show_is_filled() -> None:
    """By its share of the bytes a line costs 9 tokens, so that two fit; by count it costs one."""
    heavy = kept("h", 0.1, 3)

    def count(text: str) -> int:
        return 50 * text.count(": h") + text.count("- ")

    four = Selection((A, B, C, heavy))
    assert fit(four, four, 10, SHORT, count).selection.kept == (A, B, C)


def test_what_was_merged_into_a_dropped_cue_goes_with_it() -> None:
    merged = replace(A, merged_ids=("c",))
    ids, reasons = split(fitted(Selection((merged, B)), 36, gated=THREE))
    assert ids == ["b"]
    assert reasons == {
        "a": "does not fit into the budget of 36 tokens",
        "c": "merged into a: does not fit into the budget of 36 tokens",
    }


def test_what_was_dropped_before_stays_dropped() -> None:
    before = DroppedCue("action", A.cue, "confidence 0.41 is under 0.60")
    prompt = fitted(Selection((B, C), (before,)), 36)
    assert split(prompt)[1] == {
        "a": "confidence 0.41 is under 0.60",
        "c": "does not fit into the budget of 36 tokens",
    }


def test_few_blocks_are_counted_even_of_many_cues() -> None:
    many = Selection(tuple(kept(f"{n:05}", 0.5, n) for n in range(10_000)))
    counted: list[int] = []

    def count(text: str) -> int:
        counted.append(len(text))
        return len(text)

    prompt = fit(many, many, 24 + 16 * 100, SHORT, count)
    assert len(prompt.selection.kept) == 100
    assert len(counted) < 20


def test_estimate() -> None:
    assert [estimate_tokens(text) for text in ("", "a", "abc", "abcd", "出口", "\ud800")] == [
        0,
        1,
        1,
        2,
        2,
        1,
    ]


def test_a_negative_budget_is_refused() -> None:
    with pytest.raises(BadInput, match="-1 tokens"):
        FusionOptions(budget_tokens=-1)
