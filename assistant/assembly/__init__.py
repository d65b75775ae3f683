"""The one place where objects are made, connected and closed."""
