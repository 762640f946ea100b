"""``cuelight actions``: how many distinct actions are named over a folder of videos."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perception.cue import CueTimeline, Status
from perception.errors import BadInput, CuelightError
from perception.perceive import Perception, Progress, build_recognizers, perceive
from reasoning.action_counts import PAPER, ActionCounts, action_track, check_counting, count_actions
from reasoning.cli import _output as output
from reasoning.cli._fetching import fetching
from reasoning.cli._terminal import is_utf8, tell

if TYPE_CHECKING:
    from perception.recognizer import Recognizer

ACTION = "action"
CUES = ".cues.json"
VIDEOS = (".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".mpg", ".mpeg", ".ts", ".flv", ".wmv")

BAR = 30


def command(
    corpus: Annotated[
        list[str],
        typer.Argument(help="Folders of videos or of NAME.cues.json, or such files themselves."),
    ],
    threshold: Annotated[
        float, typer.Option(help="Cues that are less sure do not count, in [0, 1].")
    ] = 0.6,
    per: Annotated[float, typer.Option(help="Seconds of the pieces that are counted in.")] = 10.0,
    csv: Annotated[
        Path | None, typer.Option("--csv", help="Also write the histogram as CSV to this file.")
    ] = None,
    force: output.Force = False,
    config: output.Config = None,
    set: output.Set = None,
    json: output.Json = False,
    quiet: output.Quiet = False,
) -> int:
    """Count the distinct actions named over a corpus, with a histogram.

    A video with a NAME.cues.json beside it is not perceived again, unless --force is given; what is
    perceived is kept in the cache. MimeQA's appendix B.1 is this with --config
    mimeqa_posec3d.yaml.

    Copies of a video are counted once.

    Exit code 1 when a track is partial or failed or a file cannot be used; the others are counted
    all the same. Exit code 2 when no file can be used.
    """
    from reasoning.config import load

    check_counting(threshold, per)
    settings = load(config, set or ())
    (recognizer,) = build_recognizers({ACTION: settings.recognizers.get(ACTION)})
    files = _files(corpus, force)
    seen = _seen(files, recognizer, force, quiet)
    counts = count_actions(
        list(seen.timelines.values()), threshold=threshold, per_s=per, known=_known(recognizer)
    )
    if csv is not None:
        _write_csv(csv, counts)
    if json:
        output.emit(_document(counts, seen))
    else:
        _tell(counts)
        _tell_of_files(seen)
    return int(bool(seen.partial or seen.faults)) if seen.timelines else 2


@dataclass(frozen=True, slots=True)
class _Seen:
    """What was made of the files.

    Args:
        timelines: of each video once, by its file.
        copies: file -> the file of the same video that is counted in its place.
        faults: file -> why it cannot be used.
        partial: file -> what its track lacks.
    """

    timelines: dict[Path, CueTimeline] = field(default_factory=dict)
    copies: dict[Path, Path] = field(default_factory=dict)
    faults: dict[Path, str] = field(default_factory=dict)
    partial: dict[Path, str] = field(default_factory=dict)

    def add(self, file: Path, timeline: CueTimeline) -> None:
        """Take the timeline of a file; raises as ``action_track``."""
        track = action_track(timeline)
        for other, known in self.timelines.items():
            if known.video.sha256 == timeline.video.sha256:
                self.copies[file] = other
                return
        if track.status in (Status.PARTIAL, Status.FAILED):
            self.partial[file] = f"{track.status}: {' '.join(track.notes)}"
        self.timelines[file] = timeline


def _files(corpus: Sequence[str], force: bool) -> list[Path]:
    """What to look at: every video once, by its cues file where it has one."""
    found: list[Path] = []
    for name in corpus:
        output.refuse_address(name)
        each = Path(name)
        if not each.exists():
            raise BadInput(f"There is no {name!r}.")
        inside = sorted(each.rglob("*")) if each.is_dir() else [each]
        files = [f for f in inside if f.is_file() and (each.is_file() or _is_taken(f))]
        if not files:
            raise BadInput(f"{name!r} holds no video ({', '.join(VIDEOS)}) and no NAME{CUES}.")
        found += files
    videos = {f.with_suffix("") for f in found if not f.name.endswith(CUES)}
    cues = {f.with_name(f.name.removesuffix(CUES)) for f in found if f.name.endswith(CUES)}
    shadowed = videos & cues
    left_out = {f for f in found if _stem(f) in shadowed and f.name.endswith(CUES) == force}
    return [f for f in dict.fromkeys(found) if f not in left_out]


def _stem(file: Path) -> Path:
    return file.with_name(file.name.removesuffix(CUES) if file.name.endswith(CUES) else file.stem)


def _is_taken(file: Path) -> bool:
    from reasoning.viewer.playable import is_proxy

    if file.name.endswith(CUES):
        return True
    return file.suffix.lower() in VIDEOS and not is_proxy(file)


def _known(recognizer: Recognizer) -> set[str]:
    labels = getattr(getattr(recognizer, "classifier", None), "labels", None)
    if labels is None:
        return set()
    return {name for i, name in enumerate(labels.names) if i != labels.none}


def _seen(files: Sequence[Path], recognizer: Recognizer, force: bool, quiet: bool) -> _Seen:
    """Read the cues files, perceive the videos."""
    seen = _Seen()
    if any(not file.name.endswith(CUES) for file in files):
        from perception import weights

        with fetching(quiet) as on_fetch:
            weights.fetch(recognizer.weights, on_fetch)
    with output.progress(quiet) as on_progress:
        for number, file in enumerate(files):

            def show(step: Progress, done: int = number, name: str = file.name) -> None:
                share = min(step.done_s / step.total_s, 1.0) if step.total_s else 0.0
                if on_progress is not None:
                    stage = f"{name} ({done + 1} of {len(files)})"
                    on_progress(Progress(stage, done + share, len(files)))

            show(Progress("", 0, 0))
            try:
                if file.name.endswith(CUES):
                    timeline = CueTimeline.read(file)
                else:
                    timeline = _perceived(file, recognizer, force, show).timeline
                seen.add(file, timeline)
            except CuelightError as error:
                seen.faults[file] = str(error)
    return seen


def _perceived(file: Path, recognizer: Recognizer, force: bool, show: Any) -> Perception:
    return perceive(file, (recognizer,), only=(ACTION,), force=force, on_progress=show)


def _document(counts: ActionCounts, seen: _Seen) -> dict[str, Any]:
    return {
        "distinct": len(counts.actions),
        "possible": counts.possible,
        "mean_in_piece": round(counts.mean_in_piece, 3),
        **asdict(counts),
        "copies": [{"file": str(file), "of": str(other)} for file, other in seen.copies.items()],
        "faults": [{"file": str(file), "error": why} for file, why in seen.faults.items()],
        "partial": [{"file": str(file), "note": why} for file, why in seen.partial.items()],
    }


def _write_csv(path: Path, counts: ActionCounts) -> None:
    from perception.whole import write_whole

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["label", "pieces", "videos", "cues", "seconds"])
    writer.writerows([[*asdict(each).values()] for each in counts.actions])
    write_whole(path, text.getvalue().encode())


def _tell(counts: ActionCounts) -> None:
    most = max((each.pieces for each in counts.actions), default=1)
    width = max((len(each.label) for each in counts.actions), default=0)
    block = "█" if is_utf8() else "#"
    for each in counts.actions:
        bar = block * max(1, round(BAR * each.pieces / most))
        videos = output.counted(each.videos, "video")
        tell(f"{each.label:<{width}}  {bar:<{BAR}}  {each.pieces} in {videos}")
    of = f" of {counts.possible}" if counts.possible else ""
    tell(
        f"Distinct actions at {counts.threshold:g}: {len(counts.actions)}{of}; in a piece of "
        f"{counts.per_s:g} s {counts.mean_in_piece:.2f} in the mean "
        f"(pieces: {counts.pieces}, videos: {counts.videos})."
    )
    inside = ", ".join(f"{n}: {count}" for n, count in counts.distinct_in_piece.items())
    tell(f"Pieces by how many actions they have: {inside or 'none'}.")
    tell(f"For comparison: {PAPER}.")


def _tell_of_files(seen: _Seen) -> None:
    for file, other in seen.copies.items():
        tell(f"{file}: not counted, it is of the same video as {other}", err=True)
    for file, why in seen.partial.items():
        tell(f"{file}: {why}", err=True)
    for file, why in seen.faults.items():
        tell(f"Error: {file}: {why}", err=True)
