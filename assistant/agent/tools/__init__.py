"""What the agent can do: shell and file tools, memory tools, MCP servers, skills, and who must allow a call."""
