"""Hooks into the agent's loop; each reads state, calls one pure function, and hands on the result."""
