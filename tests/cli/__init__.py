"""Tests of `assistant/cli`."""
