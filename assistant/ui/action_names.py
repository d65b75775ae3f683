"""The names of the actions that the page's buttons have. `actions.py` says what each of them does."""

from __future__ import annotations

from typing import Literal

ChatAction = Literal[
    "allow",
    "ask-empty-trash",
    "begin",
    "catch-up",
    "choose-model",
    "close-text",
    "continue",
    "copy",
    "deny",
    "draw-all",
    "earlier",
    "edit",
    "empty-trash",
    "full-text",
    "latest",
    "list-commands",
    "list-from",
    "list-named",
    "list-newer",
    "list-newest",
    "list-older",
    "look-around",
    "older-compactions",
    "open-keys",
    "open-message",
    "open-session",
    "open-settings",
    "open-trash",
    "pin",
    "recall",
    "reconnect",
    "refuse-recall",
    "rename-session",
    "restore-session",
    "save-settings",
    "retry",
    "send",
    "show",
    "stop",
    "suggest",
    "summary-diff",
    "test",
    "transcript",
    "trash-session",
    "undo",
    "undo-change",
    "unpin",
]
"""Actions of the conversation's side of the page."""

MemoryAction = Literal[
    "forget-change",
    "forget-find",
    "forget-line",
    "forget-now",
    "forget-words",
    "memory-both",
    "memory-diff",
    "memory-history",
    "memory-line",
    "memory-overwrite",
    "memory-reload",
    "memory-restore",
    "notes-day",
    "notes-month",
    "open-file",
    "open-hit",
    "pending-drop",
    "pending-keep",
    "pending-look",
    "pending-open",
    "tidy-accept",
    "tidy-file",
    "work-close",
]
"""Actions of the Memory tab."""

ScriptAction = Literal[
    "edit-session",
    "search",
    "session-link",
    "session-cancel",
    "session-rename",
    "session-trash",
    "show-context",
    "toggle-left",
    "toggle-right",
]
"""Actions that the page's scripts carry out themselves; the server gets what comes of them."""

ActionName = ChatAction | MemoryAction | ScriptAction
