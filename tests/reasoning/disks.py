"""Disks of their own for tests: small ones that fill up, and ones that nobody may write to."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


@contextlib.contextmanager
def disk(folder: Path, options: str) -> Iterator[Callable[[str], None]]:
    """A tmpfs at ``folder``; what is yielded mounts it again with other options. Skips where this
    cannot be done."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root mounts a small tmpfs")
    folder.mkdir()
    if not _mounted(folder, options):
        pytest.skip("this system lets no small tmpfs be mounted")

    def again(options: str) -> None:
        assert _mounted(folder, f"remount,{options}")

    try:
        yield again
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _mounted(folder: Path, options: str) -> bool:
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)],
        check=False,
        capture_output=True,
    )
    return done.returncode == 0
