"""Tests of the compaction core."""
