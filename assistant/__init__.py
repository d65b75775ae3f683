"""Palimpsest: a personal assistant whose context is compressed and whose every word stays on disk."""
