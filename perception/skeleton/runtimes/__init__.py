"""Where a PoseC3D network runs: one file per runtime."""
