"""The built-in assistant that answers without a language model."""
