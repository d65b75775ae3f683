"""diary-logger.py extract|log-compression|validate|update-index …: keep the diary of a workspace."""

import sys

from _palimpsest import hand_over

if __name__ == "__main__":
    sys.exit(hand_over(["diary", *sys.argv[1:]]))
