"""What is in each context now: the file it stands in, and the list of them all."""
