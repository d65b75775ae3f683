"""The search index: memory files and past conversations, found by words and by meaning; rebuildable at any time."""
