"""What model servers really send, read into one regular stream: lines, payloads, calls, thoughts and calls in text."""
