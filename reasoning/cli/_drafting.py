"""What ``cuelight ask --dry-run`` shows: the request as it would go out, and how long it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, cast

from perception import strict_json
from reasoning.cli._terminal import tell

if TYPE_CHECKING:
    from collections.abc import Callable

    from reasoning.ask import Asked
    from reasoning.videollm import Request, VideoLLM


class _Called(Exception):
    """A strategy has come to its first call."""

    def __init__(self, request: Request) -> None:
        self.request = request


class _Uncalled:
    """A model in all but that it answers nobody, so that nothing leaves the machine."""

    def __init__(self, llm: VideoLLM) -> None:
        self._llm = llm

    def __getattr__(self, name: str) -> Any:
        return getattr(self._llm, name)

    def egress(self, request: Request) -> None:
        """None: nothing is sent."""

    def answer(self, request: Request) -> NoReturn:
        """Stop here."""
        raise _Called(request)


def first_request(ask: Callable[[VideoLLM], Asked], llm: VideoLLM) -> Request:
    """The request that ``ask`` would call the model with first, or would not because it does not
    fit."""
    try:
        return ask(cast("VideoLLM", _Uncalled(llm))).request
    except _Called as called:
        return called.request


def document(llm: VideoLLM, request: Request) -> dict[str, Any]:
    """The request, its tokens, and what would leave the machine; nothing is called."""
    count, context, sent = llm.count(request), llm.context_tokens, llm.egress(request)
    return {
        "request": llm.draft(request),
        "prompt_tokens": count.tokens,
        "prompt_tokens_estimated": count.estimated,
        "max_new_tokens": request.max_new_tokens,
        "context_tokens": context,
        "fits": context is None or count.tokens + request.max_new_tokens <= context,
        "would_send": None if sent is None else sent.sentence(),
    }


def show(drafted: dict[str, Any], strategy: str) -> None:
    """The document for a person."""
    tell(strict_json.dumps(drafted["request"]))
    about = "about {} tokens (estimated)" if drafted["prompt_tokens_estimated"] else "{} tokens"
    context = drafted["context_tokens"]
    held = "the model's context is not known" if context is None else f"the context holds {context}"
    tell(
        f"\nThe prompt has {about.format(drafted['prompt_tokens'])}; the answer may have "
        f"{drafted['max_new_tokens']}; {held}."
    )
    if not drafted["fits"]:
        tell("It does not fit: the model would not be called.")
    if strategy != "direct":
        tell(f"The strategy {strategy!r} calls again, with what this call replies.")
    sent = drafted["would_send"]
    tell(f"Asked for real: {sent}" if sent else "Nothing would leave this machine.")
    tell("This was a dry run: no model was asked.")
