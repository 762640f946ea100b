"""``cuelight sample``: the sample clip, to look at or to try things on."""

from __future__ import annotations

from reasoning.cli import _output as output
from reasoning.cli._fetching import fetching
from reasoning.cli._terminal import tell


def command(
    out: output.Out = output.HERE, json: output.Json = False, quiet: output.Quiet = False
) -> None:
    """Write sample.mp4: two real people, with a caption and a spoken line of our own.

    The film is Sports2D's demonstration video (BSD-3-Clause). What the caption and the line say,
    and when, is printed with --json.
    """
    from perception import sample

    with fetching(quiet) as on_progress:
        path = sample.compose(out / "sample.mp4", on_progress)
    if not json:
        tell(str(path))
        return
    output.emit(
        {
            "path": str(path),
            "caption": {
                "text": sample.CAPTION,
                "start_s": sample.CAPTION_SPAN.start_s,
                "end_s": sample.CAPTION_SPAN.end_s,
            },
            "line": {
                "text": sample.LINE,
                "start_s": sample.LINE_SPAN.start_s,
                "end_s": sample.LINE_SPAN.end_s,
            },
        }
    )
