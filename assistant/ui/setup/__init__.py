"""Who answers, in which language, and what it may do: chosen in the page."""
