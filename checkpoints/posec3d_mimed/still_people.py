"""False actions on real people who hold still, through the whole pipeline.

`python still_people.py CLIP... --out FILE` takes frames of real clips, holds each for two seconds
with sensor noise, flicker and a shaking camera, lets the product's pose estimator and tracker
follow whoever is in them, and counts how often the classifier names an action: what an estimator
makes of a person who does not move is not what the noise of the training data looks like.
Needs the product (`pip install .`), no torch.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perception.recognizer import Frame
from perception.recognizers.action import Options
from perception.skeleton import posec3d
from perception.skeleton.people import PeopleTracker, PersonTrack
from perception.skeleton.pose import MAX_SIDE_PX, RATE_HZ, PoseEstimator
from perception.skeleton.pose_estimators import blazepose
from perception.skeleton.runtimes import onnx
from perception.skeleton.windows import joint_travel

HELD_FRAMES = 30
THRESHOLDS = (0.4, 0.5, 0.6, 0.8)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("clips", type=Path, nargs="+", help="video files with people")
    parser.add_argument("--every", type=float, default=0.5, help="seconds between frames taken")
    parser.add_argument("--model", type=Path, help="an ONNX file instead of the embedded one")
    parser.add_argument("--out", type=Path, help="where to write the figures as JSON")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def pictures(clip: Path, every_s: float) -> Iterator[NDArray[np.uint8]]:
    """One frame every `every_s` seconds, no side longer than the product looks at."""
    import av
    import cv2

    with av.open(str(clip)) as container:
        wanted = 0.0
        for frame in container.decode(video=0):
            if frame.time is None or frame.time < wanted:
                continue
            wanted = frame.time + every_s
            rgb = frame.to_ndarray(format="rgb24")
            scale = min(1.0, MAX_SIDE_PX / max(rgb.shape[:2]))
            yield cv2.resize(rgb, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)


def held(rgb: NDArray[np.uint8], rng: np.random.Generator) -> Iterator[Frame]:
    """The picture for two seconds: shaken by up to 1.5 pixels, with noise of 1 to 6 grey levels."""
    import cv2

    shake, noise = rng.uniform(0, 1.5), rng.uniform(1, 6)
    height, width = rgb.shape[:2]
    for i in range(HELD_FRAMES):
        move = np.array([[1, 0, rng.normal(0, shake)], [0, 1, rng.normal(0, shake)]], np.float32)
        shaken = cv2.warpAffine(rgb, move, (width, height), borderMode=cv2.BORDER_REFLECT)
        noisy = shaken + rng.normal(0, noise, rgb.shape) + rng.normal(0, 2)
        yield Frame(i / RATE_HZ, np.clip(noisy, 0, 255).astype(np.uint8))


def people_in(
    clips: list[Path], every_s: float, estimator: PoseEstimator, seed: int
) -> Iterator[PersonTrack]:
    """Everybody in every held picture."""
    rng = np.random.default_rng(seed)
    for clip in clips:
        for rgb in pictures(clip, every_s):
            stream, tracker = estimator.stream(), PeopleTracker()
            for frame in held(rgb, rng):
                tracker.feed(frame.time_s, stream.estimate(frame))
            yield from tracker.finish()


def main() -> None:
    """Entry point."""
    args = _arguments()
    classifier: posec3d.ActionClassifier = posec3d.embedded()
    if args.model:
        labels = Path(__file__).resolve().parent / "labels.json"
        options = onnx.Options(checkpoint=str(args.model), labels=str(labels))
        classifier = posec3d.PoseC3D(onnx.build(options))
    estimator = blazepose.build(blazepose.Options())
    labels, confidence, moves = classifier.labels, [], []
    for person in people_in(args.clips, args.every, estimator, args.seed):
        probabilities = classifier.classify(person.keypoints, person.scores)
        best = int(probabilities.argmax())
        confidence.append(0.0 if best == labels.none else float(probabilities[best]))
        travel = joint_travel(person.keypoints, person.scores, RATE_HZ)
        moves.append(travel >= Options().least_travel)
    named, moving = np.array(confidence), np.array(moves, dtype=bool)
    result: dict[str, Any] = {
        "held_people": len(named),
        "passed_the_motion_gate": round(float(moving.mean()), 4),
        "classifier_alone": {str(t): round(float((named >= t).mean()), 4) for t in THRESHOLDS},
        "with_motion_gate": {
            str(t): round(float(((named >= t) & moving).mean()), 4) for t in THRESHOLDS
        },
    }
    text = json.dumps(result, indent=1)
    if args.out:
        args.out.write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
