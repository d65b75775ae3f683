"""The summary that replaces folded messages: prompt, answer, check, and the parts that code fills in."""
