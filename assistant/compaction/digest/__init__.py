"""The summary that code writes where no model can."""
