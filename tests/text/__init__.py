"""Tests of `assistant/text`."""
