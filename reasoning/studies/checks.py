"""What must hold before anybody is asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from perception.errors import BadInput
from reasoning.benchmark import Item
from reasoning.records import Records
from reasoning.studies.gold import gold_file, gold_tracks
from reasoning.study import Arm, Study, is_grounding
from reasoning.videollm import VideoLLM

__all__ = ["check", "of_one_study"]


def of_one_study(study: Study, records: Records) -> None:
    """See that the records are those of the study, whose tables would hide another's.

    Raises:
        BadInput: they hold another study.
    """
    held = {str(stamp["study"]) for stamp in records.stamps() if "study" in stamp}
    if held and study.name not in held:
        raise BadInput(
            f"{str(records.path)!r} holds the study {', '.join(sorted(held))}; give {study.name!r} "
            f"another file with --records. (A study that was renamed keeps its records with "
            f"'name: {sorted(held)[-1]}' in its YAML.)"
        )


def check(study: Study, items: Sequence[Item], llm: VideoLLM) -> None:
    """See that all conditions ask ``items``, and have what they show and tell.

    Raises:
        BadInput: a condition asks something else, a video or gold cues that it needs are missing,
            or there is no *Grounding* question whose answer an oracle could give away.
    """
    for arm in study.arms:
        _same_questions(arm, items)
        if arm.kinds or (arm.condition.video and llm.sampling is not None):
            _has_videos(arm, items)
        if arm.gold is not None:
            _has_gold(arm, arm.gold, items)
        if arm.condition.oracle and not any(map(is_grounding, arm.benchmark.items())):
            raise BadInput(
                f"The condition {arm.name!r} gives away the answers of Grounding questions, and "
                f"{arm.benchmark.name} has none; its categories are "
                f"{', '.join(arm.benchmark.categories) or 'not told'}."
            )


def _same_questions(arm: Arm, items: Sequence[Item]) -> None:
    for item in items:
        if item.question.id not in arm.items:
            raise BadInput(
                f"The condition {arm.name!r} does not ask {item.question.id!r}; all conditions "
                "of a study ask the same questions. Make two studies of it."
            )


def _has_videos(arm: Arm, items: Sequence[Item]) -> None:
    wanted = {item.video: item for item in items if item.video}
    missing = [name for name, each in wanted.items() if arm.benchmark.video(each) is None]
    if missing:
        raise BadInput(
            f"{len(missing)} of {len(wanted)} videos are missing, e.g. {missing[0]!r}, and the "
            f"condition {arm.name!r} needs them. cuelight benchmark check {arm.benchmark.name} "
            "FOLDER names them; categories and videos of a study choose questions."
        )


def _has_gold(arm: Arm, folder: Path, items: Sequence[Item]) -> None:
    wanted = dict.fromkeys(gold_file(folder, item.video) for item in items if item.video)
    missing = [path for path in wanted if not path.is_file()]
    if missing:
        raise BadInput(
            f"{len(missing)} of {len(wanted)} files of gold cues are missing, e.g. "
            f"{str(missing[0])!r}, and the condition {arm.name!r} needs them. cuelight import-cues "
            "makes such files; categories and videos of a study choose questions."
        )
    for path in wanted:
        gold_tracks(path, arm.tells)
