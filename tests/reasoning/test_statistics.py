"""Statistics against published examples, scipy, statsmodels and counting by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perception.errors import BadInput
from reasoning import statistics

stats = pytest.importorskip("scipy.stats", reason="needs the extra 'studies' (scipy)")


def test_mcnemar_is_the_binomial_test_of_the_changes() -> None:
    for gained, lost in [(0, 0), (2, 0), (8, 3), (40, 61), (700, 640)]:
        expected = stats.binomtest(gained, gained + lost).pvalue if gained + lost else 1.0
        assert statistics.mcnemar(gained, lost) == pytest.approx(expected, rel=1e-9)


def test_mcnemar_agrees_with_statsmodels() -> None:
    tables = pytest.importorskip(
        "statsmodels.stats.contingency_tables", reason="statsmodels is not installed"
    )
    for gained, lost in [(1, 5), (9, 30), (12, 12)]:
        expected = tables.mcnemar([[50, lost], [gained, 20]], exact=True).pvalue
        assert statistics.mcnemar(gained, lost) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("before", "after", "n", "least"),
    [(1, 3, 43, 0.5), (3, 5, 21, 0.5), (12, 8, 23, 0.125), (10, 7, 29, 0.25), (50, 48, 297, 0.5)],
)
def test_the_margins_of_mimeqas_pose_experiment_show_no_difference(
    before: int, after: int, n: int, least: float
) -> None:
    found = statistics.mcnemar_from_margins(before, after, n)
    assert found.least_p == least
    assert found.most_p <= 1
    assert found.difference == pytest.approx((after - before) / n)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30))
def test_every_pairing_lies_within_the_range_of_its_margins(pairs: list[tuple[bool, bool]]) -> None:
    before, after = (sum(column) for column in zip(*pairs, strict=True))
    gained, lost = (sum(p == change for p in pairs) for change in [(False, True), (True, False)])
    found = statistics.mcnemar_from_margins(before, after, len(pairs))
    assert found.least_p <= statistics.mcnemar(gained, lost) <= found.most_p


def test_the_range_of_margins_is_that_of_all_pairings() -> None:
    for n, before, after in itertools.product(range(1, 13), range(13), range(13)):
        if max(before, after) > n:
            continue
        gains = range(max(0, after - before), min(after, n - before) + 1)
        ps = [statistics.mcnemar(gained, gained - (after - before)) for gained in gains]
        found = statistics.mcnemar_from_margins(before, after, n)
        assert (found.least_p, found.most_p) == (min(ps), max(ps))


def test_margins_of_a_large_benchmark_are_told_at_once() -> None:
    found = statistics.mcnemar_from_margins(500_000, 499_000, 1_000_000)
    assert found.least_p < 1e-300
    assert found.most_p == pytest.approx(stats.binomtest(499_000, 999_000).pvalue)
    for gained, lost in [(480, 520), (481, 520), (700, 690)]:
        expected = stats.binomtest(gained, gained + lost).pvalue
        assert statistics.mcnemar(gained, lost) == pytest.approx(expected, rel=1e-9)


def test_holm_as_statsmodels_and_by_hand() -> None:
    assert statistics.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert statistics.holm([]) == []
    multi = pytest.importorskip(
        "statsmodels.stats.multitest", reason="statsmodels is not installed"
    )
    ps = np.random.default_rng(0).random(20).tolist()
    assert statistics.holm(ps) == pytest.approx(multi.multipletests(ps, method="holm")[1].tolist())


def test_wilson_interval_of_a_published_agreement() -> None:
    """MimeQA's judge agreed with people on 92.0 % of 352 answers (324 of them)."""
    found = statistics.proportion(324, 352)
    expected = stats.binomtest(324, 352).proportion_ci(method="wilson")
    assert (found.interval.low, found.interval.high) == pytest.approx((expected.low, expected.high))


def test_one_question_a_video_is_nearly_the_interval_of_independent_draws() -> None:
    scores = [1.0] * 30 + [0.0] * 70
    found = statistics.accuracy(scores, range(100))
    assert found.design_effect == pytest.approx(100 / 99)
    alone = statistics.proportion(30, 100).interval
    assert found.interval.low == pytest.approx(alone.low, abs=0.005)
    assert found.interval.high == pytest.approx(alone.high, abs=0.005)


def test_copies_of_a_question_add_nothing() -> None:
    """Eight copies of each video's answer: the variance of 25 draws, not of 200."""
    answers = [1.0] * 10 + [0.0] * 15
    once = statistics.accuracy(answers, range(25))
    copied = statistics.accuracy(np.repeat(answers, 8), np.repeat(np.arange(25), 8))
    assert copied.value == once.value
    assert copied.design_effect == pytest.approx(8 * once.design_effect)
    assert copied.interval.low == pytest.approx(once.interval.low, abs=0.005)


def test_repeats_are_no_further_questions() -> None:
    """Six videos of four questions, half of each right: asked 20 times, nothing more is known."""
    answers, videos = [1.0, 0.0, 1.0, 0.0] * 6, np.repeat(np.arange(6), 4)
    once = statistics.accuracy(answers, videos)
    again = statistics.accuracy(
        np.repeat(answers, 20), np.repeat(videos, 20), np.repeat(np.arange(24), 20)
    )
    assert again.interval == once.interval
    assert statistics.accuracy(answers, videos, range(24)) == once


def test_all_wrong_is_as_sure_as_there_are_videos() -> None:
    found = statistics.accuracy([0.0] * 40, np.repeat(np.arange(10), 4))
    assert found.interval.low == 0
    assert found.interval.high == pytest.approx(0.34, abs=0.02)
    assert statistics.accuracy([1.0], ["only"]).interval == statistics.Interval(0, 1)


def test_a_paired_difference_by_hand() -> None:
    before = [1, 0, 0, 1, 0, 0]
    after = [1, 1, 1, 0, 0, 1]
    found = statistics.paired_difference(before, after, ["a", "a", "b", "b", "c", "c"])
    assert (found.gained, found.lost, found.n, found.clusters) == (3, 1, 6, 3)
    assert found.value == pytest.approx(2 / 6)
    assert found.p_mcnemar == statistics.mcnemar(3, 1) == pytest.approx(0.625)
    sums = [1, 0, 1]
    swaps = [abs(np.dot(s, sums)) for s in itertools.product([-1, 1], repeat=3)]
    assert found.p_clustered == pytest.approx(np.mean([s >= 2 for s in swaps])) == 0.5
    assert found.within_noise


def test_the_bootstrap_resamples_videos() -> None:
    """Within a video all questions change alike: 200 questions are worth 20 videos."""
    rng = np.random.default_rng(1)
    shift = rng.integers(-1, 2, 20)
    before = np.repeat(np.where(shift < 0, 1, 0), 10)
    after = before + np.repeat(shift, 10)
    videos = np.repeat(np.arange(20), 10)
    wide = statistics.paired_difference(before, after, videos).interval
    narrow = statistics.paired_difference(before, after, range(200)).interval
    assert (wide.high - wide.low) / (narrow.high - narrow.low) == pytest.approx(10**0.5, rel=0.1)


@pytest.mark.parametrize("videos", [2, 3, 5])
def test_few_videos_that_agree_are_no_certainty(videos: int) -> None:
    """All videos gain three of eight: the bootstrap alone says 0.375 to 0.375. Student's interval
    of as many questions, with as many degrees of freedom as videos less one, by hand."""
    after = [1, 1, 1, 0, 0, 0, 0, 0] * videos
    found = statistics.paired_difference(
        [0] * 8 * videos, after, np.repeat(np.arange(videos), 8)
    ).interval
    n = 8 * videos
    half = stats.t.ppf(0.975, videos - 1) * (0.375 * 0.625 / (n - 1)) ** 0.5
    assert found.low == pytest.approx(max(-1, 0.375 - half))
    assert found.high == pytest.approx(min(1, 0.375 + half))


def test_all_gained_in_two_videos_is_no_certainty_either() -> None:
    found = statistics.paired_difference([0, 0], [1, 1], ["a", "b"])
    assert found.interval.low == pytest.approx(1 - (1 - 0.025**0.5))
    assert found.interval.high == 1


def test_a_difference_of_changes_may_be_wider_than_one() -> None:
    found = statistics.paired_difference([-1, -1, 1], [1, 1, -1], ["a", "b", "c"])
    assert found.interval == statistics.Interval(-2, 2)


def test_nothing_changed_is_no_proof_of_no_difference() -> None:
    found = statistics.paired_difference([1, 0, 1], [1, 0, 1], ["a", "b", "c"])
    assert found.interval.high == -found.interval.low == pytest.approx(1 - 0.025 ** (1 / 3))
    assert found.p_mcnemar == found.p_clustered == 1


def test_many_videos_are_swapped_at_random_with_the_same_result() -> None:
    rng = np.random.default_rng(5)
    before, after = rng.integers(0, 2, 300), rng.integers(0, 2, 300)
    found = statistics.paired_difference(before, after, range(300), seed=3)
    assert found.p_clustered == pytest.approx(found.p_mcnemar, abs=0.02)


@pytest.mark.parametrize(("n", "discordant"), [(43, 0.2), (297, 0.15), (806, 0.3)])
def test_the_smallest_difference_has_the_power_that_simulation_finds(
    n: int, discordant: float
) -> None:
    rng = np.random.default_rng(0)

    def power(difference: float) -> float:
        changes = rng.binomial(n, discordant, 4000)
        gained = rng.binomial(changes, (1 + difference / discordant) / 2)
        return float(
            np.mean(
                [
                    statistics.mcnemar(int(g), int(c - g)) <= 0.05
                    for g, c in zip(gained, changes, strict=True)
                ]
            )
        )

    least = statistics.smallest_difference(n, discordant)
    if least is None:
        assert power(discordant) < 0.8
    else:
        assert power(least) == pytest.approx(0.8, abs=0.03)


def test_a_sample_may_be_too_small_for_any_difference() -> None:
    assert statistics.smallest_difference(20, 0.1) is None
    one = statistics.smallest_difference(400, 0.3)
    clustered = statistics.smallest_difference(400, 0.3, design_effect=2)
    assert one is not None
    assert clustered is not None
    assert clustered > one


def test_correlation_as_scipy_with_an_interval() -> None:
    rng = np.random.default_rng(2)
    x = rng.random(60)
    y = x + rng.normal(0, 0.3, 60)
    found = statistics.correlation(x, y)
    assert found.r == pytest.approx(stats.pearsonr(x, y).statistic)
    assert found.interval is not None
    expected = stats.pearsonr(x, y).confidence_interval()
    assert found.interval.low == pytest.approx(expected.low, abs=0.1)
    assert statistics.correlation([1, 1, 1, 1], [0, 1, 0, 1]).r is None


def test_three_videos_say_nothing_of_a_correlation_and_five_little() -> None:
    """The bootstrap draws the same few again and again; Fisher's interval as scipy has it."""
    three = statistics.correlation([0, 0.5, 1], [0, 0.6, 0.9])
    assert three.interval == statistics.Interval(-1, 1)
    x, y = [0, 0.25, 0.5, 0.75, 1], [0, 0.6, 0.3, 0.9, 0.7]
    five = statistics.correlation(x, y).interval
    expected = stats.pearsonr(x, y).confidence_interval()
    assert five is not None
    assert five.low == pytest.approx(expected.low)
    assert five.low < 0
    assert five.high >= expected.high


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_intervals_lie_in_range_and_hold_the_estimate(seed: int) -> None:
    rng = np.random.default_rng(seed)
    videos = rng.integers(0, 8, 30)
    a, b = rng.integers(0, 2, 30), rng.integers(0, 2, 30)
    found = statistics.accuracy(a, videos)
    assert 0 <= found.interval.low <= found.value <= found.interval.high <= 1
    difference = statistics.paired_difference(a, b, videos, seed=1)
    assert difference == statistics.paired_difference(a, b, videos, seed=1)
    assert difference.interval.low <= difference.value <= difference.interval.high


def test_columns_that_do_not_fit_are_named() -> None:
    with pytest.raises(BadInput, match=r"\[3, 2\]"):
        statistics.accuracy([1, 0, 1], ["a", "b"])
    with pytest.raises(BadInput, match="at least 1"):
        statistics.paired_difference([], [], [])
