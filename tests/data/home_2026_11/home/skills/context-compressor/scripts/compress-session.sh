#!/usr/bin/env sh
# compress-session.sh SESSION.jsonl [mode] [keep-tail] [dry-run]: compress one session.
set -eu
here=$(cd -- "$(dirname -- "$0")" && pwd)
python=$(command -v python3 || command -v python) || { echo "Python 3 is needed." >&2; exit 1; }
exec "$python" "$here/compress-simple.py" "$@"
