"""Writes size and sha256 of the weights of our own into the manifest.

Run ``python checkpoints/pin.py`` after a weight in this folder has been made anew; nothing else of
the manifest changes.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENTRY = re.compile(
    r"(?P<head>sha256: )[0-9a-f]+(?P<middle>\n\s+size: )\d+"
    r"(?P<tail>\n\s+sources:\n\s+- kind: file\n\s+path: (?P<path>\S+))"
)


def pinned(entry: re.Match[str]) -> str:
    """The manifest's lines of one file with the size and sha256 that it has."""
    content = (HERE / entry["path"]).read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    print(f"{entry['path']}: {len(content)} bytes, sha256 {digest}")
    return f"{entry['head']}{digest}{entry['middle']}{len(content)}{entry['tail']}"


if __name__ == "__main__":
    manifest = HERE / "manifest.yaml"
    manifest.write_text(ENTRY.sub(pinned, manifest.read_text(encoding="utf-8")), encoding="utf-8")
