import pytest

from reasoning.options import parse_option

OPTIONS = ("walks", "runs", "jumps off the roof", "walks away")


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("B", 1),
        ("(b)", 1),
        ("**B.**", 1),
        ("The answer is: B", 1),
        ("The correct answer is (C) jumps off the roof.", 2),
        ("Runs.", 1),
        ("“Runs”", 1),
        ("B. Because she runs.", 1),
        ("D) walks away", 3),
        ("She walks away from him.", 3),
        ("I think it is (c)", 2),
        ("A", 0),
        ("A man runs", 1),
    ],
)
def test_one_option_named(reply: str, expected: int) -> None:
    assert parse_option(reply, OPTIONS) == expected


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "   ",
        "E",
        "It is a cat.",
        "B or C",
        "(A) or (B)",
        "walks or runs",
        "A. runs",
        "not (b)",
        "She does not run; she never walks.",
        "It isn't the one who runs.",
        "A man is seen.",
        "B. It may also be (C).",
        "None of them runs",
    ],
)
def test_no_option_or_more_than_one_is_none(reply: str) -> None:
    assert parse_option(reply, OPTIONS) is None


def test_an_option_that_is_a_letter_is_read_as_text() -> None:
    assert parse_option("B", ("B", "A")) == 0


def test_an_option_with_a_denial_of_its_own_can_be_named() -> None:
    assert parse_option("He says do not run.", ("do not run", "sit down")) == 0


def test_more_than_26_options_have_letters_too() -> None:
    assert parse_option("AB", tuple(f"option number {i}" for i in range(30))) == 27
