"""Data flows left to right: perception -> fusion -> reasoning, and never back."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import perception

ROOT = Path(perception.__file__).parent.parent
ROOMS = ("perception", "fusion", "reasoning")
FUSION_MAY = {"perception.cue", "perception.errors", "perception.plugins"}
HEAVY = (
    "ai_edge_litert",
    "av",
    "cv2",
    "faster_whisper",
    "google",
    "huggingface_hub",
    "matplotlib",
    "onnx",
    "onnxruntime",
    "openai",
    "pyarrow",
    "pyarrow",
    "pydantic",
    "rapidocr",
    "rerun",
    "scipy",
    "torch",
    "transformers",
    "xllamacpp",
)
SUBCLASS_TORCH = {
    f"perception.skeleton.training.{name}"
    for name in ("export", "fit", "mmaction_runner", "network", "trainer", "weights")
}
"""Torch code through and through; imported behind ``training.require_torch``."""


def imported(source: str, package: str) -> set[str]:
    """Dotted names of modules that ``source`` imports, wherever the import stands."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parent = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parent, base]).rstrip(".")
            found.add(base)
            found.update(f"{base}.{alias.name}" for alias in node.names)
    return found


def forbidden(room: str, names: set[str]) -> set[str]:
    others = {name for name in names if name.split(".")[0] in ROOMS and name.split(".")[0] != room}
    if room == "perception":
        return others
    if room == "fusion":
        allowed = tuple(f"{name}." for name in FUSION_MAY)
        return {
            name
            for name in others
            if name not in FUSION_MAY and not name.startswith(allowed) and name != "perception"
        }
    return set()


@pytest.mark.parametrize("room", ROOMS)
def test_imports_point_only_to_the_left(room: str) -> None:
    wrong = {}
    for file in sorted((ROOT / room).rglob("*.py")):
        package = ".".join(file.relative_to(ROOT).parent.parts)
        arrows = forbidden(room, imported(file.read_text(encoding="utf-8"), package))
        if arrows:
            wrong[str(file.relative_to(ROOT))] = sorted(arrows)
    assert wrong == {}


@pytest.mark.parametrize(
    ("room", "line"),
    [
        ("perception", "from fusion.fuse import fuse"),
        ("perception", "import reasoning.ask"),
        ("fusion", "from perception import video"),
        ("fusion", "from perception.perceive import perceive"),
        ("fusion", "from ...reasoning import ask"),
    ],
)
def test_an_arrow_to_the_right_is_found(room: str, line: str) -> None:
    assert forbidden(room, imported(line, f"{room}.policies"))


def test_importing_the_rooms_loads_no_heavy_library() -> None:
    modules = sorted(
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for room in ROOMS
        for file in (ROOT / room).rglob("*.py")
    )
    modules = [name for name in modules if name not in SUBCLASS_TORCH]
    code = (
        f"import sys\nfor name in {modules!r}: __import__(name)\n"
        f"print(sorted(set({HEAVY!r}) & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "[]"
