"""Requests and streams of the model providers, made regular."""
