"""Reports: the papers' own rows, differences told by hand, and what a page may not let through."""

from __future__ import annotations

import itertools
import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from perception.errors import BadInput, MissingExtra, UnknownName
from reasoning import tradeoff
from reasoning.reports import (
    against_controls,
    categories,
    correlations,
    cue_effects,
    dataset,
    differences,
    error_sources,
    intervals,
    side_by_side,
    stamps,
    tagging,
    trade_off,
    vimu,
)
from reasoning.reports import mimeqa_published as published
from reasoning.reports.given import SHORT, Given, Kind, Pairing
from reasoning.reports.page import page
from reasoning.reports.study import report
from reasoning.reports.table import Section, Table, percent
from reasoning.results.outcomes import InjectedCue, Outcome, Outcomes, State

pytest.importorskip("scipy", reason="needs the extra 'studies' (scipy)")
pytest.importorskip("matplotlib", reason="needs the extra 'studies' (matplotlib)")

LONG = {letters: str(name) for name, letters in SHORT.items()}
GROUNDING, MIND, JUDGMENT = LONG["GI"], LONG["ToM"], LONG["SJ"]


def row(question: str, condition: str = "none", score: float | None = 1, **others: Any) -> Outcome:
    state = State.SCORED if score is not None else State.FAILED
    facts = {"video": question.partition("-")[0], "category": GROUNDING, "level": ""}
    facts |= {"model": "m", "repeat": 0, "state": state, **others}
    return Outcome(question=question, condition=condition, score=score, **facts)


def mimeqa(counts: Sequence[int], model: str = "m", condition: str = "VL") -> list[Outcome]:
    """The paper's 806 questions about 101 videos; the first of each category are right."""
    rows = []
    for (letters, n), right in zip(published.QUESTIONS.items(), counts, strict=True):
        for at in range(n):
            number = len(rows)
            name, video = f"{letters}-{at}", f"{number % 101:04}.mp4"
            facts = {"video": video, "category": LONG[letters], "model": model}
            rows.append(row(name, condition, float(at < right), **facts))
    return rows


def given(rows: Sequence[Outcome], baseline: str | None = None, **others: Any) -> Given:
    outcomes = Outcomes(tuple(rows))
    return Given(outcomes, baseline or outcomes.conditions[0], **others)


def table(section: Section | None, name: str) -> Table:
    assert section is not None
    return next(each for each in section.tables if each.name == name)


def words(found: Table) -> list[list[str]]:
    return [[str(cell) for cell in line] for line in found.rows]


# ----------------------------------------------------------------------------- MimeQA's tables


COUNTS = {
    ("InternVL2.5", "VL"): (10, 35, 49, 15, 24, 29, 12),
    ("Qwen2.5-VL", "VL"): (9, 25, 41, 14, 29, 29, 15),
    ("Human", "VL"): (123, 138, 146, 87, 70, 70, 59),
}
"""Right answers behind three rows of Table 1, divided by hand."""


@pytest.mark.parametrize("which", COUNTS)
def test_right_answers_give_the_papers_row_and_average(which: tuple[str, str]) -> None:
    printed = published.TABLE_1[which]
    found = words(table(categories.section(given(mimeqa(COUNTS[which]))), "accuracy"))
    cut = {"19.4": "19.5"} if which[0] == "Qwen2.5-VL" else {}
    assert found == [["m", *(cut.get(cell, cell) for cell in printed)]]


def test_every_row_of_table_1_follows_from_whole_answers() -> None:
    for which, printed in published.TABLE_1.items():
        counts = published.right_answers(printed)
        assert counts == COUNTS.get(which, counts)
        assert str(percent(published.Fraction(sum(counts), 806))) == printed[0], which


def test_the_cells_that_were_cut_off_are_named() -> None:
    found = [(c.model, c.source, c.category, c.printed, c.right) for c in published.cut_cells()]
    assert found == [
        ("Qwen2.5-VL", "VL", "WM", "19.4", 15),
        ("GPT-4o", "L", "GI", "6.5", 9),
        ("Gemini-1.5-Pro", "VL", "WM", "33.7", 26),
        ("Gemini-2.5-Pro", "VL", "GI", "28.4", 39),
    ]
    section = categories.beside_paper(given(mimeqa(COUNTS["Qwen2.5-VL", "VL"])))
    assert section is not None
    assert section.words[0] == (
        "m: the paper's row Qwen2.5-VL VL but for WM 19.5 (the paper cut it off to 19.4)."
    )
    assert "15 of 77 is 19.48, which rounds to 19.5" in " ".join(section.words)


def test_one_question_less_is_not_the_papers_table() -> None:
    assert categories.beside_paper(given(mimeqa(COUNTS["Human", "VL"])[:-1])) is None


def test_video_and_text_stand_beside_text_only() -> None:
    both = [
        *mimeqa(published.right_answers(published.TABLE_1["GPT-4o", "VL"]), condition="seen"),
        *mimeqa(published.right_answers(published.TABLE_1["GPT-4o", "L"]), condition="blind"),
    ]
    pairing = Pairing(Kind.VIDEO, without="blind", having="seen")
    section = categories.section(given(both, pairings=(pairing,)))
    found = table(section, "accuracy_video_and_text_1")
    assert words(found)[0][:7] == ["m", "31.3", "18.1", "19.0", "6.6", "28.5", "14.6"]
    assert found.headings()[:5] == (
        *("Model", "Avg VL", "Avg L"),
        *("Grounding GI VL", "Grounding GI L"),
    )
    assert [span for _, span in found.groups[0]] == [3, 2, 6, 6]


def test_other_categories_stand_in_order_of_appearance() -> None:
    rows = [row("a", category="CW"), row("b", category="CH", score=0)]
    found = table(categories.section(given(rows)), "accuracy")
    assert (found.columns, words(found)) == (
        ("Model", "Avg", "CW", "CH"),
        [["m", "50.0", "100.0", "0.0"]],
    )


def test_titles_and_chain_of_thought_have_the_papers_layouts() -> None:
    rows = [row("a", "plain", 0), row("a", "titled", 1), row("a", "thought", 1)]
    pairings = (
        Pairing(Kind.TITLE, "plain", "titled"),
        Pairing(Kind.CHAIN_OF_THOUGHT, "plain", "thought"),
    )
    section = side_by_side.section(given(rows, pairings=pairings))
    assert words(table(section, "titles_1")) == [
        ["m (with title)", "100.0", "100.0"],
        ["m (without title)", "0.0", "0.0"],
    ]
    assert words(table(section, "chain_of_thought_1")) == [["m", "0.0", "100.0"]]


def test_videos_are_split_by_text_and_the_undecided_left_out() -> None:
    rows = [row("a-1"), row("b-1", score=0), row("b-2"), row("c-1")]
    section = side_by_side.section(given(rows, with_text={"a": True, "b": False}))
    (line,) = words(table(section, "with_and_without_text"))
    assert (line[1], line[3], line[4], line[6]) == ("100.0", "1", "50.0", "2")
    assert section is not None
    assert section.words[0].endswith("Undecided, and left out: c.")


# ------------------------------------------------------------------------------- differences


def two(before: Sequence[float], after: Sequence[float], **others: Any) -> list[Outcome]:
    return [
        row(f"v{at}", condition, score, **others)
        for condition, scores in (("none", before), ("cues", after))
        for at, score in enumerate(scores)
    ]


def test_a_difference_is_told_with_its_tests() -> None:
    found = differences.compare(Outcomes(tuple(two([0] * 10, [1] * 8 + [0] * 2))), "none", "cues")
    (all_,) = found
    assert (all_.before, all_.after, all_.difference.gained, all_.difference.lost) == (0, 0.8, 8, 0)
    assert all_.difference.p_mcnemar == pytest.approx(2 / 2**8)
    assert differences.verdict(all_) == "gain"


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ([1, 0, 1, 0], "no question changed"),
        ([0, 1, 1, 0], "within noise"),
        ([1, 0, 0, 0], "within noise"),
    ],
)
def test_noise_is_called_noise(after: list[float], said: str) -> None:
    (found,) = differences.compare(Outcomes(tuple(two([1, 0, 1, 0], after))), "none", "cues")
    assert differences.verdict(found) == said


def test_a_family_is_all_levels_and_categories_once() -> None:
    rows = [
        each
        for category, level in ((GROUNDING, "Grounding"), (MIND, "Global"), (JUDGMENT, "Global"))
        for each in two([0] * 6, [1] * 6, category=category, level=level)
    ]
    rows = [replace(each, question=f"{each.question}-{each.category}") for each in rows]
    found = differences.compare(Outcomes(tuple(rows)), "none", "cues")
    assert [each.name for each in found] == ["all", "Global", GROUNDING, MIND, JUDGMENT]
    raw = [each.difference.p_mcnemar for each in found]
    assert raw == pytest.approx([2 / 2**18, 2 / 2**12, *[2 / 2**6] * 3])
    assert [each.holm for each in found] == pytest.approx(
        [5 * raw[0], 4 * raw[1], *[3 * raw[2]] * 3]
    )
    assert [each.holm_clustered for each in found] == pytest.approx([5 * 2 / 2**6] * 5)
    assert {differences.verdict(each) for each in found} == {"not clear after Holm"}


@pytest.mark.parametrize(
    "unscored",
    [each for n in range(1, 5) for each in itertools.combinations(["none", "a", "b", "c"], n)],
)
def test_conditions_without_a_scored_answer_are_reported(unscored: tuple[str, ...]) -> None:
    """As before anything is judged, or where no prompt of a condition fitted."""
    cue = InjectedCue("a", "action", "waves", 0.9)
    rows = [
        row(
            f"v{at}",
            name,
            None if name in unscored else at % 2,
            category=category,
            cues=() if name == "none" else (cue,),
        )
        for name in ("none", "a", "b", "c")
        for at, category in enumerate((GROUNDING, MIND, GROUNDING, MIND))
    ]
    made = report(given(rows, "none", controls={"c": ()}, swept={"a": "0.6", "b": "0.8"}))
    assert [name for name in ("none", "a", "b", "c") if name in made.markdown()]
    assert page(made)


def test_links_and_pictures_in_an_answer_do_nothing() -> None:
    told = Table("t", "T", ("Answer",), (("![p](http://a.example/p.png) [l](x) <b> a|b",),))
    assert "](" not in told.markdown()
    assert "![p]\\(http://a.example/p.png) [l]\\(x) &lt;b> a\\|b" in told.markdown()


def test_every_accuracy_of_a_report_is_over_questions() -> None:
    """Two questions in two repeats; one repeat of the second has no score: (1 + 0) / 2, not 2/3."""
    rows = [
        row(question, condition, score, repeat=repeat)
        for condition in ("none", "cues")
        for question, scores in (("a-1", (1, 1)), ("b-1", (0, None)))
        for repeat, score in enumerate(scores)
    ]
    made = given(rows)
    (none, _) = words(table(categories.section(made), "accuracy"))
    assert none[1] == "50.0"
    assert words(table(intervals.section(made), "intervals"))[0][1] == "50.0"
    assert words(table(differences.section(made), "difference_1"))[0][2] == "50.0"
    assert "The commonest reasons" not in " ".join(intervals.section(made).words)
    lost = [replace(r, reason="No such thing.") if r.score is None else r for r in rows]
    assert "The commonest reasons: No such thing. (2)." in intervals.section(given(lost)).words


def test_more_conditions_are_more_chances() -> None:
    """Eight questions of eight videos gained: p = 2 / 2^8 alone, seven times that of seven."""

    def told(count: int) -> list[str]:
        conditions = [f"cues {n}" for n in range(count)]
        rows = [row(f"v{n}-q", "none", 0) for n in range(8)]
        rows += [row(f"v{n}-q", name, 1) for name in conditions for n in range(8)]
        section = differences.section(given(rows))
        (line,) = words(table(section, f"difference_{count}"))
        return line

    assert (told(1)[9], told(1)[11], told(1)[-1]) == ("0.008", "0.008", "gain")
    assert (told(7)[9], told(7)[11], told(7)[-1]) == ("0.055", "0.055", "not clear after Holm")


def test_one_video_tells_nothing_of_others() -> None:
    rows = [replace(each, video="v") for each in two([0] * 9, [1] * 9)]
    (line,) = words(table(differences.section(given(rows)), "difference_1"))
    assert (line[4], line[5], line[-1]) == ("+100.0", "–", "one video tells nothing of others")


def test_repeats_are_no_further_questions() -> None:
    rows = two([0, 0, 1], [1, 1, 1])
    again = [replace(each, repeat=at) for at in range(5) for each in rows]
    once, often = (
        differences.compare(Outcomes(tuple(each)), "none", "cues")[0] for each in (rows, again)
    )
    assert often == once


def test_what_could_have_been_shown_shrinks_when_a_video_is_asked_once_a_question() -> None:
    rows = [row(f"v{at // 10}-{at}", c, s) for c, s in (("a", 0), ("b", 1)) for at in range(100)]
    rows = [
        replace(each, score=float(int(each.question.partition("-")[0][1:]) < 4))
        if each.condition == "b"
        else each
        for each in rows
    ]
    alone = [replace(each, video=each.question) for each in rows]
    clustered, independent = (
        differences.compare(Outcomes(tuple(each)), "a", "b")[0] for each in (rows, alone)
    )
    assert independent.smallest is not None
    assert clustered.smallest is None or clustered.smallest > independent.smallest
    assert clustered.difference.interval.low < independent.difference.interval.low


# ---------------------------------------------------------------------- failures and repeats


def test_failures_are_neither_right_nor_wrong() -> None:
    rows = [row("a", score=1), row("b", score=0), row("c", score=None), row("d", score=None)]
    rows[3] = replace(rows[3], state=State.UNSCORED)
    section = intervals.section(given(rows))
    (line,) = words(table(section, "missing"))
    assert line == ["m", "4", "1", "25.0", "1", "25.0", "25.0", "75.0"]
    assert words(table(section, "intervals"))[0][1] == "50.0"
    assert "Not every question has a score under: m." in section.words


def test_bounds_are_not_shown_where_nothing_is_missing() -> None:
    (line,) = words(table(intervals.section(given([row("a"), row("b")])), "missing"))
    assert line[-2:] == ["–", "–"]


def test_decoding_varies_between_repeats() -> None:
    rows = [row("a", repeat=at, score=score) for at, score in enumerate((0, 1, 0.5))]
    (line,) = words(table(intervals.section(given(rows)), "repeats"))
    assert line == ["m", "3", "0.0", "100.0", "50.0"]


def test_nothing_but_failures_is_reported_without_an_accuracy() -> None:
    made = report(given([row("a", score=None)]))
    (line,) = next(each for each in made.tables if each.name == "accuracy").rows
    assert [str(cell) for cell in line] == ["m", "–", "–"]


# ------------------------------------------------------------------------------ the trade-off


def test_the_frontier_is_marked_and_the_baseline_has_no_interval() -> None:
    scores = {"none": (0, 1), "loud": (1, 0), "worse": (0, 0)}
    rows = [
        row(f"v{at}-{category}", condition, pair[category == MIND], category=category)
        for condition, pair in scores.items()
        for category in (GROUNDING, MIND)
        for at in range(3)
    ]
    section = trade_off.section(given(rows, swept={"loud": "action ≥ 0.1"}))
    found = {line[0]: line for line in words(table(section, "trade_off_1"))}
    assert {name: line[-1] for name, line in found.items()} == {
        "none": "yes",
        "loud": "yes",
        "worse": "no",
    }
    assert found["none"][3] == "–"
    assert (found["loud"][2], found["loud"][5], found["loud"][8]) == (
        "+100.0",
        "−100.0",
        "action ≥ 0.1",
    )


def test_a_gain_that_the_control_shows_too_is_within_noise() -> None:
    rows = [*two([0] * 12, [1] * 12), *(row(f"v{at}", "shuffled", 1) for at in range(12))]
    section = against_controls.section(given(rows, controls={"shuffled": ()}))
    (line,) = words(table(section, "controls"))
    assert (line[0], line[1], line[4], line[-1]) == ("cues", "shuffled", "+0.0", "within noise")


def test_a_control_that_changed_no_prompt_is_told() -> None:
    def told(same: int) -> tuple[list[str], str]:
        rows = two([0] * 12, [1] * 12)
        rows = [replace(r, key=f"{r.condition} {r.video}") for r in rows]
        rows += [
            row(f"v{at}", "shuffled", 1, key=f"cues v{at}" if at < same else f"shuffled v{at}")
            for at in range(12)
        ]
        made = given(rows, controls={"shuffled": ()})
        (line,) = words(table(against_controls.section(made), "controls"))
        section = differences.between(made.outcomes, [("cues", "shuffled")])
        assert section is not None
        return line, section.words[1]

    line, sentence = told(8)
    assert (line[3], line[-1]) == ("8", "within noise")
    assert sentence.endswith("8 of 12 answers are those of cues: the prompt is the same.")
    assert told(12)[0][-1] == "the control changed no prompt"
    assert "prompt is the same" not in told(0)[1]


def test_echoes_stand_beside_the_rate_without_cues() -> None:
    cue = InjectedCue("c", "action", "vomiting", 0.7, right=False)
    rows = [
        row("a-1", score=0, answer="a rope"),
        row("b-1", score=0, answer="he is vomiting"),
        row("a-1", "cues", 0, answer="he vomits", cues=(cue,)),
        row("b-1", "cues", 0, answer="she is vomiting", cues=(cue,)),
    ]
    section = cue_effects.section(given(rows))
    (line,) = words(table(section, "cue_echo"))
    assert (line[1], line[4]) == ("100.0", "50.0")
    assert section is not None
    assert "100.0 % of 2 wrong answers echo a cue, 50.0 % without" in section.words[1]
    assert words(table(section, "effect_of_correctness"))[0][1] == "all wrong"
    assert tradeoff.cue_echo(given(rows).outcomes, "none", "cues").with_cues is not None


# --------------------------------------------------------------------------- other sections


def test_categories_that_are_right_in_the_same_videos_correlate() -> None:
    rows = [
        row(f"v{video}-{name}", score=float(video % 2 == (name == JUDGMENT)), category=name)
        for video in range(8)
        for name in (GROUNDING, MIND, JUDGMENT)
    ]
    section = correlations.section(given(rows))
    assert words(table(section, "correlations")) == [["m", "1.000", "−1.000"]]
    assert table(section, "correlations").columns == ("Model", "ToM", "SJ")


def test_action_words_leave_out_words_for_the_performance() -> None:
    found = dataset.vocabulary(
        ["The mime is pretending he's lifting, lifting a thing.", "Juggling; Portraying a king"]
    )
    assert found.actions == (("lifting", 2), ("juggling", 1))
    assert found.mime == ("portraying", "pretending")
    assert found.others == ("king", "thing")
    assert found.as_published == 4


def test_what_was_asked_is_counted_once_whatever_the_conditions() -> None:
    section = dataset.section(given(two([0, 1, 1], [1, 1, 1], reference="pulling")))
    assert section.words[0] == "3 questions about 3 videos, 1 to 1 of each, 1.0 in the mean."
    assert words(table(section, "dataset")) == [[GROUNDING, "", "3", "3"]]
    assert words(table(section, "action_words")) == [["pulling", "3"]]


def test_tags_are_shared_out_by_condition() -> None:
    rows = two([0, 0, 0, 1], [0, 0, 1, 1])
    tags = {
        ("none", "m", "v0", 0): ("imagined object",),
        ("none", "m", "v1", 0): ("imagined object", "too dark"),
        ("none", "m", "v3", 0): ("social nuance",),
        ("cues", "m", "v0", 0): ("language bias",),
    }
    section = error_sources.section(given(rows, tags=tags))
    found = {(line[0], line[1]): line[2:] for line in words(table(section, "error_sources"))}
    assert found["none", "imagined object"][:2] == ["2", "100.0"]
    assert found["none", "too dark"][:2] == ["1", "50.0"]
    assert found["none", "language bias"][0] == "0"
    assert found["cues", "language bias"][-2:] == ["1", "2"]
    assert section is not None
    assert section.words[1].endswith("left out: 1.")


def test_tags_of_another_study_are_refused() -> None:
    with pytest.raises(BadInput, match="None of the 1 tagged answers"):
        error_sources.section(given([row("a", score=0)], tags={("x", "m", "a", 0): ("t",)}))


def test_vimus_table_has_both_percentages() -> None:
    def task(name: str, score: float | None, **details: Any) -> Outcome:
        facts = {"category": name, "video": "v1", "details": {"task": name, **details}}
        return row(f"v1-{name}", score=score, **facts)

    letters = {"options": ["A", "B"], "gold": ["A"]}
    rows = [
        task("OE", 6 / 9, raw=6, stated=6),
        task("EG", 1, selected=["A"], **letters),
        task("RM", 0, selected=["B"], **letters),
        task("SV", None),
    ]
    section = vimu.section(given(rows))
    assert words(table(section, "vimu_official")) == [
        ["m", "80.00", "100.00", "0.00", "0.00", "0.00", "45.00"]
    ]
    assert words(table(section, "vimu_ours")) == [["m", "66.67", "100.00", "0.00", "–", "–", "–"]]
    assert vimu.section(given([row("a")])) is None


def test_stamps_tell_what_changed_between_runs() -> None:
    first = {"model": "a", "commit": "c" * 40 + "+changes", "packages": {"numpy": "2"}}
    section = stamps.section((first, {**first, "model": "b"}))
    assert "not always with the same: model" in section.words[0]
    assert words(table(section, "stamp_packages")) == [["numpy", "2"]]
    assert stamps.facts((first,)) == ("a", f"commit {'c' * 12} with changes")


def test_a_report_tells_nobody_in_which_folders_the_videos_were() -> None:
    here = {"model": "a", "videos": {"one.mp4": "/home/me/one.mp4"}}
    there = {"model": "a", "videos": {"one.mp4": "/data/one.mp4"}}
    section = stamps.section((here, there))
    assert [each.name for each in section.tables] == ["stamp"]
    assert section.words == ()


# ------------------------------------------------------------------------------ pages and files

EVIL = '</script><img src=x onerror=alert(1)>|=2+2 "q" \x1b[31m'


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "src", "xlink:href"):
                self.links.append(value or "")


def whole() -> Given:
    cue = InjectedCue("c", "speech", EVIL, 0.9)
    rows = [
        row(
            f"v{at}-{category}{EVIL}",
            f"{condition}{EVIL}",
            float((at + len(condition)) % 3 == 0),
            category=category,
            model=EVIL,
            answer=f"$x$ {EVIL}",
            reference=f"lifting {EVIL}",
            cues=(cue,) if condition == "cues" else (),
        )
        for condition in ("none", "cues")
        for category in (GROUNDING, MIND, EVIL)
        for at in range(4)
    ]
    first = rows[0]
    tags = {(first.condition, first.model, row.question, 0): (EVIL,) for row in rows}
    return given(rows, tags=tags, name=EVIL, asked={first.question: EVIL}, stamps=({"a": EVIL},))


def test_nothing_that_a_video_says_becomes_markup() -> None:
    text = page(report(whole()))
    found = Page(text)
    assert not {"img", "script", "iframe"} & set(found.tags)
    assert "\x1b" not in text
    assert all(link.startswith(("#", "data:")) for link in found.links)
    assert len(found.ids) == len(set(found.ids))
    assert "script-src" not in text


def test_drawings_take_every_colour_from_the_page() -> None:
    text = page(report(whole()))
    style, _, body = text.partition("</style>")
    assert "<svg" in body
    assert not re.search(r"#[0-9a-f]{6}\b", body)
    used = set(re.findall(r"var\(--([\w-]+)\)", body))
    assert used
    assert used <= set(re.findall(r"--([\w-]+):", style))
    assert page(report(whole())) == text


def test_markdown_and_csv_keep_their_columns() -> None:
    made = report(whole())
    for line in made.markdown().splitlines():
        if line.startswith("|"):
            assert "<img" not in line
    flips = next(each for each in made.tables if each.name == "flips")
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in flips.markdown().splitlines()[2:5]} == {
        5
    }


def test_csv_holds_whole_numbers_and_no_formulas() -> None:
    line = Table("t", "t", ("=a", "b"), (("=1+1", percent(1 / 3)),)).csv().splitlines()
    assert line == ["'=a,b", "'=1+1,0.3333333333333333"]


@pytest.mark.parametrize(
    ("share", "printed"), [("1/16", "6.3"), ("3/16", "18.8"), ("0", "0.0"), ("1", "100.0")]
)
def test_halves_are_rounded_up(share: str, printed: str) -> None:
    assert str(percent(published.Fraction(share))) == printed


def test_the_tagging_page_holds_every_wrong_answer_as_data() -> None:
    study = whole()
    text = tagging.page(study)
    found = Page(text)
    assert found.tags.count("script") == 2
    assert "img" not in found.tags
    document = re.search(r'id="document">(.*?)</script>', text, re.DOTALL)
    assert document is not None
    data = json.loads(document[1])
    wrong = [each for each in study.outcomes.rows if each.score == 0]
    assert [each["key"][2] for each in data["answers"]] == [each.question for each in wrong]
    assert data["answers"][0]["given"] == [EVIL]


def test_a_missing_extra_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"pip install 'cuelight\[studies\]'"):
        report(given([row("a")]))


def test_a_condition_that_is_not_there_is_named() -> None:
    with pytest.raises(UnknownName, match="nothing"):
        given([row("a")], controls={"nothing": ()})


@pytest.mark.parametrize("make", [report, tagging.page])
def test_one_outcome_is_enough(make: Callable[[Given], Any]) -> None:
    assert make(given([row("a")]))
