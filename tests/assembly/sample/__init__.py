"""Tests of `assistant/assembly/sample`."""
