"""VideoLLMs that transformers runs: loading, each family's way with frames, likelihoods, words."""
