"""Everything that knows AgentScope's agent: building it, its hooks, its tools, its events."""
