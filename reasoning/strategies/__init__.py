"""One file per way of asking: from one call to several, each ``Task -> Asked``."""
