"""``cuelight perceive``: watch and listen, write ``NAME.cues.json`` and ``NAME.traces.npz``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from perception.cue import Span
from perception.errors import BadInput
from perception.perceive import Perception
from reasoning.cli import _output as output
from reasoning.cli._folders import check_folder
from reasoning.cli._perceiving import Perceiver, save_perception, tell_tracks
from reasoning.cli._terminal import tell


def command(
    videos: Annotated[
        list[str], typer.Argument(help="Videos or audio files; the word sample = the sample clip.")
    ],
    out: output.Out = output.HERE,
    only: output.Only = None,
    start: output.From = None,
    end: output.To = None,
    force: output.Force = False,
    config: output.Config = None,
    set: output.Set = None,
    json: output.Json = False,
    quiet: output.Quiet = False,
) -> int:
    """Turn videos into cue timelines: NAME.cues.json and NAME.traces.npz.

    Exit code 1 when a track is partial or failed; the other tracks are written all the same.
    Exit code 2 when one of the videos cannot be used; the other videos are perceived all the same.
    """
    from reasoning.config import load

    settings = load(config, set or ())
    span = output.span_of(start, end)
    _refuse_one_name_for_two(videos)
    check_folder(out)
    perceiver = Perceiver(settings, only or (), quiet)
    partial = unusable = False
    documents: list[dict[str, Any]] = []
    for name in videos:
        try:
            perception, files = _perceived(perceiver, name, span, out, force, quiet)
        except BadInput as mistake:
            tell(f"Error: {mistake}", err=True)
            unusable = True
            documents.append({"video": name, "error": str(mistake)})
            continue
        partial |= perception.is_partial
        documents.append(_document(name, perception, files))
        if not json:
            if len(videos) > 1:
                tell(f"{name}:")
            tell_tracks(perception, files)
    if json:
        output.emit(documents)
    return 2 if unusable else int(partial)


def _perceived(
    perceiver: Perceiver, name: str, span: Span | None, out: Path, force: bool, quiet: bool
) -> tuple[Perception, tuple[Path, ...]]:
    """What is perceived of a video, and the files that it is written into."""
    path = output.video_path(name, quiet)
    perception = perceiver.perceive(path, span, force)
    return perception, save_perception(perception, output.output_stem(out, path, span))


def _document(name: str, perception: Perception, files: Sequence[Path]) -> dict[str, Any]:
    return {
        "video": name,
        "tracks": {track.id: track.status for track in perception.timeline.tracks},
        "files": [str(file) for file in files],
    }


def _refuse_one_name_for_two(videos: list[str]) -> None:
    """See that no video's files would replace another's."""
    taken: dict[str, str] = {}
    for name in videos:
        other = taken.setdefault(Path(name).stem, name)
        if other != name:
            raise BadInput(
                f"{other!r} and {name!r} would both write {Path(name).stem}.cues.json. "
                "Perceive them one after the other, each with an --out folder of its own."
            )
