"""Strings and what can be read from them: encodings, secrets, sentences, labels, JSON, Markdown, diffs."""
