"""compress-all.py [DIR]: compress every session that is due."""

import sys

from _palimpsest import hand_over

if __name__ == "__main__":
    sys.exit(hand_over(["compress-all", *sys.argv[1:]]))
