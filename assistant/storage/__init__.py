"""What is on disk and how it is written: the home, atomic files, journal, sessions, artifacts, export."""
