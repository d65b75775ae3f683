"""Every exception of the assistant, by who reads it.

PalimpsestError                 shown to the person in one line
├── WrongUseError               a command line that asks for nothing, or for two things at once
├── SettingsError               a variable has an unknown or impossible value
├── WorkspaceError              a path leaves the home, or the home cannot be used
├── HomeInUseError              another process owns the home
├── SessionError                a session file cannot be used
│   ├── SessionNotFoundError
│   ├── SessionInUseError       another process has the session open
│   └── SessionVersionError     written by a newer version; left untouched
├── ConflictError               a file changed on disk since it was read
├── AttachmentError             a file cannot be attached, with the reason
├── ForgottenError              a model would write down what the person had forgotten
├── ModelError                  no answer from the model
│   ├── ModelUnreachableError
│   ├── EndlessReplyError       the answer was longer than it may be
│   └── ContextOverflowError    the provider refused a request over its window
├── StepLimitError              the turn used up its model calls
├── OutputLimitError            the provider cut the answer at the model's output limit
├── CompactionError             a compaction or its undo is not possible, with the reason
├── IndexingError               the search index cannot be used
│   └── StoreAwayError          the server that keeps the vectors cannot be reached
└── TranscriptError             another agent's session file cannot be read or written
    ├── SessionBusyError        its own agent is writing to it
    └── DiaryError              the diary could not be written
"""

from __future__ import annotations

from assistant.config.words import say


class PalimpsestError(Exception):
    """Anything that is shown to the person in one line."""


class WrongUseError(PalimpsestError):
    """A command line that asks for nothing, or for two things at once."""


class SettingsError(PalimpsestError):
    """A variable has an unknown or impossible value."""

    def __init__(self, variable: str, reason: str) -> None:
        super().__init__(f"{variable}: {reason}")
        self.variable = variable
        self.reason = reason


class WorkspaceError(PalimpsestError):
    """A path leaves the home, or the home cannot be used."""


class HomeInUseError(PalimpsestError):
    """Another process owns the home."""

    def __init__(self, home: str, pid: int | None, address: str | None) -> None:
        owner = say("errors", "process", pid=pid) if pid else say("errors", "another_process")
        where = say("errors", "home_page_at", address=address) if address else ""
        self.whose = say("errors", "home_in_use", home=home, owner=owner, where=where)
        super().__init__(say("errors", "use_that_page", whose=self.whose))
        self.pid = pid
        self.address = address


class SessionError(PalimpsestError):
    """A session file cannot be used."""


class SessionNotFoundError(SessionError):
    """No session has this id."""

    def __init__(self, session_id: str) -> None:
        super().__init__(say("errors", "no_session", session_id=session_id))
        self.session_id = session_id


class SessionInUseError(SessionError):
    """Another process has the session open."""

    def __init__(self, session_id: str) -> None:
        super().__init__(say("errors", "session_in_use", session_id=session_id))
        self.session_id = session_id


class SessionVersionError(SessionError):
    """The session file was written by a newer version; it is left untouched."""

    def __init__(self, path: str, version: object, known: int) -> None:
        super().__init__(say("errors", "newer_session", path=path, version=version, known=known))
        self.version = version


class ConflictError(PalimpsestError):
    """A file changed on disk since it was read; nothing was written."""

    def __init__(self, path: str) -> None:
        super().__init__(say("errors", "changed_on_disk", path=path))
        self.path = path


class AttachmentError(PalimpsestError):
    """A file cannot be attached; the reason is in plain words."""


class ForgottenError(PalimpsestError):
    """A model would write down what the person had forgotten; nothing was written."""

    def __init__(self, line: str) -> None:
        super().__init__(say("errors", "forgotten", line=line))
        self.line = line


class ModelError(PalimpsestError):
    """The model gave no answer."""


class ModelUnreachableError(ModelError):
    """Nothing answers at the model's address."""


class EndlessReplyError(ModelError):
    """One answer was longer than it may be and was ended."""

    def __init__(self, max_tokens: int) -> None:
        super().__init__(say("errors", "endless_reply", max_tokens=max_tokens))
        self.max_tokens = max_tokens


class ContextOverflowError(ModelError):
    """The provider refused a request that was over its window."""


class StepLimitError(PalimpsestError):
    """The turn used up its model calls; *Continue* goes on from here."""

    def __init__(self, max_steps: int) -> None:
        super().__init__(say("errors", "step_limit", max_steps=max_steps))
        self.max_steps = max_steps


class OutputLimitError(PalimpsestError):
    """The provider cut the answer at the model's output limit; *Continue* goes on from there."""

    def __init__(self, tokens: int) -> None:
        limit = say("errors", "of_tokens", tokens=tokens) if tokens else ""
        super().__init__(say("errors", "output_limit", limit=limit))
        self.tokens = tokens


class CompactionError(PalimpsestError):
    """A compaction or its undo is not possible; the text says why."""


class IndexingError(PalimpsestError):
    """The search index cannot be used."""


class StoreAwayError(IndexingError):
    """The server that keeps the vectors cannot be reached; what it holds is not damaged by that."""


class TranscriptError(PalimpsestError):
    """Another agent's session file cannot be read or written."""


class SessionBusyError(TranscriptError):
    """The session's own agent is writing to it right now; it was not touched."""

    def __init__(self, name: str, pid: int | None) -> None:
        owner = say("errors", "process", pid=pid) if pid else say("errors", "another_program")
        super().__init__(say("errors", "session_busy", name=name, owner=owner))
        self.pid = pid


class DiaryError(TranscriptError):
    """The diary could not be written; the session was not touched."""
