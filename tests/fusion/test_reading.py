from __future__ import annotations

from dataclasses import replace

import pytest

from fusion.reading import ReadLine, read
from fusion.render import RenderOptions, render
from fusion.selection import CuePrompt, KeptCue, Selection
from perception.cue import Origin, Span
from perception.errors import BadInput
from tests.fusion.timelines import cue

WAVE = KeptCue("action", cue("a", 0.3, 2.5, "person 1 waves", 0.9), 0.96, calibrated=True)
SIGN = KeptCue("screen_text", cue("s", 59.96, 3661.04, "NO ENTRY", 0.9), 0.93)


def lines(item: KeptCue, options: RenderOptions | None = None) -> tuple[CuePrompt, ReadLine]:
    prompt = render(Selection((item,)), options or RenderOptions())
    (line,) = read(prompt, options or RenderOptions())
    return prompt, line


def test_a_label_and_a_quote() -> None:
    assert lines(WAVE)[1] == ReadLine(("a",), "action", Span(0.3, 2.5), "person 1 waves", 0.96)
    assert lines(SIGN)[1] == ReadLine(("s",), "screen text", Span(60, 3661), "NO ENTRY", 0.93)


def test_a_persons_cue_is_certain_unless_a_doubt_is_told() -> None:
    sign = replace(SIGN, origin=Origin.HUMAN, probability=1.0)
    assert lines(sign)[0].text.endswith('"NO ENTRY" (annotated)')
    assert lines(sign)[1] == lines(replace(SIGN, probability=1.0))[1]
    assert lines(replace(sign, probability=0.8))[0].text.endswith("(score 0.80)")
    assert lines(replace(SIGN, probability=1.0))[0].text.endswith("(score 1.00)")


def test_rivals_folded_ids_and_words_of_ours() -> None:
    item = replace(
        WAVE, qualifier="perhaps", alternatives=(("jump", 0.03),), merged_ids=("b",), note="on"
    )
    expected = ReadLine(
        ("a", "b"),
        "action",
        Span(0.3, 2.5),
        "perhaps person 1 waves, on",
        0.96,
        (("jump", 0.03),),
    )
    assert lines(item)[1] == expected
    sign = replace(SIGN, qualifier="apparently", note="on and off")
    assert lines(sign)[1].text == "NO ENTRY"


@pytest.mark.parametrize("order", ["time", "kind"])
@pytest.mark.parametrize("times", [True, False])
@pytest.mark.parametrize("confidence", [True, False])
def test_whatever_is_left_out_the_rest_is_read(order: str, times: bool, confidence: bool) -> None:
    options = RenderOptions("short", order, times, confidence)
    for item, text in ((WAVE, "person 1 waves"), (SIGN, "NO ENTRY")):
        line = lines(item, options)[1]
        assert (line.kind, line.text) == (item.kind.replace("_", " "), text)
        assert (line.span is not None) == times
        assert line.probability == (item.probability if confidence else None)


@pytest.mark.parametrize(
    "claim",
    ["jumps (100 %)", "jumps (50 %), or runs (49 %)", "jumps (score 0.99)", "jumps (annotated)"],
)
def test_a_text_says_nothing_of_its_own_probability(claim: str) -> None:
    label = lines(replace(WAVE, cue=cue("a", 0, 1, claim, 0.9)))[1]
    quote = lines(replace(SIGN, cue=cue("s", 0, 1, claim, 0.9)))[1]
    assert (label.probability, label.alternatives) == (0.96, ())
    assert (quote.probability, quote.alternatives, quote.text) == (0.93, (), claim)


def test_other_options_than_it_was_rendered_with_are_noticed() -> None:
    prompt = lines(WAVE, RenderOptions(times=False, confidence=False))[0]
    with pytest.raises(BadInput, match="no times"):
        read(prompt, RenderOptions(confidence=False))
    with pytest.raises(BadInput, match="no probability"):
        read(prompt, RenderOptions(times=False))
