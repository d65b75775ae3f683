"""Tests of `assistant/compaction/summary`."""
