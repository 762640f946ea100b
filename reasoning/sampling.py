"""Which frames of a video a model is shown: by rate, uniformly thinned out to a limit."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

from perception import video
from perception.cue import Span, VideoInfo
from perception.recognizer import Frame
from reasoning.videollm import FrameSampling

__all__ = ["SampledFrames", "frame_times_s", "sample_frames"]


def frame_times_s(part: Span, sampling: FrameSampling) -> tuple[float, ...]:
    """Instants in ``part`` at ``sampling.rate_hz``; spread evenly when there would be too many.

    MimeQA's Appendix C.2: "1 frame per second up to a maximum of 64 frames, in which case the
    frames are uniformly sampled". A part shorter than one interval has one instant, its start.
    Evenly spread instants are the middles of ``max_frames`` equal pieces.
    """
    count = max(1, int(part.duration_s * sampling.rate_hz + 1e-6))
    if count <= sampling.max_frames and not sampling.uniform:
        return tuple(part.start_s + i / sampling.rate_hz for i in range(count))
    step_s = part.duration_s / sampling.max_frames
    return tuple(part.start_s + (i + 0.5) * step_s for i in range(sampling.max_frames))


def sample_frames(
    path: Path, info: VideoInfo, sampling: FrameSampling | None, span: Span | None = None
) -> tuple[Frame, ...]:
    """The frames for a model, each once, with their true presentation times.

    Args:
        path: of the video.
        info: what ``probe`` said of it.
        sampling: what the model wants; None = no frames.
        span: the part that is asked about; None = all of it.

    Raises:
        UnreadableVideo: the file cannot be decoded.
    """
    if sampling is None or not info.has_video:
        return ()
    whole = Span(0.0, info.duration_s)
    part = whole if span is None else span.clamped(whole)
    frames = video.frames_at(path, frame_times_s(part, sampling), sampling.max_side_px)
    return tuple({frame.time_s: frame for frame in frames}.values())


class SampledFrames:
    """``sample_frames`` that keeps what it decoded last, for several questions about one video.

    The same frames come back as the same objects, by which a family knows that it has prepared
    their pixels already.

    Args:
        kept: how many samplings; 768 frames of 1024×576 are 1.4 GB.
    """

    def __init__(self, kept: int = 1) -> None:
        self._room = kept
        self._kept: OrderedDict[tuple[object, ...], tuple[Frame, ...]] = OrderedDict()

    def __call__(
        self, path: Path, info: VideoInfo, sampling: FrameSampling | None, span: Span | None = None
    ) -> tuple[Frame, ...]:
        """As ``sample_frames``; a video is known by its content (``info.sha256``)."""
        key = (info.sha256, sampling, span)
        frames = self._kept.pop(key, None)
        if frames is None:
            while self._kept and len(self._kept) >= self._room:
                self._kept.popitem(last=False)
            frames = sample_frames(path, info, sampling, span)
        if self._room:
            self._kept[key] = frames
        return frames
