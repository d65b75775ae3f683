"""Tests of `assistant/compaction/shorten`."""
