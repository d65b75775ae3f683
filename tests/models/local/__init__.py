"""A model from a file on this machine."""
