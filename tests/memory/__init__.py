"""Tests of `assistant/memory`."""
