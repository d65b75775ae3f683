"""Files that the person attaches: what each is, its text, and how it stands in a message."""
