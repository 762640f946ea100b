"""Reports of a study: one file per table or figure; ``page.py`` binds them."""
