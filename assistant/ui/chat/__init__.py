"""The centre of the page and the panels about a conversation: transcript, meter, context, compactions, search."""
