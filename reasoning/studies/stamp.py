"""With what a study was run: enough to run it again."""

from __future__ import annotations

import json
import platform
import re
import subprocess
from importlib.metadata import PackageNotFoundError, distribution, distributions, version
from pathlib import Path
from typing import Any

import perception
from perception import weights
from reasoning.plain import plain
from reasoning.studies.recorded import Model
from reasoning.study import Study

__all__ = ["stamp"]

_GIT_S = 10


def stamp(study: Study, model: Model, limit: int | None = None) -> dict[str, Any]:
    """As JSON values: commit, packages, checkpoints, the study's file and resolved settings."""
    settings = study.arms[0].settings
    return {
        "study": study.name,
        "about": study.about,
        "baseline": study.baseline,
        "benchmark": study.benchmark.name,
        "limit": limit,
        "cells": len(study.items(limit)) * len(study.arms) * study.repeats,
        "model": model.revision,
        "conditions": {arm.name: arm.digest for arm in study.arms},
        "here": str(study.here),
        "file": plain(study.raw),
        "settings": plain(settings),
        "commit": commit(),
        "cuelight": _version("cuelight"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "videos": _videos(study, limit),
        "packages": packages(),
        "checkpoints": {name: each.sha256 for name, each in weights.checkpoints().items()},
    }


def _videos(study: Study, limit: int | None) -> dict[str, str]:
    """Where the file of each video is, by the name that the questions give it."""
    found = {}
    for item in study.items(limit):
        if item.video and item.video not in found:
            path = study.benchmark.video(item)
            if path is not None:
                found[item.video] = str(path.resolve())
    return found


def commit() -> str:
    """Of the checkout that Cuelight runs from, with ``+changes`` where files differ from it, or of
    the one that pip installed it from by address (PEP 610); empty where neither is known."""
    root = Path(perception.__file__).resolve().parent.parent
    if not (root / ".git").exists():
        return _commit_of_pip()
    found = _git(root, "rev-parse", "HEAD")
    return f"{found}+changes" if found and _git(root, "status", "--porcelain", "-uno") else found


def _commit_of_pip() -> str:
    try:
        told = json.loads(distribution("cuelight").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return ""
    return str(told.get("vcs_info", {}).get("commit_id", ""))


def _git(root: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603
            ["git", "-C", str(root), *arguments],  # noqa: S607
            capture_output=True,
            text=True,
            timeout=_GIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def packages() -> dict[str, str]:
    """Name -> version of every installed distribution."""
    found = {}
    for each in distributions():
        name = each.metadata["Name"]
        if name:
            found[re.sub(r"[-_.]+", "-", name).lower()] = each.version
    return dict(sorted(found.items()))


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
