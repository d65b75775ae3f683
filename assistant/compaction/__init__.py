"""What leaves the context, what stands for it, and what stays: pure functions over messages."""
