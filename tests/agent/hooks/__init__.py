"""Tests of `assistant/agent/hooks`."""
