"""What is in each context now: its file, and the list of all of them."""
