"""Tests of the search index."""
