"""Tests of `assistant/index/vectors`."""
