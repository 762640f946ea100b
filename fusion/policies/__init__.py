"""One file per policy, each ``Selection -> Selection``."""
