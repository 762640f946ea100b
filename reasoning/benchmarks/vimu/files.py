"""ViMU's published files as items: one for each task of each video."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fusion.question import Question
from perception.errors import BadInput
from reasoning import published
from reasoning.benchmark import Fault, Item

__all__ = ["EVIDENCE", "FILES", "LEVELS", "SOURCE", "TASKS", "VIDEOS", "Places", "items", "missing"]

SOURCE = (
    "ViMU is LIQIIIII/ViMU on Hugging Face; its code is "
    "github.com/LiQiiiii/Video-Metaphorical-Understanding."
)

TASKS = ("OE", "EG", "RM", "SV")
"""Open-ended interpretation, evidence grounding, rhetoric mechanisms, social value signals."""

LEVELS = {"OE": "Interpretation", "EG": "Evidence", "RM": "Subtext", "SV": "Subtext"}

FILES = {"OE": "vimu_oe.jsonl", "EG": "vimu_eg.jsonl", "RM": "vimu_ss.jsonl", "SV": "vimu_ss.jsonl"}
EVIDENCE = "video_evidence.jsonl"
VIDEOS = "videos"

_SUBTEXT = {"RM": "rhetoric", "SV": "social"}
"""What the names of the tasks in ``vimu_ss.jsonl`` hold; the published code asks for the first."""

_GOLD = ("correct_options", "ground_truth", "answer")
"""Where the right letters of evidence grounding may stand, in the order of the published code."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where the published files lie: in ``metadata``, as in the repository, or in the folder."""

    folder: Path

    def of(self, name: str) -> Path:
        """The path of a file."""
        inside = self.folder / "metadata" / name
        beside = self.folder / name
        return beside if beside.is_file() and not inside.is_file() else inside

    @property
    def videos(self) -> Path:
        """The folder of the videos."""
        return self.folder / VIDEOS


def missing(places: Places, tasks: tuple[str, ...], transcript: bool) -> Iterator[Fault]:
    """The published files that are not there."""
    needed = dict.fromkeys(FILES[task] for task in tasks)
    for name in [*needed, *([EVIDENCE] if transcript else [])]:
        if not places.of(name).is_file():
            yield Fault(f"metadata/{name}", SOURCE)


def items(places: Places, tasks: tuple[str, ...], transcript: bool) -> Iterator[Item]:
    """All items of ``tasks``, task by task in the order of the files.

    Args:
        transcript: put the published transcript into ``details``, empty where a video has none.

    Raises:
        BadInput: a file is missing or not in the published format.
    """
    heard = _transcripts(places) if transcript else {}
    readers = {"OE": _open, "EG": _grounding, "RM": _subtext, "SV": _subtext}
    for task in tasks:
        path, seen = places.of(FILES[task]), set[str]()
        for where, row in published.json_lines(path, ("video_id",), SOURCE):
            video = published.field(where, row, "video_id")
            if video in seen:
                raise BadInput(f"{where}: {video} stands in the file twice.")
            seen.add(video)
            question, reference, details = readers[task](where, row, task)
            if transcript:
                details["transcript"] = heard.get(video, "")
            yield Item(
                Question(question, id=f"vimu/{task}/{video}"),
                f"{video}.mp4",
                reference,
                category=task,
                level=LEVELS[task],
                details={"task": task, **details},
            )


Read = tuple[str, str, dict[str, Any]]
"""Question, reference and details."""


def _open(where: str, row: dict[str, Any], task: str) -> Read:
    del task
    asked = _object(where, row, "qa")
    meant = _object(where, row, "taxonomy") if row.get("taxonomy") else {}
    details = {
        "rubric": asked.get("rubric") or {},
        "difficulty": asked.get("difficulty") or "",
        "evidence": meant.get("evidence") or [],
        "intended_meaning": meant.get("intended_meaning") or "",
        "literal_summary": meant.get("literal_summary") or "",
    }
    where = f"{where}, qa"
    return _words(where, asked, "question"), _words(where, asked, "answer"), details


def _grounding(where: str, row: dict[str, Any], task: str) -> Read:
    del task
    name = next((name for name in _GOLD if name in row), None)
    if name is None:
        raise BadInput(f"{where}: there is none of {', '.join(_GOLD)}; it has {', '.join(row)}.")
    options = _options(where, row)
    details = {
        "options": options,
        "gold": _letters(where, row, name, options),
        "instruction": row.get("instruction") or "",
        "open_ended_question": row.get("open_ended_question") or "",
    }
    return _words(where, row, "question"), _right(details), details


def _subtext(where: str, row: dict[str, Any], task: str) -> Read:
    blocks = _object(where, row, "mcq_tasks")
    names = [name for name in blocks if _SUBTEXT[task] in name.lower()]
    if len(names) != 1:
        raise BadInput(
            f"{where}: mcq_tasks must have one task with {_SUBTEXT[task]!r} in its name; it has "
            f"{', '.join(blocks) or 'none'}."
        )
    where, block = f"{where}, {names[0]}", _object(where, blocks, names[0])
    options = _options(where, block)
    details = {
        "name": names[0],
        "options": options,
        "gold": _letters(where, block, "ground_truth", options),
        "labels": list(block.get("ground_truth_labels") or []),
        "instruction": block.get("instruction") or "",
    }
    return _words(where, block, "question"), _right(details), details


def _options(where: str, row: dict[str, Any]) -> dict[str, str]:
    """By letter: the words, with the label behind them where there is one."""
    options = {}
    for name, value in _object(where, row, "options").items():
        if isinstance(value, dict):
            label = str(value.get("label") or "")
            value = f"{value.get('text') or label} ({label})" if label else value.get("text")
        if not isinstance(value, str) or not value.strip():
            raise BadInput(
                f"{where}: option {name} must be words or label and text, not {value!r}."
            )
        options[name.strip()] = value.strip()
    return options


def _letters(where: str, row: dict[str, Any], name: str, options: Mapping[str, str]) -> list[str]:
    """The right letters, without repeats."""
    value = row.get(name)
    if not isinstance(value, list):
        raise BadInput(f"{where}: {name} must be a list of letters, not {value!r}.")
    letters = list(dict.fromkeys(str(each).strip() for each in value))
    if unknown := [each for each in letters if each not in options]:
        raise BadInput(
            f"{where}: {name} names {', '.join(unknown)}; the options are {', '.join(options)}."
        )
    return letters


def _right(details: Mapping[str, Any]) -> str:
    options = details["options"]
    return "; ".join(f"{letter}. {options[letter]}" for letter in details["gold"])


def _words(where: str, row: dict[str, Any], name: str) -> str:
    if name not in row:
        raise BadInput(f"{where}: there is no {name}; it has {', '.join(row)}.")
    return published.field(where, row, name)


def _object(where: str, row: dict[str, Any], name: str) -> dict[str, Any]:
    value = row.get(name)
    if not isinstance(value, dict):
        raise BadInput(f"{where}: {name} must be an object, not {value!r}.")
    return value


def _transcripts(places: Places) -> dict[str, str]:
    rows = published.json_lines(places.of(EVIDENCE), ("video_id",), SOURCE)
    return {str(row["video_id"]): str(row.get("transcript") or "").strip() for _, row in rows}
