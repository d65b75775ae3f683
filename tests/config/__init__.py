"""Tests of `assistant/config`."""
