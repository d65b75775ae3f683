"""The measured promises: one script each; `python -m benchmarks` runs them all."""
