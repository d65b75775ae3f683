"""The Memory tab: files, editor, history, forget, tidy."""
