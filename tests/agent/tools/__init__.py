"""Tests of `assistant/agent/tools`."""
