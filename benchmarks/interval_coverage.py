"""How often the intervals of `reasoning.statistics` hold the truth.

`python -m benchmarks.interval_coverage` draws studies whose truth is known: videos with 1 to 14
questions each (MimeQA: 806 over 101 videos), an answer that hangs on the video (intraclass
correlation 0 to 0.5), and prints the share of the 95 % intervals that hold the truth, beside that
of an interval which takes the questions for independent.
"""

from __future__ import annotations

import argparse

import numpy as np

from reasoning import statistics


def correlated(mean: float, sizes: np.ndarray, icc: float, rng: np.random.Generator) -> np.ndarray:
    """Right and wrong answers, beta-binomial over the videos."""
    if icc == 0:
        share = np.full(len(sizes), mean)
    else:
        weight = (1 - icc) / icc
        share = rng.beta(mean * weight, (1 - mean) * weight, len(sizes))
    return (rng.random(sizes.sum()) < np.repeat(share, sizes)).astype(float)


def accuracy_coverage(
    mean: float, videos: int, icc: float, runs: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Shares of clustered and of independent intervals that hold `mean`."""
    held = alone = 0
    for _ in range(runs):
        sizes = rng.integers(1, 15, videos)
        scores = correlated(mean, sizes, icc, rng)
        owners = np.repeat(np.arange(videos), sizes)
        held += mean in statistics.accuracy(scores, owners).interval
        alone += mean in statistics.proportion(int(scores.sum()), len(scores)).interval
    return held / runs, alone / runs


def difference_coverage(
    videos: int, icc: float, runs: int, rng: np.random.Generator
) -> tuple[float, float]:
    """The same for a paired difference of 5 points on 30 %: by videos, and by questions."""
    held = alone = 0
    for _ in range(runs):
        sizes = rng.integers(1, 15, videos)
        before = correlated(0.30, sizes, icc, rng)
        gained = correlated(0.15, sizes, icc, rng) * (1 - before)
        lost = correlated(0.55 / 3, sizes, icc, rng) * before
        truth = 0.7 * 0.15 - 0.3 * 0.55 / 3
        owners = np.repeat(np.arange(videos), sizes)
        after = before + gained - lost
        held += truth in statistics.paired_difference(before, after, owners).interval
        alone += truth in statistics.paired_difference(before, after, range(len(after))).interval
    return held / runs, alone / runs


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=1000, help="studies per line (default: 1000)")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    print("accuracy: mean  videos  icc   clustered  independent")
    for mean in (0.03, 0.2, 0.5):
        for videos in (20, 101):
            for icc in (0.0, 0.1, 0.5):
                held, alone = accuracy_coverage(mean, videos, icc, args.runs, rng)
                print(
                    f"          {mean:4.2f}  {videos:6d}  {icc:3.1f}   {held:9.3f}  {alone:11.3f}"
                )
    print("paired difference: videos  icc   by videos  by questions")
    for videos in (2, 3, 5, 10, 20, 101):
        for icc in (0.0, 0.1, 0.5):
            held, alone = difference_coverage(videos, icc, args.runs // 4, rng)
            print(f"                   {videos:6d}  {icc:3.1f}   {held:9.3f}  {alone:12.3f}")


if __name__ == "__main__":
    main()
