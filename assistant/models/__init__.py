"""Who answers: a provider's model, a server on loopback, or the built-in offline assistant."""
