"""``cuelight models``: families and presets of models, what each needs, whether it runs here."""

from __future__ import annotations

from dataclasses import asdict

from perception import plugins
from reasoning.cli import _output as output
from reasoning.cli._terminal import tell

_MARKS = {True: "yes", False: "no "}


def command(json: output.Json = False, quiet: output.Quiet = False) -> None:
    """List families and presets of models, what each needs, and whether it can run here.

    A name in either list can be given to --model. Memory is that of the weights; frames and prompt
    come on top.
    """
    from reasoning import availability, presets

    machine = availability.this_machine()
    families = {name: availability.of_family(name) for name in plugins.names("reasoning.videollms")}
    known = [presets.load(name) for name in presets.names()]
    verdicts = {each.name: availability.of_preset(each, machine) for each in known}
    if json:
        output.emit(
            {
                "machine": asdict(machine),
                "families": {name: asdict(each) for name, each in families.items()},
                "presets": [{**asdict(each), **asdict(verdicts[each.name])} for each in known],
            }
        )
        return
    wide = max(map(len, [*families, *verdicts]))
    tell("Families, and whether they can run here:")
    for name, verdict in families.items():
        if verdict.can_run or not quiet:
            tell(f"  {_MARKS[verdict.can_run]}  {name:{wide}}  {verdict.why}")
    tell("Presets (configs/models):")
    for preset in known:
        verdict = verdicts[preset.name]
        if quiet and not verdict.can_run:
            continue
        tell(f"  {_MARKS[verdict.can_run]}  {preset.name:{wide}}  {verdict.why}")
        if not quiet:
            at = preset.revision[:12] if preset.revision_seen else f"{preset.revision}, not pinned"
            loader = preset.loader.replace("_", " ")
            about = f"{preset.repository}@{at}; {loader}, {preset.memory_gb:g} GB"
            tell(f"       {'':{wide}}  {about}")
