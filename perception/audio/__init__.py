"""Numbers about sound that are no cues: voice activity, pieces of speech, words with times."""
