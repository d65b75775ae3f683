"""Tests of `assistant/index/text`."""
