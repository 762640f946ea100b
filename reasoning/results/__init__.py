"""The table of a study's outcomes: out of its records, from other tools and for them."""
