"""Messages and their blocks, how many tokens they have, and the events a turn emits."""
