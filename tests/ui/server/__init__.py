"""Tests of `assistant/ui/server`."""
