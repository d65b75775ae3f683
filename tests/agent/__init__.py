"""Tests of `assistant/agent`."""
