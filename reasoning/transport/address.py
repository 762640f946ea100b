"""Addresses of servers, as a user gives them."""

from __future__ import annotations

from urllib.parse import urlsplit

from perception.errors import BadInput

__all__ = ["check_address"]


def check_address(base_url: str, example: str) -> None:
    """See that ``base_url`` is an address to call; ``example`` is one, for the message.

    Raises:
        BadInput: it is no http address, or holds a name, a password or a query.
    """
    try:
        parts = urlsplit(base_url)
        is_http = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_http = False
    if not is_http:
        raise BadInput(f"base_url is {base_url!r}; give an http address, e.g. {example}.")
    if parts.username or parts.password or parts.query:
        raise BadInput(
            "base_url holds a name, a password or a query; put a key into the environment."
        )
