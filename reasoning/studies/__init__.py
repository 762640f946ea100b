"""What a study's conditions come to, and its run: a cell after the other, each call on record."""
