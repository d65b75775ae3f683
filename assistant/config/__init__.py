"""What the program gets from outside and ships with: settings, accounts, prompts, resources, time."""
