"""Tests of `assistant/agent/readers`."""
