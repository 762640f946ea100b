"""The judge of MimeQA (Appendix C.5, adapted there from Neptune), for every open question: its
instruction and template word for word, or without their words on mime, and a strict reading of its
reply."""

from __future__ import annotations

import re

from reasoning.answer import Answer, Unscored, Verdict
from reasoning.benchmark import Item, Judging
from reasoning.scoring.json_reply import only_object

__all__ = ["SCHEMA", "judging", "read_verdict"]

_INSTRUCTION = """Answer Grading Instructions:
Carefully consider the following question and answers {subject}.
You will be shown a "gold-standard" answer from a human annotator, referred to as the "Reference \
Answer", and a "Candidate Answer".
Your task is to determine whether the candidate answer is a good answer in place of the "gold" \
reference using the following criteria:
1. The candidate directly answers the question without deviation or misunderstanding.
2. The candidate does not contain misleading information and does not hallucinate story plots \
not present in the reference answer.
{others}
Your response should be one word, "TRUE" or "FALSE", and a brief explanation of your decision. You \
should respond "TRUE" if the candidate is a good answer in place of the reference answer, and \
"FALSE" otherwise."""

_ALIKE = (
    "The candidate answer can be a good answer in place of the reference answer even if they are "
    "not semantically equivalent, as long as they are in the same ballpark"
)

OF_MIME = _INSTRUCTION.format(
    subject="regarding understanding of a mime performance",
    others="3. Since the videos are mime performances, invisible actions, objects, or the mime "
    "actor portraying objects should be considered correct if and only if they are relevant to the "
    f"question.\n4. {_ALIKE}, given that there can be multiple interpretations of a mime acting "
    "out invisible actions or objects.",
)
"""Appendix C.5, word for word."""

OF_ANY_VIDEO = _INSTRUCTION.format(subject="about a video", others=f"3. {_ALIKE}.")

TEMPLATE = """
Question:
"{question}"
Candidate Answer:
"{candidate_answer}"
Reference Answer:
"{ref_answer}"
Equivalent? (True/False, and why?):
"""

SCHEMA = {
    "type": "object",
    "properties": {"correct": {"type": "boolean"}, "explanation": {"type": "string"}},
    "required": ["correct", "explanation"],
    "additionalProperties": False,
}
"""The reply that MimeQA's evaluation asks GPT-4o for."""

_LEAD = re.compile(r"^[\s\"'*_`(\[]*(true|false)\b", re.IGNORECASE)
_WORD = re.compile(r"\b(true|false)\b", re.IGNORECASE)


def judging(item: Item, answer: Answer, *, mime: bool = True) -> Judging:
    """What the judge is asked about ``answer``, of a mime performance or of any video."""
    words = TEMPLATE.format(
        question=item.question.text, candidate_answer=answer.text, ref_answer=item.reference
    )
    return Judging(OF_MIME if mime else OF_ANY_VIDEO, words, SCHEMA)


def read_verdict(reply: str, judge: str) -> Verdict | Unscored:
    """The verdict in a judge's reply.

    Understood: a JSON object with a boolean ``correct``, alone or with text around it; or words
    that open with TRUE or FALSE and name only that one of them. Everything else is unscored.
    """
    said = only_object(reply, lambda value: isinstance(value.get("correct"), bool))
    if said is not None:
        correct = said["correct"]
        explanation = str(said.get("explanation") or "").strip()
        return Verdict(float(correct), explanation, judge, raw=reply)
    opens = _LEAD.match(reply)
    named = {word.lower() for word in _WORD.findall(reply)}
    if opens is None or len(named) != 1:
        why = (
            "names both TRUE and FALSE" if len(named) == 2 else "opens with neither TRUE nor FALSE"
        )
        why = why if reply.strip() else "is empty"
        return Unscored(f"The judge's reply {why}.", judge, reply)
    reason = reply[opens.end() :].strip(" \t\n\"'*_`.,:;-–—)]")
    return Verdict(float(named == {"true"}), reason, judge, raw=reply)
