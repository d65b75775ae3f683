"""The conversation as the page draws it: words rendered and cleaned by the server, sent as patches to keyed nodes."""
