"""Tests of `assistant/agent/attachments`."""
