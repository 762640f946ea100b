"""ViMU's own prompts, read from the user's checkout of its code; that code is never run.

The templates are f-strings in its scripts: they are taken out of the syntax tree and filled in
here, so that a prompt comes out character for character as the published code writes it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from perception.errors import BadInput
from reasoning.answer import Answer
from reasoning.benchmark import Item, Judging
from reasoning.benchmarks.vimu import rubric
from reasoning.benchmarks.vimu.files import SOURCE
from reasoning.benchmarks.vimu.selection import SCHEMA
from reasoning.prompt import Words

__all__ = ["Checkout"]

_OPEN, _JUDGE, _EVIDENCE, _SUBTEXT = (
    "scripts/00-vimu_oe.py",
    "scripts/01-vimu_oe_judge.py",
    "scripts/10-vimu_eg.py",
    "scripts/20-vimu_ss.py",
)

_GUIDANCE = {"RM": "RHETORIC_GUIDANCE", "SV": "SOCIAL_GUIDANCE"}


class Checkout:
    """The scripts in a folder; each method raises ``BadInput`` where the one that it reads is
    missing or not written as the published one."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder).expanduser()
        self._trees: dict[str, ast.Module] = {}

    def missing(self) -> Iterator[str]:
        """Scripts that are not there."""
        for name in (_OPEN, _JUDGE, _EVIDENCE, _SUBTEXT):
            if not (self._folder / name).is_file():
                yield str(self._folder / name)

    def words(self, item: Item, *, guided: bool) -> Words:
        """The whole prompt as the opening: the published code sends it before the frames."""
        fill = {"OE": self._open, "EG": self._grounding}.get(item.category)
        if fill is not None:
            return fill(item)
        return self._subtext(item, guided)

    def _open(self, item: Item) -> Words:
        return Words(self._filled(_OPEN, "build_video_prompt", None, _common(item)), "")

    def _grounding(self, item: Item) -> Words:
        details, context = item.details, ""
        if details["open_ended_question"]:
            asked = {"open_ended_question": details["open_ended_question"]}
            context = self._filled(_EVIDENCE, "build_prompt", "extra_context", asked)
        values = {
            **_common(item),
            **_listed(item),
            "extra_context": context,
            "instruction": details["instruction"] or self._default(_EVIDENCE, "instruction"),
        }
        return Words(self._filled(_EVIDENCE, "build_prompt", None, values), "", SCHEMA)

    def _subtext(self, item: Item, guided: bool) -> Words:
        values = {
            **_common(item),
            **_listed(item),
            "task_name": item.details["name"],
            "instruction": item.details["instruction"],
        }
        function = "build_prompt_without_guidance"
        if guided:
            function = "build_prompt_with_guidance"
            values["taxonomy_guidance"] = self._text(_SUBTEXT, _GUIDANCE[item.category])
        return Words(self._filled(_SUBTEXT, function, None, values), "", SCHEMA)

    def judging(self, item: Item, answer: Answer) -> Judging:
        """What the published judge is asked."""
        facts = rubric.facts(item, answer)
        values = {f"qa['{name}']": value for name, value in facts.items()}
        for name in ("evidence", "rubric"):
            values[f"json.dumps(qa['{name}'], ensure_ascii=False)"] = facts[name]
        values["prediction"] = answer.text
        asked = self._filled(_JUDGE, "main", "user_text", values)
        return Judging(self._text(_JUDGE, "JUDGE_SYSTEM_PROMPT"), asked, rubric.SCHEMA)

    def _filled(
        self, script: str, function: str, variable: str | None, values: Mapping[str, str]
    ) -> str:
        """The f-string that ``function`` returns, or puts into ``variable``, filled in."""
        owner = next((each for each in self._functions(script) if each.name == function), None)
        values_of = () if owner is None else _given(owner, variable)
        templates = [value for value in values_of if isinstance(value, ast.JoinedStr)]
        if len(templates) != 1:
            raise self._changed(script, f"one template in {function}")
        words = []
        for part in templates[0].values:
            if isinstance(part, ast.Constant):
                words.append(str(part.value))
                continue
            name = ast.unparse(part.value) if isinstance(part, ast.FormattedValue) else ""
            if name not in values:
                raise self._changed(script, f"only known fields in {function}, not {name!r}")
            words.append(values[name])
        return "".join(words)

    def _text(self, script: str, name: str) -> str:
        """The text that is given the name ``name``."""
        for value in _given(self._tree(script), name):
            if isinstance(value, ast.Constant):
                return str(value.value)
        raise self._changed(script, f"the text {name}")

    def _default(self, script: str, field: str) -> str:
        """What ``row.get(field, …)`` falls back on."""
        for node in ast.walk(self._tree(script)):
            if isinstance(node, ast.Call) and len(node.args) == 2:
                named, value = node.args
                if ast.unparse(named) == repr(field) and isinstance(value, ast.Constant):
                    return str(value.value)
        raise self._changed(script, f"a default for {field}")

    def _functions(self, script: str) -> Iterator[ast.FunctionDef]:
        for node in ast.walk(self._tree(script)):
            if isinstance(node, ast.FunctionDef):
                yield node

    def _tree(self, script: str) -> ast.Module:
        if script not in self._trees:
            path = self._folder / script
            try:
                self._trees[script] = ast.parse(path.read_text(encoding="utf-8"))
            except FileNotFoundError:
                raise BadInput(
                    f"There is no {str(path)!r}; give a checkout of ViMU's code. {SOURCE}"
                ) from None
            except (OSError, ValueError, SyntaxError) as error:
                raise BadInput(f"{str(path)!r} cannot be read as Python ({error}).") from None
        return self._trees[script]

    def _changed(self, script: str, wanted: str) -> BadInput:
        return BadInput(
            f"{str(self._folder / script)!r} is not written as the published script: {wanted} was "
            "expected. Leave official_prompts empty for the prompts of our own wording."
        )


def _common(item: Item) -> dict[str, str]:
    transcript = str(item.details.get("transcript", ""))
    return {"question": item.question.text, "transcript": transcript}


def _listed(item: Item) -> dict[str, str]:
    lines = (f"{letter}. {text}" for letter, text in item.details["options"].items())
    return {"option_text": "\n".join(lines)}


def _given(tree: ast.AST, name: str | None) -> Iterator[ast.expr | None]:
    """What ``name`` is set to or lengthened by; for None, what is returned."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Return) and name is None:
            yield node.value
        if isinstance(node, ast.Assign | ast.AugAssign) and name is not None:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name) and target.id == name:
                yield node.value
