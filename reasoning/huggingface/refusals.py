"""What transformers, the hub and torch raise, as one sentence each."""

from __future__ import annotations

from perception.errors import BadInput, CuelightError, WeightsError

__all__ = ["explained", "out_of_memory", "own_code"]


def out_of_memory(error: BaseException) -> bool:
    """Whether torch gave up for lack of memory, on a GPU or on a CPU."""
    words = str(error).lower()
    return (
        isinstance(error, MemoryError)
        or type(error).__name__ == "OutOfMemoryError"
        or "out of memory" in words
        or "can't allocate memory" in words
    )


def explained(model: str, revision: str, error: Exception) -> CuelightError:
    """A sentence for what ``from_pretrained`` raises."""
    words = " ".join(str(error).split())
    if out_of_memory(error):
        return WeightsError(
            f"{model!r} does not fit into memory; take a smaller one, quantize_bits=4, or more "
            f"GPUs."
        )
    if "trust_remote_code" in words:
        return own_code(model)
    causes = _names(error)  # a GatedRepoError is a RepositoryNotFoundError too
    if "GatedRepoError" in causes:
        return BadInput(
            f"{model!r} is given out only to those who accept its licence on "
            f"https://huggingface.co/{model}; accept it, then: hf auth login"
        )
    if causes & {"RepositoryNotFoundError", "HFValidationError", "RevisionNotFoundError"}:
        return BadInput(
            f"There is no folder {model!r} here and no model repository {model!r} at revision "
            f"{revision!r} on Hugging Face, or it needs a token (hf auth login)."
        )
    if causes & _NETWORK or "connect" in words.lower():
        return WeightsError(
            f"{model!r} is not in the cache and huggingface.co cannot be reached. Fetch it where "
            f"there is a network: hf download {model} --revision {revision}"
        )
    if isinstance(error, ImportError):
        return BadInput(f"{model!r} needs a package that is not installed: {words}")
    return BadInput(f"transformers cannot load {model!r}: {words[:300]}")


def own_code(model: str) -> BadInput:
    """For a repository whose own Python code was not trusted."""
    return BadInput(
        f"{model!r} needs Python code of its own repository, which is not run unless "
        f"you allow it: --trust-remote-code, with revision set to a commit that you have read."
    )


_NETWORK = {"LocalEntryNotFoundError", "OfflineModeIsEnabled", "ConnectError", "ConnectionError"}


def _names(error: BaseException | None) -> set[str]:
    """Class names of the error and of what caused it."""
    found: set[str] = set()
    while error is not None:
        found |= {each.__name__ for each in type(error).__mro__}
        error = error.__cause__ or error.__context__
    return found
