"""What was asked: questions by category and video (MimeQA's Figure 4) and the action words of the
reference answers (its Appendix B.1)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reasoning.reports import plots
from reasoning.reports.given import Given, sorted_categories
from reasoning.reports.table import Plot, Section, Table, count, counted
from reasoning.results.outcomes import Outcome

__all__ = ["MIME_WORDS", "NO_ACTIONS", "Vocabulary", "section", "vocabulary"]

MIME_WORDS = frozenset(
    (
        *("acting", "demonstrating", "depicting", "enacting", "gesturing", "imagining"),
        *("imitating", "impersonating", "indicating", "mimicking", "miming", "performing"),
        *("portraying", "pretending", "representing", "showing", "simulating", "symbolizing"),
    )
)
"""Words for the performance itself, which B.1 leaves out; it names "pretending" and "portraying",
the others are ours."""

NO_ACTIONS = frozenset(
    (
        *("anything", "building", "ceiling", "clothing", "during", "earring", "evening"),
        *("everything", "king", "morning", "nothing", "railing", "ring", "something", "spring"),
        *("string", "thing", "wedding", "wing"),
    )
)
"""Words that end so without being actions. B.1 does not say that it left them out."""

_ING = re.compile(r"[^\W\d_]+ing\b", re.IGNORECASE)
_SHOWN = 30
_PAPER = "The paper found 68 in MimeQA."


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words that end in "-ing".

    Args:
        actions: how often each occurs, most often first.
        mime: words for the performance, left out.
        others: words that are no actions, left out of ``actions`` too.
    """

    actions: tuple[tuple[str, int], ...]
    mime: tuple[str, ...]
    others: tuple[str, ...]

    @property
    def as_published(self) -> int:
        """Distinct words without those for the performance: the number that B.1 gives."""
        return len(self.actions) + len(self.others)


def vocabulary(references: Iterable[str]) -> Vocabulary:
    """The action words of reference answers."""
    words = Counter(word.lower() for text in references for word in _ING.findall(text))
    kept = Counter({w: n for w, n in words.items() if w not in MIME_WORDS | NO_ACTIONS})
    ordered = sorted(kept.items(), key=lambda item: (-item[1], item[0]))
    return Vocabulary(
        tuple(ordered),
        tuple(sorted(words.keys() & MIME_WORDS)),
        tuple(sorted(words.keys() & NO_ACTIONS)),
    )


def section(given: Given) -> Section:
    """Counts, drawings, and the words."""
    questions = list({row.question: row for row in given.outcomes.rows}.values())
    per_video = Counter(row.video or row.question for row in questions)
    categories = sorted_categories(given.outcomes)
    by_category = Counter(row.category for row in questions)
    words = [
        f"{counted(len(questions), 'question')} about {counted(len(per_video), 'video')}, "
        f"{min(per_video.values())} to {max(per_video.values())} of each, "
        f"{len(questions) / len(per_video):.1f} in the mean."
    ]
    tables = [_counts(questions, categories)]
    drawn = [
        Plot(
            "questions_per_category",
            "Questions in each category",
            plots.bars([(c or "none", by_category[c]) for c in categories], "Questions"),
            "; ".join(f"{category} {by_category[category]}" for category in categories),
        ),
        Plot(
            "questions_per_video",
            "Questions about each video",
            plots.histogram(list(per_video.values()), "Questions about a video", "Videos"),
            "; ".join(
                f"{number}: {counted(videos, 'video')}"
                for number, videos in sorted(Counter(per_video.values()).items())
            ),
        ),
    ]
    grounding = [row.reference for row in questions if row.category in given.split.grounding]
    found = vocabulary(grounding)
    if found.actions:
        words.append(_told(found))
        tables.append(_words(found))
        drawn.append(_most_frequent(found))
    return Section("dataset", "What was asked", tuple(words), tuple(tables), tuple(drawn))


def _told(found: Vocabulary) -> str:
    told = (
        f"The reference answers on grounding hold {found.as_published} different words that end in "
        f"“-ing”, without those for the performance ({', '.join(found.mime) or 'there are none'}). "
        f"{_PAPER}"
    )
    if found.others:
        only = ", ".join(found.others)
        told += f" {len(found.actions)} of them are actions; not actions: {only}."
    return told


def _counts(questions: Sequence[Outcome], categories: Sequence[str]) -> Table:
    body = []
    for category in categories:
        inside = [row for row in questions if row.category == category]
        videos = {row.video for row in inside}
        level = next((row.level for row in inside if row.level), "")
        body.append((category or "none", level, count(len(inside)), count(len(videos))))
    return Table(
        "dataset",
        "Questions by category",
        ("Category", "Level", "Questions", "Videos"),
        tuple(body),
    )


def _words(found: Vocabulary) -> Table:
    body = tuple((word, count(times)) for word, times in found.actions)
    return Table("action_words", "Action words", ("Word", "Occurs"), body, folded=True)


def _most_frequent(found: Vocabulary) -> Plot:
    most = found.actions[:_SHOWN]
    title = "The action words that occur most often in reference answers on grounding"
    told = "; ".join(f"{word} {times}" for word, times in most)
    return Plot("action_words", title, plots.bars(most, "Occurs"), told)
