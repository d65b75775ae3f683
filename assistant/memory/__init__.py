"""Long-term memory as files: one writer, every change logged."""
