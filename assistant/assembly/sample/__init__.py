"""The sample conversation: its home, its story, its steps."""
