"""Tests of `assistant/models/wire`."""
