"""What the program is told from outside and ships with: settings, accounts, prompts, resources, time."""
