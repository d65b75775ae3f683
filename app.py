"""Open the page: the assistant is loaded behind it. Also where a Space starts."""

from __future__ import annotations

import sys


def main() -> int:
    """Serve the page until the process is told to end; returns the exit code."""
    from assistant.cli.streams import open_streams
    from assistant.config.own_process import forbid_inspection
    from assistant.config.settings import hide_keys, load_settings, set_language
    from assistant.config.words import speak
    from assistant.errors import PalimpsestError

    open_streams()
    forbid_inspection()
    hide_keys()
    speak(set_language())
    try:
        settings = load_settings()
        speak(settings.program_language)
        # Imported late so that a wrong setting is told at once.
        from assistant.cli.program_log import ProgramLog
        from assistant.ui.page import serve

        with ProgramLog(settings, is_verbose="--verbose" in sys.argv[1:]):
            return serve(settings)
        return 1
    except PalimpsestError as error:
        print(f"palimpsest: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
