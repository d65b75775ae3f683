"""Tests of `assistant/storage`."""
