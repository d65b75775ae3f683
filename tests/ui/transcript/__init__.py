"""Tests of the transcript, without a browser."""
