"""What every person in the picture does: skeleton actions by PoseC3D.

Poses are estimated, people are followed, every person's track is cut into overlapping windows, each
window is classified, and neighbouring windows with one label become one cue.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from perception import plugins, weights
from perception.cue import Cue, CueTrack, Source, Span, Status, VideoInfo
from perception.errors import BadInput
from perception.recognizer import AudioChunk, Batch, Needs, Recognition
from perception.skeleton import posec3d
from perception.skeleton.people import PeopleTracker, PersonTrack, TrackerOptions
from perception.skeleton.pose import MAX_SIDE_PX, RATE_HZ, PoseEstimator
from perception.skeleton.posec3d import ActionClassifier
from perception.skeleton.windows import (
    clip_between,
    joint_travel,
    segments,
    smoothed,
    window_spans,
)
from perception.traces import pose_traces

__all__ = ["ActionRecognizer", "Options", "build"]

POSE_ESTIMATORS = "perception.skeleton.pose_estimators"

KIND = "action"
VERSION = "1"

MIN_PRESENCE = 0.5
"""Share of a window's steps at which the person must be seen for the window to be classified."""


@dataclass(frozen=True, slots=True)
class Options:
    """How actions are recognised.

    Args:
        window_s: length of the windows that are classified. The paper uses 10.
        stride_s: from the start of one window to the next. The paper uses 10.
        rate_hz: poses a second.
        max_side_px: pictures are scaled down so that no side is longer.
        least_confidence: what the classifier is less sure of becomes no cue, in [0, 1].
        least_travel: windows in which the joints travel less than this share of the body's size
            show no action.
        mirror: also classify the mirror image and average: twice the time for the classifier.
        top: so many labels with their probabilities are kept in a cue's attributes.
        pose_estimator: a name in ``perception.skeleton.pose_estimators``.
        pose_estimators: name -> its ``Options``; the defaults of one that is not named.
        tracker: how people are followed.
    """

    window_s: float = 2.0
    stride_s: float = 0.5
    rate_hz: float = RATE_HZ
    max_side_px: int = MAX_SIDE_PX
    least_confidence: float = 0.5
    least_travel: float = 0.05
    mirror: bool = False
    top: int = 5
    pose_estimator: str = "blazepose"
    pose_estimators: Mapping[str, Any] = plugins.options_of(POSE_ESTIMATORS)
    tracker: TrackerOptions = field(default_factory=TrackerOptions)

    def __post_init__(self) -> None:
        for name in ("window_s", "stride_s", "rate_hz"):
            if not getattr(self, name) > 0:
                raise BadInput(
                    f"The action recognizer's {name} must be more than 0, "
                    f"not {getattr(self, name)}."
                )
        for name in ("max_side_px", "top"):
            if getattr(self, name) < 1:
                raise BadInput(
                    f"The action recognizer's {name} must be 1 or more, not {getattr(self, name)}."
                )
        for name in ("least_confidence", "least_travel"):
            if not 0 <= getattr(self, name) <= 1:
                raise BadInput(
                    f"The action recognizer's {name} must lie in [0, 1], not {getattr(self, name)}."
                )


def build(options: Options) -> ActionRecognizer:
    """The recognizer with the embedded classifier; its models load in ``start``.

    Raises:
        UnknownName: there is no such pose estimator.
        UserError: what the pose estimator says of its options.
    """
    estimator = plugins.build(POSE_ESTIMATORS, options.pose_estimator, options.pose_estimators)
    return ActionRecognizer(options, estimator, posec3d.embedded(mirror=options.mirror))


class ActionRecognizer:
    """Cue kind ``action``."""

    kind = KIND

    def __init__(
        self, options: Options, estimator: PoseEstimator, classifier: ActionClassifier
    ) -> None:
        self.options, self.estimator, self.classifier = options, estimator, classifier

    @property
    def needs(self) -> Needs:
        """Frames at ``rate_hz``."""
        return Needs(frame_rate_hz=self.options.rate_hz, max_side_px=self.options.max_side_px)

    @property
    def weights(self) -> tuple[str, ...]:
        """The pose estimator's checkpoints, then the classifier's."""
        return (*self.estimator.checkpoints, *self.classifier.checkpoints)

    @property
    def source(self) -> Source:
        """Pins the checkpoints, the labels with their temperature, and the settings."""
        settings = {
            **asdict(self.options),
            "pose_estimators": {self.options.pose_estimator: dict(self.estimator.settings)},
            "labels": self.classifier.labels.digest,
        }
        return Source(
            name=KIND,
            version=VERSION,
            checkpoint_sha256="+".join(weights.sha256(name) for name in self.weights),
            settings=settings,
        )

    def start(self, video: VideoInfo) -> ActionSession:
        """Begin on a video."""
        return ActionSession(self, video)


class ActionSession:
    """One video. Keeps the poses, never a picture."""

    def __init__(self, recognizer: ActionRecognizer, video: VideoInfo) -> None:
        self._recognizer, self._video = recognizer, video
        self._stream = recognizer.estimator.stream()
        self._people = PeopleTracker(recognizer.options.tracker)

    def feed(self, batch: Batch) -> None:
        """Estimate and follow the people in the next frames."""
        if isinstance(batch, AudioChunk):
            return
        for frame in batch:
            self._people.feed(frame.time_s, self._stream.estimate(frame))

    def finish(self) -> Recognition:
        """Classify every person's windows."""
        people = self._people.finish()
        found: list[Cue] = []
        for person in people:
            found += self._cues(person, alone=len(people) == 1)
        found.sort(key=lambda cue: (cue.span, cue.attributes["person"]))
        cues = tuple(_numbered(cue, i) for i, cue in enumerate(found, start=1))
        status, notes = _status(self._video, people, cues)
        track = CueTrack(KIND, KIND, self._recognizer.source, cues, status=status, notes=notes)
        return Recognition(track, pose_traces(KIND, people))

    def _cues(self, person: PersonTrack, alone: bool) -> list[Cue]:
        options, labels = self._recognizer.options, self._recognizer.classifier.labels
        spans, posteriors = self._posteriors(person)
        cues = []
        for segment in segments(spans, posteriors):
            confidence = min(1.0, float(posteriors[segment.best, segment.label]))
            if segment.label == labels.none or confidence < options.least_confidence:
                continue
            where = _where(person, segment.span, self._video)
            whose = f"person {person.id}" if alone else f"person {person.id}, {where},"
            top = labels.top(posteriors[segment.best], options.top)
            attributes: dict[str, Any] = {
                "label": labels.names[segment.label],
                "person": person.id,
                "where": where,
                "window_s": [round(t, 3) for t in _ends(spans[segment.best])],
                "top": [[name, round(p, 4)] for name, p in top],
            }
            text = f"{whose} {labels.phrases[segment.label]}"
            cues.append(Cue(f"{KIND}-{person.id}", segment.span, text, confidence, attributes))
        return cues

    def _posteriors(self, person: PersonTrack) -> tuple[list[Span], npt.NDArray[np.float32]]:
        """The windows in which the person is seen, and the labels' smoothed probabilities."""
        options, classifier = self._recognizer.options, self._recognizer.classifier
        end_s = float(person.times_s[-1]) + _period_s(person.times_s, options.rate_hz)
        end_s = min(end_s, max(self._video.duration_s, float(person.times_s[-1])))
        spans, rows = [], []
        for span in window_spans(
            float(person.times_s[0]), end_s, options.window_s, options.stride_s
        ):
            keypoints, scores, presence = clip_between(
                person.times_s, person.keypoints, person.scores, span, options.rate_hz
            )
            if presence < MIN_PRESENCE:
                continue
            spans.append(span)
            still = joint_travel(keypoints, scores, options.rate_hz) < options.least_travel
            none = classifier.labels.none
            if still and none is not None:
                rows.append(np.eye(len(classifier.labels.names), dtype=np.float32)[none])
            else:
                rows.append(classifier.classify(keypoints, scores))
        posteriors = np.array(rows, dtype=np.float32).reshape(len(spans), -1)
        return spans, smoothed(spans, posteriors)


def _numbered(cue: Cue, number: int) -> Cue:
    return Cue(f"{KIND}-{number}", cue.span, cue.text, cue.confidence, cue.attributes)


def _ends(span: Span) -> tuple[float, float]:
    return span.start_s, span.end_s


def _period_s(times_s: npt.NDArray[np.float64], rate_hz: float) -> float:
    return statistics.median(np.diff(times_s).tolist()) if len(times_s) > 1 else 1 / rate_hz


def _status(
    video: VideoInfo, people: Sequence[PersonTrack], cues: Sequence[Cue]
) -> tuple[Status, tuple[str, ...]]:
    if not video.has_video:
        return Status.NO_SIGNAL, ("There is no video stream.",)
    if not people:
        return Status.NO_SIGNAL, ("No person was recognised.",)
    acting = {cue.attributes["person"] for cue in cues}
    idle = [f"person {person.id}" for person in people if person.id not in acting]
    if not idle:
        return Status.COMPLETE, ()
    return Status.COMPLETE, (f"No known action was recognised for {', '.join(idle)}.",)


def _where(person: PersonTrack, span: Span, video: VideoInfo) -> str:
    """Where in the picture the person is during a span, in thirds: "upper left", "centre"."""
    during = (person.times_s >= span.start_s) & (person.times_s < span.end_s)
    if not during.any():
        during[np.argmin(np.abs(person.times_s - (span.start_s + span.end_s) / 2))] = True
    box = np.median(person.boxes[during], axis=0)
    x = (box[0] + box[2]) / 2 / max(video.width, 1)
    y = (box[1] + box[3]) / 2 / max(video.height, 1)
    row = "upper" if y < 1 / 3 else "lower" if y >= 2 / 3 else ""
    column = "left" if x < 1 / 3 else "right" if x >= 2 / 3 else ""
    if row and not column:
        return f"{row} centre"
    return f"{row} {column}".strip() or "centre"
