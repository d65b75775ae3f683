"""The journal: every block of every conversation on disk, and what can be told and rebuilt from it."""
