"""Tests of forgetting."""
