"""What is between the browser and the page: who may enter, whose assistant answers, which requests pass."""
