"""One file per pose estimator; the file name is its name."""
