"""Tests of `assistant/openclaw`."""
