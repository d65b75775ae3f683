"""Tests of `assistant/compaction/digest`."""
