"""``cuelight text-split``: which videos of a corpus hold text that means something."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from perception.errors import BadInput
from reasoning.cli import _output as output
from reasoning.cli._terminal import tell

if TYPE_CHECKING:
    from perception.cue import CueTimeline, CueTrack, VideoInfo
    from reasoning.cli._perceiving import Perceiver
    from reasoning.config import Config

_SUFFIXES = frozenset(
    {".3gp", ".avi", ".flv", ".m4v", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg"}
    | {".mts", ".ogv", ".ts", ".webm", ".wmv"}
)
_CUES = ".cues.json"
_KIND = "screen_text"


def command(
    corpus: Annotated[
        list[str], typer.Argument(help="Videos, NAME.cues.json files, or folders of them.")
    ],
    review: Annotated[
        Path, typer.Option(help="The table (CSV) in which a person says which texts count.")
    ] = Path("text-review.csv"),
    config: output.Config = None,
    set: output.Set = None,
    json: output.Json = False,
    quiet: output.Quiet = False,
) -> int:
    """Split videos into those with and those without text that means something (MimeQA, Table 4).

    Writes a table of all texts that were read. Fill in its column "meaningful" with yes or no and
    run the command again: verdicts are kept, and decide. Until then every text counts but
    watermarks. Where NAME.review.json lies beside a file, its texts are read as they were corrected
    on the timeline page. Exit code 1 when a video stays undecided because it could not be read
    whole, 2 when a file cannot be used; the others are split all the same.
    """
    from perception.text.review import read_review, updated, verdicts_of, write_review
    from perception.text.split import split_by_text
    from reasoning.config import load

    settings = load(config, set or ())
    earlier = read_review(review)
    videos, unusable = _read(_files(corpus, quiet), settings, quiet)
    rows = updated(earlier, videos)
    write_review(review, rows)
    split = split_by_text(videos, verdicts_of(rows))
    code = 2 if unusable else int(bool(split.undecided))
    if json:
        output.emit({**asdict(split), "unusable": unusable, "review": str(review)})
        return code
    for title, names in (
        ("With text", split.with_text),
        ("Without text", split.without_text),
        ("Undecided, not read whole", split.undecided),
    ):
        tell(f"{title}: {len(names)}")
        for name in names:
            tell(f"  {name}{' (not reviewed)' if name in split.unreviewed else ''}")
    if split.unreviewed:
        tell(f"Resting on texts that nobody has looked at: {len(split.unreviewed)}")
    tell(f"Wrote {review}")
    return code


def _files(corpus: list[str], quiet: bool) -> list[Path]:
    """The videos and timelines meant; a timeline beside its video is left to the video."""
    from reasoning.viewer.playable import is_proxy

    files: list[Path] = []
    for name in corpus:
        path = output.video_path(name, quiet, or_cues=True)
        if path.is_dir():
            inside = sorted(each for each in path.iterdir() if each.is_file())
            videos = [
                each for each in inside if each.suffix.lower() in _SUFFIXES and not is_proxy(each)
            ]
            stems = {each.stem for each in videos}
            files += videos
            files += [
                each
                for each in inside
                if each.name.endswith(_CUES) and each.name.removesuffix(_CUES) not in stems
            ]
        else:
            files.append(path)
    if not files:
        raise BadInput(
            f"There is neither a video ({', '.join(sorted(_SUFFIXES))}) nor a NAME{_CUES} in "
            f"{', '.join(map(repr, corpus))}."
        )
    return files


def _read(
    files: list[Path], settings: Config, quiet: bool
) -> tuple[list[tuple[VideoInfo, CueTrack]], list[str]]:
    """What each file holds and its screen text, every video once; and the files without use."""
    from reasoning.cli._perceiving import Perceiver

    perceiver = Perceiver(settings, [_KIND], quiet)
    found: dict[str, tuple[VideoInfo, CueTrack]] = {}
    unusable = []
    for path in files:
        try:
            video, track = _screen_text(path, perceiver)
        except BadInput as mistake:
            tell(f"Error: {mistake}", err=True)
            unusable.append(str(path))
            continue
        same = found.setdefault(video.sha256, (video, track))
        if same[0] is not video:
            tell(f"{path} is the same video as {same[0].name}.", err=True)
    return list(found.values()), unusable


def _screen_text(path: Path, perceiver: Perceiver) -> tuple[VideoInfo, CueTrack]:
    from perception.cue import CueTimeline

    if path.name.endswith(_CUES):
        timeline = CueTimeline.read(path)
    else:
        timeline = perceiver.perceive(path).timeline
    track = timeline.track(_KIND)
    if track is None:
        raise BadInput(
            f"{str(path)!r} has no screen text track, only "
            f"{', '.join(each.id for each in timeline.tracks) or 'none at all'}. Make it with: "
            f"cuelight perceive VIDEO --only {_KIND}"
        )
    return timeline.video, _corrected(path, timeline, track)


def _corrected(path: Path, timeline: CueTimeline, track: CueTrack) -> CueTrack:
    """With what a person corrected on the timeline page, where ``NAME.review.json`` is there."""
    from reasoning.tools.labelled import review_path
    from reasoning.tools.review import aside_words, of, reviewed_track

    file = review_path(path if path.name.endswith(_CUES) else path.with_suffix(_CUES))
    review = of(file, timeline.video)
    if review is None:
        return track
    aside = review.aside(timeline)
    if count := sum(len(aside.get(cue.id, ())) for cue in track.cues):
        tell(aside_words(file.name, count), err=True)
    return reviewed_track(track, review)
