"""The journal: every block of every conversation on disk, and what is read and rebuilt from it."""
