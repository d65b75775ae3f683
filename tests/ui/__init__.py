"""Tests of `assistant/ui`."""
