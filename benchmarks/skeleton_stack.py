"""The embedded skeleton stack against the papers': BlazePose and our PoseC3D against mmpose's
HRNet-w32 and mmaction2's full PoseC3D as in ``configs/mimeqa_posec3d.yaml``.

    python -m benchmarks.skeleton_stack [--seconds 2] [--json]

Both find the actions in the sample clip, or in its first seconds, each in a process of its own, on
one thread of the processor. Needs the extra ``openmmlab``. Nothing is downloaded but the embedded
weights: OpenMMLab's networks have random weights, which take as long as trained ones. Their joints
jump, so that the tracker of that side believes any jump. Processor seconds are comparable on a busy
machine, wall seconds are not.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import platform
import resource
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

SIDES = ("embedded", "OpenMMLab")

WARM_UP_S = 0.2
"""Of the clip, seen first to load everything."""

TRACKER = {"max_jump": 100.0, "max_growth": 1000.0}

ROWS = {
    "start_s": "imports, loading and the first 0.2 s, wall s",
    "wall_s": "the clip, wall s",
    "cpu_s": "the clip, processor s",
    "peak_mb": "peak memory, MB",
    "install_mb": "installed packages, MB",
    "weights_mb": "weights, MB",
}


def main() -> None:
    """Measure both sides and print them with their ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, help="only so much of the sample; all if left out")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    measured = {}
    for side in SIDES:
        with ProcessPoolExecutor(max_workers=1, mp_context=context) as pool:
            measured[side] = pool.submit(measure, side, arguments.seconds).result()
    ours, theirs = (measured[side] for side in SIDES)
    ratios = {name: theirs[name] / ours[name] for name in ROWS}
    if arguments.json:
        print(json.dumps({"machine": machine(), **measured, "ratios": ratios}, indent=1))
        return
    print(f"{machine()}; {ours['seen_s']:.1f} s of video")
    print(f"{'':<46}{SIDES[0]:>12}{SIDES[1]:>12}{'ratio':>8}")
    for name, what in ROWS.items():
        print(f"{what:<46}{ours[name]:>12.1f}{theirs[name]:>12.1f}{ratios[name]:>8.1f}")
    for side in SIDES:
        people, status = measured[side]["people"], measured[side]["status"]
        print(f"{side}: {people} people followed, track {status}")


def machine() -> str:
    """Cores and Python of this machine."""
    return f"{multiprocessing.cpu_count()} cores, Python {platform.python_version()}"


def measure(side: str, seconds: float | None) -> dict[str, Any]:
    """One side in this process."""
    from perception import sample
    from perception.cache import TrackCache
    from perception.cue import Span
    from perception.perceive import build_recognizers, perceive

    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        options, weights_mb = embedded() if side == SIDES[0] else papers(folder)
        recognizers = build_recognizers({"action": options})
        cache, clip = TrackCache(folder), sample.compose()
        perceive(clip, recognizers, span=Span(0.0, WARM_UP_S), cache=cache)
        start_s = time.perf_counter() - begin
        begin, cpu = time.perf_counter(), time.process_time()
        span = Span(0.0, seconds) if seconds else None
        perception = perceive(clip, recognizers, span=span, cache=cache)
        wall_s, cpu_s = time.perf_counter() - begin, time.process_time() - cpu
    (track,) = perception.timeline.tracks
    people = perception.traces.get("action/poses/person", ())
    return {
        "start_s": start_s,
        "wall_s": wall_s,
        "cpu_s": cpu_s,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
        "install_mb": installed_mb(side),
        "weights_mb": weights_mb,
        "seen_s": seconds or perception.timeline.video.duration_s,
        "people": len(set(map(int, people))),
        "status": str(track.status),
    }


def embedded() -> tuple[Any, float]:
    """The default options, and the MB of their weights."""
    from perception import weights
    from perception.perceive import build_recognizers
    from reasoning.config import load

    options = load().recognizers["action"]
    (recognizer,) = build_recognizers({"action": options})
    names = recognizer.weights
    weights.fetch(names)
    return options, sum(weights.checkpoint(name).size for name in names) / 1e6


def papers(folder: Path) -> tuple[Any, float]:
    """MimeQA's options on networks with random weights, and the MB of their files."""
    from perception.shipped import shipped
    from reasoning.config import load

    path = shipped("configs") / "mimeqa_posec3d.yaml"
    action = load(path).recognizers["action"]
    mmpose = action.pose_estimators["mmpose"]
    mmaction = action.runtimes["mmaction2"]
    chosen = {
        "pose_estimators.mmpose.checkpoint": random_weights("mmpose", mmpose.config, folder),
        "runtimes.mmaction2.checkpoint": random_weights("mmaction", mmaction.config, folder),
        **{f"tracker.{name}": value for name, value in TRACKER.items()},
    }
    overrides = [f"recognizers.action.{key}={value}" for key, value in chosen.items()]
    weights_mb = sum(file.stat().st_size for file in folder.glob("*.pth")) / 1e6
    return load(path, overrides).recognizers["action"], weights_mb


def random_weights(package: str, config: str, folder: Path) -> Path:
    """A checkpoint of a config's model as it is before it learns anything."""
    from perception.skeleton.openmmlab import stack
    from perception.skeleton.openmmlab.config_file import ConfigFile
    from perception.skeleton.openmmlab.models import in_scope, quiet, read_config

    stack.load(f"{package}.apis", "The benchmark")
    import torch
    from mmengine.registry import MODELS

    torch.manual_seed(0)
    with quiet(), in_scope(package):
        model = MODELS.build(read_config(ConfigFile.named(config, package)).model)
    path = folder / f"random_{package}.pth"
    torch.save({"state_dict": model.state_dict()}, path)
    return path


def installed_mb(side: str) -> float:
    """MB of the files of all distributions that a side needs, Cuelight's own left out."""
    wanted = _requirements("cuelight", extra="")
    if side == SIDES[1]:
        wanted |= _requirements("cuelight", extra="openmmlab") | {"mmpose", "rtmlib"}
    found: set[str] = set()
    while new := wanted - found:
        found |= new
        wanted |= {name for each in new for name in _requirements(each, extra="")}
    return sum(map(_size, found)) / 1e6


def _requirements(name: str, extra: str) -> set[str]:
    """What a distribution requires, none where it is not installed. One OpenCV stands for all."""
    try:
        lines: Iterable[str] = distribution(name).requires or ()
    except PackageNotFoundError:
        return set()
    requirements = map(Requirement, lines)
    applying = (r.name for r in requirements if not r.marker or r.marker.evaluate({"extra": extra}))
    return {
        "opencv-contrib-python-headless" if each.startswith("opencv-") else each.lower()
        for each in applying
    }


def _size(name: str) -> int:
    try:
        files = distribution(name).files or ()
    except PackageNotFoundError:
        return 0
    paths = (Path(str(file.locate())) for file in files)
    return sum(path.stat().st_size for path in paths if path.is_file())


if __name__ == "__main__":
    main()
