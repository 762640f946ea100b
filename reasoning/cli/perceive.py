"""``cuelight perceive``: watch and listen, write ``NAME.cues.json`` and ``NAME.traces.npz``."""

from __future__ import annotations

from typing import Annotated

import typer

from reasoning.cli import _output as output
from reasoning.cli._perceiving import perceive_video, save_perception, tell_tracks


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
    """
    from reasoning.config import load

    settings = load(config, set or ())
    span = output.span_of(start, end)
    partial = False
    documents = []
    for name in videos:
        path = output.video_path(name, quiet)
        perception = perceive_video(path, settings, only or (), span, force, quiet)
        files = save_perception(perception, output.output_stem(out, path))
        partial |= perception.is_partial
        if json:
            documents.append({"video": name, "files": [str(file) for file in files]})
        else:
            tell_tracks(perception, files)
    if json:
        output.emit(documents)
    return int(partial)
