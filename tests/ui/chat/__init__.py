"""Tests of `assistant/ui/chat`."""
