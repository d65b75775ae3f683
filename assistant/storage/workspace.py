"""Where each file of a home is, the first-run copy, and paths that cannot leave it."""

from __future__ import annotations

import datetime as dt
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from assistant.config.plain_reasons import plain_reason
from assistant.config.resources import resource_folder
from assistant.config.words import say
from assistant.errors import WorkspaceError

PROMPT_FILES = ("AGENTS.md", "SOUL.md", "USER.md", "MEMORY.md")
"""In every system prompt, in this order."""
MEMORY_FILES = ("SOUL.md", "USER.md", "MEMORY.md")
FILE_MAX_CHARS = 20_000
MEMORY_MAX_CHARS = 60_000
"""SOUL.md, USER.md and MEMORY.md together; AGENTS.md has its own FILE_MAX_CHARS."""
SECRET_FILES = (".env", "mcp.json", "profiles.json")
"""No tool may open or search these."""
OTHER_HOMES = "users"
"""The folder of a home with the homes of other people; no tool may open or search it."""
_FOLDERS = (
    "memory",
    "dialog",
    "sessions",
    "tool_result",
    "compaction_failures",
    "skills",
    "files",
    "index",
    "trash",
)
_NOTE_NAME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\.md\Z")


def day_note(day: dt.date) -> str:
    """Where the daily note of a day is in a home."""
    return f"memory/{day.isoformat()}.md"


@dataclass(frozen=True, slots=True)
class Workspace:
    """One owner's home. Every path the assistant uses is asked for here."""

    root: Path

    @property
    def agents_path(self) -> Path:
        """The owner's working rules."""
        return self.root / "AGENTS.md"

    @property
    def bootstrap_path(self) -> Path:
        """There until the first conversation has filled SOUL.md and USER.md."""
        return self.root / "BOOTSTRAP.md"

    @property
    def memory_folder(self) -> Path:
        """Daily notes."""
        return self.root / "memory"

    @property
    def memory_log_path(self) -> Path:
        """Every change to a memory file."""
        return self.root / "memory_log.jsonl"

    @property
    def dialog_folder(self) -> Path:
        """The journal, one file a day."""
        return self.root / "dialog"

    @property
    def sessions_folder(self) -> Path:
        """What is in each context now."""
        return self.root / "sessions"

    @property
    def tool_result_folder(self) -> Path:
        """Full texts of shortened tool results."""
        return self.root / "tool_result"

    @property
    def compaction_failures_folder(self) -> Path:
        """Prompt and raw output of each rejected summary."""
        return self.root / "compaction_failures"

    @property
    def skills_folder(self) -> Path:
        """Skills, one folder each."""
        return self.root / "skills"

    @property
    def mcp_path(self) -> Path:
        """The MCP servers the owner listed."""
        return self.root / "mcp.json"

    @property
    def profiles_path(self) -> Path:
        """Who else can answer, beside what the settings say."""
        return self.root / "profiles.json"

    @property
    def files_folder(self) -> Path:
        """Where the shell and file tools start."""
        return self.root / "files"

    @property
    def attached_folder(self) -> Path:
        """What the person attached, where the file tools find it."""
        return self.files_folder / "attached"

    @property
    def pictures_folder(self) -> Path:
        """What models are sent of the pictures in conversations."""
        return self.root / "pictures"

    @property
    def trash_folder(self) -> Path:
        """Deleted conversations, until emptied."""
        return self.root / "trash"

    @property
    def heads_path(self) -> Path:
        """What was read of conversations, kept from one start to the next."""
        return self.root / "index" / "heads.sqlite"

    @property
    def page_folder(self) -> Path:
        """What the page's own library writes while it serves; there only until it ends."""
        return self.root / "page"

    @property
    def owner_path(self) -> Path:
        """Pid and address of the process that owns this home."""
        return self.root / "owner.json"

    @property
    def forget_path(self) -> Path:
        """What is being forgotten; there only until that is done."""
        return self.root / "forget.json"

    @property
    def forgotten_path(self) -> Path:
        """Hashes of what was forgotten, so that no model writes it down again."""
        return self.root / "forgotten.json"

    def draft_path(self, session_id: str) -> Path:
        """What is streamed in a conversation now."""
        return self.sessions_folder / f"{session_id}.draft"

    @property
    def log_path(self) -> Path:
        """What the program did and what went wrong, for whoever looks for a fault."""
        return self.root / "palimpsest.log"

    @property
    def waiting_path(self) -> Path:
        """Lines for memory that wait for the person."""
        return self.root / "memory_pending.json"

    @property
    def allowed_calls_path(self) -> Path:
        """What the person allowed for longer than one call."""
        return self.root / "allowed_calls.json"

    @property
    def refused_parts_path(self) -> Path:
        """What servers refused in a request."""
        return self.root / "refused_parts.json"

    @property
    def token_factors_path(self) -> Path:
        """How each model's provider counts tokens."""
        return self.root / "token_factors.json"

    @property
    def folders(self) -> list[Path]:
        """The home and the folders in it that the program writes into."""
        return [self.root, *(self.root / name for name in _FOLDERS)]

    @property
    def users_folder(self) -> Path:
        """The homes of the people beside the owner who sign in, one folder each."""
        return self.root / OTHER_HOMES

    def note_path(self, day: dt.date) -> Path:
        """The daily note of a day."""
        return self.root / day_note(day)

    def memory_files(self) -> list[Path]:
        """SOUL.md, USER.md, MEMORY.md, then the daily notes that exist, newest first."""
        notes = [path for path in self.memory_folder.glob("*.md") if path.is_file() and not path.is_symlink()]
        dated = sorted((path for path in notes if _NOTE_NAME.match(path.name)), reverse=True)
        return [*(self.root / name for name in MEMORY_FILES), *dated]

    def is_memory_file(self, path: Path) -> bool:
        """True for SOUL.md, USER.md, MEMORY.md and anything that is or would be a note under memory/."""
        resolved = path.resolve()
        root = self.root.resolve()
        return resolved in {root / name for name in MEMORY_FILES} or (
            resolved.suffix == ".md" and resolved.is_relative_to(root / "memory")
        )

    def relative_name(self, path: Path) -> str:
        """The path as people read it, from the home, with forward slashes; a link of the home by its own name."""
        if path.is_symlink() and path.is_relative_to(self.root):
            return path.relative_to(self.root).as_posix()
        return path.resolve().relative_to(self.root.resolve()).as_posix()

    def memory_path(self, name: str) -> Path:
        """The memory file called `name` (`USER.md`, `memory/2026-11-30.md`).

        Raises `WorkspaceError` for any other name: no traversal, no absolute path, no link, no other file.
        """
        if name in MEMORY_FILES:
            path = self.root / name
        elif name.startswith("memory/") and _NOTE_NAME.match(name.removeprefix("memory/")):
            path = self.memory_folder / name.removeprefix("memory/")
        else:
            raise WorkspaceError(say("storage", "no_memory_file", name=name, names=", ".join(MEMORY_FILES)))
        folder_link = path.parent == self.memory_folder and self.memory_folder.is_symlink()
        if path.is_symlink() or folder_link:
            raise WorkspaceError(say("storage", "link_not_followed", name="memory" if folder_link else name))
        return path

    def create(self, language: str = "en") -> None:
        """Make the home (mode 700) and copy the template into it, never over a file that exists; skills only once."""
        try:
            self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
            for name in _FOLDERS:
                (self.root / name).mkdir(exist_ok=True)
            is_new = not self.agents_path.exists()
            template = resource_folder("working_dir_template")
            _copy_missing(template / language, self.root, is_new)
            if is_new:
                _copy_missing(template / "skills", self.skills_folder, is_new)
        except OSError as error:
            raise WorkspaceError(say("storage", "home_unusable", root=self.root, reason=plain_reason(error))) from None


def _copy_missing(source: Path, target: Path, is_new: bool) -> None:
    for path in sorted(source.rglob("*")):
        destination = target / path.relative_to(source)
        # BOOTSTRAP.md is removed for good once the person is known, so only a new home gets it.
        if path.is_dir() or destination.exists() or (path.name == "BOOTSTRAP.md" and not is_new):
            continue
        destination.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, destination)
