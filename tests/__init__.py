"""The tests, in folders that mirror `assistant/`; `python -m tests` runs them with the other checks."""
