"""Tests of `assistant/models/providers`."""
