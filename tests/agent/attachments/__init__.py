"""What is attached to a message."""
