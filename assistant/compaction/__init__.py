"""What leaves the context, what replaces it, and what stays: pure functions over messages."""
