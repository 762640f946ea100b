"""One file per way of telling how close texts are to a question."""
