"""Readers of PDF, Office and picture files: this folder is a program, which runs in a process of its own."""
