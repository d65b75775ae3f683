"""Tests of `assistant/assembly`."""
