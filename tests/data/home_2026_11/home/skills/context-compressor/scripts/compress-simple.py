"""compress-simple.py SESSION.jsonl [mode] [keep-tail] [dry-run]: compress one session."""

import sys

from _palimpsest import hand_over

if __name__ == "__main__":
    sys.exit(hand_over(["compress", *sys.argv[1:]]))
