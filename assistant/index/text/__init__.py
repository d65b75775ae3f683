"""The full-text index: chunk rows, their words, the database they are in."""
