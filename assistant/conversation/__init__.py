"""One conversation: its agent, its running turn, what it can be asked to do, and everyone who follows it."""
