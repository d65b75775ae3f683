"""Tests of `assistant/models/offline`."""
