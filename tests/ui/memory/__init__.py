"""Tests of `assistant/ui/memory`."""
