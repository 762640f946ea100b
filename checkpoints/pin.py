"""Writes size and sha256 of the weights of our own into the manifest, and how well the action
network's probabilities hold (``posec3d_mimed/results.json``).

Run ``python checkpoints/pin.py`` after a weight in this folder has been made anew and measured;
nothing else of the manifest changes.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENTRY = re.compile(
    r"(?P<head>sha256: )[0-9a-f]+(?P<middle>\n\s+size: )\d+"
    r"(?P<tail>\n\s+sources:\n\s+- kind: file\n\s+path: (?P<path>\S+))"
)

MEASURED = re.compile(
    r"(?P<head>results\.json, test\)\n)(?P<at> +)ece: [0-9.]+\n +reliability:\n(?: +- \{.+\}\n)+"
)


def measured(entry: re.Match[str]) -> str:
    """The manifest's lines of the calibration error and the reliability, as measured last."""
    results = json.loads((HERE / "posec3d_mimed" / "results.json").read_text(encoding="utf-8"))
    found, at = results["test"]["calibration_error"], entry["at"]
    print(f"posec3d_mimed: calibration error {found['all']}")
    bins = "".join(
        f"{at}  - {{n: {each['n']}, confidence: {float(each['confidence'])}, "
        f"accuracy: {float(each['accuracy'])}}}\n"
        for each in found["reliability"]
    )
    return f"{entry['head']}{at}ece: {float(found['all'])}\n{at}reliability:\n{bins}"


def pinned(entry: re.Match[str]) -> str:
    """The manifest's lines of one file with the size and sha256 that it has."""
    content = (HERE / entry["path"]).read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    print(f"{entry['path']}: {len(content)} bytes, sha256 {digest}")
    return f"{entry['head']}{digest}{entry['middle']}{len(content)}{entry['tail']}"


if __name__ == "__main__":
    manifest = HERE / "manifest.yaml"
    text = ENTRY.sub(pinned, manifest.read_text(encoding="utf-8"))
    manifest.write_text(MEASURED.sub(measured, text), encoding="utf-8")
