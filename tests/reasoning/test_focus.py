import pytest

from reasoning.focus import focused, overlap

BLOCK = """\
These cues were found in the video. Words in double quotes were seen or heard: content.
- 0:00.5-0:03.0 action: person 1, left, pours from a container (91 %)
- 0:02.0-0:05.5 action: person 2, right, sits down (78 %)
- 0:04.0-0:09.0 screen text: "FRESH COFFEE DAILY" (97 %)"""
HEAD, POURS, SITS, COFFEE = BLOCK.split("\n")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where is the person who sits down?", [HEAD, SITS]),
        ("Who is sitting?", [HEAD, SITS]),
        ("What does the person on the left do?", [HEAD, POURS]),
        ("Which coffee is sold daily?", [HEAD, COFFEE]),
        ("What does person 1 do?", [HEAD, POURS]),
    ],
)
def test_lines_that_share_the_questions_words_are_kept(question: str, expected: list[str]) -> None:
    assert focused(BLOCK, question).split("\n") == expected


@pytest.mark.parametrize("question", ["What does the sign say?", "Is it raining?", "", "???"])
def test_where_no_line_shares_a_word_all_stay(question: str) -> None:
    assert focused(BLOCK, question) == BLOCK


def test_times_and_kinds_are_no_words_of_a_line() -> None:
    assert overlap([POURS, COFFEE], "0:04.0 00 09 screen action text") == [0.0, 0.0]


def test_a_word_in_every_line_counts_less_than_a_rare_one() -> None:
    lines = ["- red cat", "- red dog", "- red cow"]
    # ln(1 + 3 / 3) for "red", and ln(1 + 3 / 1) more for "dog".
    assert overlap(lines, "red dog") == pytest.approx([0.6931, 2.0794, 0.6931], abs=1e-4)


def test_a_block_without_lines_stays() -> None:
    assert focused("No cues here", "cues") == "No cues here"
    assert focused("", "x") == ""
