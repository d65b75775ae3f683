"""Vectors: who makes them, where they are kept, what a cosine means."""
