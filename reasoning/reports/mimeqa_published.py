"""What MimeQA's paper prints (Li et al., 2025), and which right answers stand behind it.

A cell of 75 to 174 questions at one decimal allows one count: the counts behind Table 1 follow
from the table. Four cells come from no count by rounding: they were cut off after one decimal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from reasoning.reports.given import SHORT
from reasoning.reports.table import percent

__all__ = ["QUESTIONS", "TABLE_1", "TABLE_2", "TABLE_4", "TABLE_5", "TABLE_6", "TABLE_7", "TABLE_8"]
__all__ += ["Cut", "counts", "cut_cells", "truncated"]

QUESTIONS = dict(zip(SHORT.values(), (137, 158, 174, 98, 75, 87, 77), strict=True))
"""Of each category; 806 in all."""

TABLE_1: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("Qwen2.5-VL", "VL"): ("20.1", "6.6", "15.8", "23.6", "14.3", "38.7", "33.3", "19.4"),
    ("Qwen2.5-VL", "L"): ("13.2", "9.5", "8.9", "14.4", "6.1", "29.3", "18.4", "13.0"),
    ("LLaVA-Video", "VL"): ("19.4", "9.5", "13.3", "25.9", "8.2", "26.7", "39.1", "19.5"),
    ("LLaVA-Video", "L"): ("17.2", "7.3", "13.3", "23.6", "11.2", "26.7", "25.3", "18.2"),
    ("InternVL2.5", "VL"): ("21.6", "7.3", "22.2", "28.2", "15.3", "32.0", "33.3", "15.6"),
    ("InternVL2.5", "L"): ("20.6", "5.8", "17.1", "25.9", "12.2", "32.0", "43.7", "15.6"),
    ("VideoLLaMA3", "VL"): ("22.2", "7.3", "13.3", "34.5", "13.3", "41.3", "31.0", "22.1"),
    ("VideoLLaMA3", "L"): ("19.5", "9.5", "12.0", "24.7", "12.2", "36.0", "31.0", "20.8"),
    ("GPT-4o", "VL"): ("31.3", "19.0", "28.5", "29.9", "30.6", "45.3", "43.7", "35.1"),
    ("GPT-4o", "L"): ("18.1", "6.5", "14.6", "22.4", "10.2", "32.0", "33.3", "15.6"),
    ("Gemini-1.5-Pro", "VL"): ("30.6", "20.4", "22.8", "34.5", "30.6", "42.7", "40.2", "33.7"),
    ("Gemini-1.5-Pro", "L"): ("13.3", "5.8", "10.8", "17.2", "8.2", "20.0", "23.0", "11.7"),
    ("Gemini-2.5-Pro", "VL"): ("38.3", "28.4", "31.6", "43.7", "28.6", "54.7", "51.7", "39.0"),
    ("Gemini-2.5-Pro", "L"): ("15.5", "4.4", "10.8", "19.5", "12.2", "32.0", "25.3", "13.0"),
    ("Human", "VL"): ("86.0", "89.8", "87.3", "83.9", "88.8", "93.3", "80.5", "76.6"),
}
"""Model and input -> the average, then the categories in the order of ``QUESTIONS``."""

TABLE_2 = {
    "Qwen2.5-VL": ("22.5", "7.1", "18.8", "16.7", "17.4", "44.4", "47.4", "23.5"),
    "Qwen2.5-FT": ("26.6", "7.1", "28.1", "19.4", "17.4", "55.6", "31.6", "47.1"),
}
"""Of the held-out fifth, whose counts are not printed."""

TABLE_4 = {
    "Qwen2.5-VL": ("24.6", "15.5"),
    "LLaVA-Video": ("19.2", "19.5"),
    "InternVL2.5": ("22.9", "20.3"),
    "VideoLLaMA3": ("27.1", "17.3"),
    "GPT-4o": ("37.9", "24.5"),
    "Gemini-1.5-Pro": ("35.2", "26.0"),
    "Gemini-2.5-Pro": ("44.8", "31.8"),
}
"""With text, without text."""

TABLE_5 = {
    "Qwen2.5-VL (with title)": ("24.3", "10.2", "21.5", "21.8", "20.4", "45.3", "36.8", "31.2"),
    "Qwen2.5-VL (without title)": ("20.1", "6.6", "15.8", "23.6", "14.3", "38.7", "33.3", "19.4"),
}

TABLE_6 = {
    "Qwen2.5-VL": ("20.1", "22.2"),
    "LLaVA-Video": ("19.4", "17.7"),
    "InternVL2.5": ("21.6", "18.7"),
    "VideoLLaMA3": ("22.2", "17.7"),
    "GPT-4o": ("31.3", "29.5"),
}
"""Without and with chain of thought."""

TABLE_7 = {
    "Qwen2.5-VL": ("-0.091", "-0.013", "0.330", "0.003", "0.030", "0.132"),
    "LLaVA-Video": ("-0.040", "0.329", "-0.106", "0.228", "0.129", "-0.050"),
    "GPT-4o": ("-0.122", "0.179", "-0.040", "0.163", "-0.014", "-0.156"),
    "Gemini-1.5-Pro": ("0.146", "-0.053", "0.301", "-0.088", "0.313", "0.302"),
}
"""Correlation of Grounding the Imagined with the six others."""

TABLE_8 = {
    "GPT-4o": TABLE_1["GPT-4o", "VL"],
    "Gemini-2.5-Pro": TABLE_1["Gemini-2.5-Pro", "VL"],
    "GPT-o3": ("34.4", "13.1", "32.3", "32.2", "34.7", "62.7", "44.8", "41.6"),
    "Human": TABLE_1["Human", "VL"],
}


@dataclass(frozen=True, slots=True)
class Cut:
    """A cell of the paper that no count gives by rounding.

    Args:
        model, source: its row.
        category: its column.
        printed: as published.
        right, n: the count that gives it by cutting off.
    """

    model: str
    source: str
    category: str
    printed: str
    right: int
    n: int

    @property
    def words(self) -> str:
        """In a sentence."""
        exact = percent(Fraction(self.right, self.n), 2)
        rounded = percent(Fraction(self.right, self.n))
        return (
            f"{self.model} {self.source}, {self.category}: the paper prints {self.printed}; "
            f"{self.right} of {self.n} is {exact}, which rounds to {rounded}."
        )


def truncated(right: int, n: int) -> str:
    """A percentage cut off after one decimal."""
    return str(Decimal(1000 * right // n) / 10)


def counts(printed: str, n: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The numbers of right answers of ``n`` that give ``printed`` by rounding, and by cutting."""
    everything = range(n + 1)
    rounding = tuple(k for k in everything if str(percent(Fraction(k, n))) == printed)
    cutting = tuple(k for k in everything if Decimal(truncated(k, n)) == Decimal(printed))
    return rounding, cutting


def right_answers(cells: Sequence[str]) -> tuple[int, ...]:
    """How many answers of each category stand behind a row, average left out."""
    found = []
    for printed, n in zip(cells[1:], QUESTIONS.values(), strict=True):
        rounding, cutting = counts(printed, n)
        found.append((rounding or cutting)[0])
    return tuple(found)


def cut_cells() -> tuple[Cut, ...]:
    """The cells of Tables 1, 5 and 8 that were cut off, each once."""
    rows = {**TABLE_1}
    rows |= {("Qwen2.5-VL with title", "VL"): TABLE_5["Qwen2.5-VL (with title)"]}
    rows |= {("GPT-o3", "VL"): TABLE_8["GPT-o3"]}
    found = []
    for (model, source), cells in rows.items():
        for (category, n), printed in zip(QUESTIONS.items(), cells[1:], strict=True):
            rounding, cutting = counts(printed, n)
            if not rounding and cutting:
                found.append(Cut(model, source, category, printed, cutting[0], n))
    return tuple(found)
