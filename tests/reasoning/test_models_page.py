"""The page of models says what the presets say."""

import re
from pathlib import Path

import reasoning
from reasoning import presets

PAGE = Path(reasoning.__file__).parent.parent / "docs" / "models.md"


def test_the_table_of_presets_is_that_of_the_files() -> None:
    rows = re.findall(
        r"^\| `([\w.-]+)` \| \[(.+?)\].+?\| (.+?) \| (.+?) \| (.+?) \| ([\d.]+) \|$",
        PAGE.read_text("utf-8"),
        re.M,
    )
    told = {row[0]: row[1:] for row in rows}
    assert sorted(told) == presets.names()
    for name, (repository, revision, loader, frames, memory_gb) in told.items():
        preset = presets.load(name)
        assert repository == preset.repository
        assert preset.revision.startswith(revision.split("`")[1])
        assert ("not pinned" in revision) is (not preset.revision_seen)
        assert loader == preset.loader.replace("_", " ")
        assert str(preset.options["max_frames"]) in frames
        assert float(memory_gb) == preset.memory_gb
