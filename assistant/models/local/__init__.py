"""A model from a file on this machine: found, looked at, and run in a process of its own, without a server."""
