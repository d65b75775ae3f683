"""Tests of `assistant/messages`."""
