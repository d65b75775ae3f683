"""The command line: commands, the terminal chat, and the doctor."""
