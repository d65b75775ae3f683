"""Fakes at the outer edge: what a test puts in place of a provider."""
