"""`python -m assistant.openclaw`: the session commands by themselves, without the rest of the assistant."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from assistant.openclaw.session_commands import add_parsers, run
from assistant.text.redaction import mask_secrets


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m assistant.openclaw", description=__doc__)
    add_parsers(parser.add_subparsers(dest="command", required=True))
    return run(parser.parse_args(arguments), mask=lambda text: mask_secrets(text).text)


if __name__ == "__main__":
    sys.exit(main())
