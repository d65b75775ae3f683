"""The parts of the replay: dialogues, the path through them, the account of every block, and the kills."""
