import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perception.errors import BadInput
from reasoning.transport.rate_limit import RateLimiter, RateOptions


class Clock:
    """Time that passes by waiting only."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


def limited(requests: int = 0, tokens: int = 0) -> tuple[RateLimiter, Clock]:
    clock = Clock()
    return RateLimiter(RateOptions(requests, tokens), clock, clock.sleep), clock


def test_without_limits_nothing_waits() -> None:
    limiter, clock = limited()
    assert [limiter.wait(10**9).time_s for _ in range(3)] == [0, 0, 0]
    assert clock.now_s == 0


def test_the_third_of_two_requests_a_minute_waits_for_the_first_to_be_a_minute_old() -> None:
    limiter, clock = limited(requests=2)
    limiter.wait(1)
    clock.now_s = 20
    assert [limiter.wait(1).time_s for _ in range(3)] == [20, 60, 80]


def test_tokens_wait_until_enough_of_them_are_a_minute_old() -> None:
    limiter, clock = limited(tokens=100)
    assert limiter.wait(50).time_s == 0
    clock.now_s = 10
    assert limiter.wait(40).time_s == 10
    assert limiter.wait(20).time_s == 60
    assert limiter.wait(50).time_s == 70


def test_what_the_server_reports_takes_the_place_of_the_estimate() -> None:
    limiter, _ = limited(tokens=100)
    limiter.wait(90).tokens = 30
    assert limiter.wait(70).time_s == 0
    assert limiter.wait(1).time_s == 60


def test_a_call_over_the_limit_goes_alone() -> None:
    limiter, _ = limited(tokens=100)
    limiter.wait(10)
    assert limiter.wait(500).time_s == 60
    assert limiter.wait(1).time_s == 120


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 60)), max_size=30),
    st.integers(0, 4),
    st.sampled_from([0, 60, 100]),
)
def test_no_minute_holds_more_than_is_allowed(
    calls: list[tuple[int, int]], requests: int, tokens: int
) -> None:
    limiter, clock = limited(requests, tokens)
    slots = []
    for idle_s, size in calls:
        clock.now_s += idle_s
        slots.append(limiter.wait(size))
    for last in slots:
        minute = [each for each in slots if last.time_s - 60 < each.time_s <= last.time_s]
        assert not requests or len(minute) <= requests
        assert not tokens or sum(each.tokens for each in minute) <= tokens


def test_threads_share_the_limit() -> None:
    waits: list[float] = []

    def stop_waiting(seconds: float) -> None:
        waits.append(seconds)
        raise InterruptedError

    limiter = RateLimiter(RateOptions(requests_per_minute=3), sleep=stop_waiting)
    passed: list[int] = []

    def call(number: int) -> None:
        try:
            limiter.wait(1)
        except InterruptedError:
            return
        passed.append(number)

    threads = [threading.Thread(target=call, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(passed), len(waits)) == (3, 5)
    assert all(59 < seconds <= 60 for seconds in waits)


@pytest.mark.parametrize("arguments", [(-1, 0), (0, -1)])
def test_a_rate_below_nothing_is_a_mistake_of_the_user(arguments: tuple[int, int]) -> None:
    with pytest.raises(BadInput, match="a minute"):
        RateOptions(*arguments)
